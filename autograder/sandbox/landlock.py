"""Let a process say which files it will need and give up all others: Landlock, the kernel's sandbox for everyone.

It needs no privilege and no namespace, and it binds the calling thread and all its future children, so it is applied
before threads start. Descriptors that are already open stay usable. It does not hide that a file exists; a mount
namespace does.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox import syscalls

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
WRITE = (
    READ
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE
)
MEET = READ | WRITE_FILE | TRUNCATE | REMOVE_FILE | MAKE_SOCK
"""sockets may be made and removed; no new file that could fill the disk"""
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV

_FILES_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL = (1 << 16) - 1
_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_ASK_VERSION = 1
_PATH_BENEATH = 1


@dataclass(frozen=True)
class Rule:
    """Rights on one file, or on a folder and everything beneath it."""

    path: Path
    rights: int


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("fd", ctypes.c_int32))


def version() -> int:
    """The kernel's Landlock ABI, 0 where it has none."""
    try:
        return syscalls.numbered("landlock_create_ruleset", syscalls.LANDLOCK_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[Rule], *, tcp: bool) -> None:
    """Give up every file that no rule names; with `tcp=False` also TCP, where the kernel can take it (ABI 4).

    From ABI 6 on, abstract sockets and signals reach only processes under the same restriction.
    Paths that do not exist are passed over. Needs no_new_privs or CAP_SYS_ADMIN. Raises OSError.
    """
    abi = version()
    handled = _BY_VERSION.get(abi, _ALL)
    net = _TCP if abi >= 4 and not tcp else 0
    attributes = _Ruleset(handled, net, _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = syscalls.numbered("landlock_create_ruleset", syscalls.LANDLOCK_CREATE_RULESET, attributes, size, 0)
    try:
        for rule in rules:
            _allow(ruleset, rule, handled)
        syscalls.numbered("landlock_restrict_self", syscalls.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, rule: Rule, handled: int) -> None:
    try:
        fd = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        rights = rule.rights & handled
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILES_ONLY
        beneath = _PathBeneath(rights, fd)
        syscalls.numbered("landlock_add_rule", syscalls.LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, beneath, 0)
    finally:
        os.close(fd)
