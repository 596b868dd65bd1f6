"""What a boxed program may see: its private folder to write in, and a list of things to read; no third kind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store")
"""programs and shared libraries; where they are symlinks into /usr, the symlinks are made again"""

ETC = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "pki",
    "ssl",
    "timezone",
)
"""the part of /etc that interpreters, fonts and time zones need; nothing that names people, hosts or secrets"""

_BOX = "box-"
_PREFIX_PARTS = ("bin", "lib", "lib64", "include", "share/terminfo")

PROCESSORS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
"""where the C library, torch and TensorFlow count processors"""


@dataclass(frozen=True)
class View:
    """The files of one box. All paths are absolute, and the same inside and outside."""

    private: Path
    """The box's own folder, a real one that both sides see. Sockets and the connection file lie directly in it. Its
    subfolders `work` (the working folder), `home` and `tmp` belong to the program alone: where the host can bound
    them, they are in memory inside the box, start as copies of what lies in the real ones, and end with the box."""
    read: tuple[Path, ...]
    """what can be read and executed: files, or folders with all they hold"""
    devices: tuple[Path, ...] = ()
    """device files that may be used beside the harmless ones, such as `/dev/nvidia0`"""
    hidden: tuple[Path, ...] = ()
    """files and folders of the host that must be out of reach: a box that shows or can open one does not start"""

    @property
    def work(self) -> Path:
        """The working folder: public files are put here before the box starts."""
        return self.private / "work"

    @property
    def home(self) -> Path:
        return self.private / "home"

    @property
    def tmp(self) -> Path:
        return self.private / "tmp"


def new_private() -> Path:
    """A new empty folder for `View.private`, with a path short enough for sockets; the caller removes it.

    Not below /tmp: the program may write anywhere below /tmp (its own, inside), and Landlock knows no exceptions, so a
    private folder there is only watched, not closed to new files.
    """
    return Path(tempfile.mkdtemp(prefix=own_prefix(_BOX), dir=_private_place())).resolve()


def _private_place() -> Path:
    place = Path("/var/tmp")
    usable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return place if usable else Path(tempfile.gettempdir())


def own_prefix(kind: str) -> str:
    """How this process begins the names of its folders, so that `sweep_folders` knows whose they are.

    `box-fffc-4d2-`: the end of the namespace's number, since beside us may lie a container's folders, and the
    process's; short, because sockets lie below. Without namespaces (no Linux) nothing tells who lives: `box-`.
    """
    with contextlib.suppress(OSError):
        return f"{_namespace_prefix(kind)}{os.getpid():x}-"
    return kind


def _namespace_prefix(kind: str) -> str:
    number = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    return f"{kind}{int(number) & 0xFFFF:x}-"


def sweep_folders(kind: str = _BOX, place: Path | None = None) -> None:
    """Remove what processes that were killed left behind: their `own_prefix` names them. By default private folders.

    A folder whose maker's number another process has by now stays until that one has ended too.
    """
    with contextlib.suppress(OSError):
        prefix = _namespace_prefix(kind)
        for folder in (place or _private_place()).glob(f"{prefix}*-*"):
            maker = folder.name.removeprefix(prefix).partition("-")[0]
            if re.fullmatch("[0-9a-f]+", maker) and not os.path.exists(f"/proc/{int(maker, 16)}"):
                shutil.rmtree(folder, ignore_errors=True)


def default_read() -> tuple[Path, ...]:
    """Everything that Python and the system's programs need, and nothing of the course.

    Of an editable install only the virtual environment is in it: the repository around it, with its hidden checks,
    stays out of sight, and the caller adds the public parts (`course_lib`, `data`) by name.
    """
    wanted = [*SYSTEM, *(f"/etc/{name}" for name in ETC), *PROCESSORS, *_python()]
    # os.path: a folder that this user may not even look for (another's site-packages) counts as absent.
    return tuple(sorted({Path(p) for p in wanted if os.path.exists(p)}))


def _python() -> Iterable[str]:
    """Named one by one: a Python in `~/.local`, or started by a link in `~/bin`, lies beside what is the user's own."""
    for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
        # What holds an environment holds nothing else; any other prefix may be shared with anything.
        is_environment = any(os.path.exists(os.path.join(prefix, mark)) for mark in ("pyvenv.cfg", "conda-meta"))
        yield from (os.path.join(prefix, part) for part in ([""] if is_environment else _PREFIX_PARTS))
    yield from (path for name, path in sysconfig.get_paths().items() if name != "data")  # that is the prefix
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()
    # Packages that PYTHONPATH or a .pth file added; a source folder added that way may be a repository: left out.
    yield from (p for p in sys.path if Path(p).name in ("site-packages", "dist-packages"))
    executable = Path(sys.executable)
    while executable.is_symlink():  # each link of the chain is there inside, and nothing of the folder it lies in
        executable = executable.parent / executable.readlink()
        yield os.path.normpath(executable)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """`paths` without those that lie inside another one, shortest first."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda p: (len(p.parts), p)):
        if not any(path.is_relative_to(k) for k in kept):
            kept.append(path)
    return kept


def require_absolute(view: View) -> None:
    """Raise ValueError where a path would not mean the same inside as outside."""
    for path in (view.private, *view.read, *view.devices):
        if not path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{path}: a box needs absolute paths without '..'; call Path.resolve() on it first")
    for path in view.read:
        if path == Path("/"):
            raise ValueError("/: a view of everything is no view; name the folders that the program needs")
        if path.is_relative_to(view.private):
            raise ValueError(f"{path} lies in the private folder {view.private}; put public files into its `work`")
