"""What a boxed program may see: its private folder to write in, and a list of things to read; no third kind."""

from __future__ import annotations

import os
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
    place = Path("/var/tmp")
    usable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return Path(tempfile.mkdtemp(prefix="box-", dir=place if usable else None)).resolve()


def default_read() -> tuple[Path, ...]:
    """Everything that Python and the system's programs need, and nothing of the course.

    Of an editable install only the virtual environment is in it: the repository around it, with its hidden checks,
    stays out of sight, and the caller adds the public parts (`course_lib`, `data`) by name.
    """
    wanted = [*SYSTEM, *(f"/etc/{name}" for name in ETC), *PROCESSORS, *_python()]
    # os.path: a folder that this user may not even look for (another's site-packages) counts as absent.
    return tuple(sorted({Path(p) for p in wanted if os.path.exists(p)}))


def _python() -> Iterable[str]:
    yield from (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    yield from sysconfig.get_paths().values()
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()
    # Packages that PYTHONPATH or a .pth file added; a source folder added that way may be a repository: left out.
    yield from (p for p in sys.path if Path(p).name in ("site-packages", "dist-packages"))
    executable = Path(sys.executable)
    while executable.is_symlink():
        executable = executable.parent / executable.readlink()
        if executable.parent.name == "bin":
            yield str(executable.parent.parent)


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
