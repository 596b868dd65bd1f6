"""Build the box's own file system out of nothing and step into it; the host's stays behind, unmounted.

The new root holds the view at the same paths as outside: read-only binds, the private folder, one bounded tmpfs behind
everything the program can fill, and a /dev and /proc of its own. Folders above a bind are made afresh, so that a Python
below /root can be used by a user who may not enter /root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox import syscalls
from autograder.sandbox.namespaces import HOST_NAME
from autograder.sandbox.view import View, outermost

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_INODES_PER_MIB = 64
"""so that a million empty files fill the box before they fill the host's memory"""

NODES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
_STAGES = ("/tmp", "/run", "/var/tmp", "/mnt")
_NEW, _OLD, _SCRATCH = Path("/new"), Path("/old"), Path("/scratch")


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Tree:
    """What to build."""

    view: View
    uid: int
    """who will write in it"""
    gid: int
    disk_bytes: int
    """/tmp, /dev/shm and the private `work`, `home` and `tmp` together"""
    own_proc: bool
    """mount a new /proc (needs a process namespace); else the host's is bound"""


def mount(source: str, target: Path | str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """`mount(2)`; the error names the target."""
    try:
        syscalls.call("mount", source.encode(), str(target).encode(), kind.encode(), flags, options.encode())
    except OSError as error:
        raise OSError(error.errno, f"mount {kind or source} on {target}: {os.strerror(error.errno or 0)}") from None


def enter(tree: Tree) -> None:
    """Replace the file system of this process, which must be alone in a new mount namespace, by `tree`."""
    binds, links = _resolve(tree.view)
    private = tree.view.private.resolve()
    mount("", "/", "", MS_REC | MS_PRIVATE)
    _step_onto_a_stage()
    mount("tmpfs", _NEW, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
    _lay_out_scratch(tree, private)
    for folder in ("tmp", "dev/shm"):
        _bind(_SCRATCH / Path(folder).name, _inside(Path("/", folder)), MS_NOSUID | MS_NODEV)
    for path in binds:
        target = _inside(path)
        _bind(_outside(path), target, MS_REC)
        _make_read_only(target)
    for link, path in links.items():
        _link(link, path)
    _bind(_outside(private), _inside(private), MS_NOSUID | MS_NODEV)
    for name in ("work", "home", "tmp"):
        _bind(_SCRATCH / name, _inside(private / name), MS_NOSUID | MS_NODEV)
    if private != tree.view.private:
        _link(tree.view.private, private)
    _lay_out_etc(tree)
    _lay_out_dev(tree.view.devices)
    _lay_out_proc(own=tree.own_proc)
    mount("", _NEW, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(_NEW)
    _pivot(".", ".")
    syscalls.call("umount2", b".", _MNT_DETACH)
    os.chdir("/")


def _resolve(view: View) -> tuple[list[Path], dict[Path, Path]]:
    """Real paths to bind, and the symlinks that lead to them from the paths as they were given."""
    real = {path: path.resolve() for path in view.read if os.path.exists(path)}
    binds = outermost(real.values())
    links = {given: found for given, found in real.items() if given != found}
    # A link inside something bound is there already.
    outside = {g: f for g, f in links.items() if not any(g.parent.resolve().is_relative_to(b) for b in binds)}
    return binds, outside


def _step_onto_a_stage() -> None:
    """Make an empty tmpfs the root, with the host's tree at /old: now nothing of ours covers anything of it."""
    stage = next(s for s in _STAGES if os.path.isdir(s))
    mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    os.chdir(stage)
    for name in (_NEW.name, _OLD.name, _SCRATCH.name):
        os.mkdir(name)
    _pivot(".", _OLD.name)
    os.chdir("/")


def _pivot(new: str, old: str) -> None:
    syscalls.call("pivot_root", new.encode(), old.encode())


def _outside(path: Path) -> Path:
    return _OLD / path.relative_to("/")


def _inside(path: Path) -> Path:
    return _NEW / path.relative_to("/")


def _bind(source: Path, target: Path, flags: int) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(str(source), target, "", MS_BIND | flags & MS_REC)
    if flags & ~MS_REC:
        _set_attributes(target, _ATTR_NOSUID * bool(flags & MS_NOSUID) | _ATTR_NODEV * bool(flags & MS_NODEV))


def _make_read_only(target: Path) -> None:
    _set_attributes(target, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)


def _set_attributes(target: Path, attributes: int) -> None:
    """Add attributes to a mount and all mounts beneath it. Only adds: those a user namespace inherited are locked."""
    wanted = _MountAttributes(attributes, 0, 0, 0)
    try:
        syscalls.numbered(
            "mount_setattr",
            syscalls.MOUNT_SETATTR,
            _AT_FDCWD,
            str(target).encode(),
            _AT_RECURSIVE,
            wanted,
            ctypes.sizeof(wanted),
        )
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        for path in _mounts_beneath(target):  # Linux before 5.12
            # The kernel's numbers of read-only, nosuid, nodev and noexec are the same in all three interfaces.
            inherited = os.statvfs(path).f_flag & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
            mount("", path, "", MS_REMOUNT | MS_BIND | inherited | attributes)


def _mounts_beneath(target: Path) -> list[str]:
    """Mount points at or below `target`, read from the host's /proc before it is left."""
    lines = (_OLD / "proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4].encode().decode("unicode_escape") for line in lines]
    return [p for p in points if Path(p).is_relative_to(target)]


def _link(link: Path, path: Path) -> None:
    inside = _inside(link)
    inside.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        inside.symlink_to(path)


def _lay_out_scratch(tree: Tree, private: Path) -> None:
    """One bounded tmpfs behind all that can be filled, so that the limit is on the sum."""
    inodes = max(1024, (tree.disk_bytes >> 20) * _INODES_PER_MIB)
    options = f"size={tree.disk_bytes},nr_inodes={inodes},mode=755"
    # The copies below carry the real folder's names; /tmp and the private tmp are one folder.
    mount("tmpfs", _SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for name in ("tmp", "shm"):
        (_SCRATCH / name).mkdir()
        (_SCRATCH / name).chmod(0o1777)
    for name in ("work", "home"):
        _copy(_outside(private) / name, _SCRATCH / name)
        give_folder(_SCRATCH / name, tree.uid, tree.gid)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        target.mkdir()


def give_folder(folder: Path, uid: int, gid: int) -> None:
    """Make `folder` and all it holds belong to the box's user."""
    walk(folder, lambda path: os.chown(path, uid, gid, follow_symlinks=False))


def walk(folder: Path, act: Callable[[str], None]) -> None:
    """Call `act` on `folder` and everything in it, following no symlink."""
    act(str(folder))
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            act(os.path.join(parent, name))


def _lay_out_etc(tree: Tree) -> None:
    """Names for the two users and the one host that there are; nothing where the view brought an /etc of its own."""
    etc = _inside(Path("/etc"))
    etc.mkdir(exist_ok=True)
    home = tree.view.home
    texts = {
        "passwd": f"root:x:0:0:root:/:/bin/false\nstudent:x:{tree.uid}:{tree.gid}:student:{home}:/bin/sh\n",
        "group": f"root:x:0:\nstudent:x:{tree.gid}:\n",
        "hosts": f"127.0.0.1 localhost {HOST_NAME}\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "resolv.conf": "",
    }
    for name, text in texts.items():
        with contextlib.suppress(OSError):
            if not (etc / name).exists():
                (etc / name).write_text(text)


def _lay_out_dev(devices: tuple[Path, ...]) -> None:
    dev = _inside(Path("/dev"))
    for node in (*(Path("/dev", name) for name in NODES), *devices):
        if _outside(node).exists():
            _bind(_outside(node), _inside(node), 0)
    for name, path in _LINKS.items():
        (dev / name).symlink_to(path)
    # A shell command in a notebook (`!ls`) runs in a terminal of its own.
    (dev / "pts").mkdir()
    mount("devpts", dev / "pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    (dev / "ptmx").symlink_to("pts/ptmx")


def _lay_out_proc(*, own: bool) -> None:
    proc = _inside(Path("/proc"))
    proc.mkdir()
    if own:
        mount("proc", proc, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
    else:
        _bind(_outside(Path("/proc")), proc, MS_REC)
        _make_read_only(proc)
