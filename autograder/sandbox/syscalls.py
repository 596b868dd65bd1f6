"""The kernel's calls that Python has no name for, by ctypes: a grader's machine has no compiler and no spare packages.

Every call here raises OSError with the call's name when the kernel says no. The C library is opened at the first
call, so that the module can be imported on any system.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Sequence

LINUX = sys.platform == "linux"

# Numbers that are the same on every architecture that the filter in seccomp.py knows.
CLOSE_RANGE = 436
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


@functools.cache
def _libc() -> ctypes.CDLL:
    if not LINUX:
        raise OSError(f"{platform.system()} has no Linux system calls")
    return ctypes.CDLL(None, use_errno=True)


Argument = int | bytes | None | ctypes.Array[ctypes.c_char] | ctypes.Structure


def call(name: str, *arguments: Argument) -> int:
    """Call the C library's function `name`; integers are passed as machine words, structures by reference."""
    result: int = getattr(_libc(), name)(*[_word(a) for a in arguments])
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def numbered(name: str, number: int, *arguments: Argument) -> int:
    """Call the kernel by `number`, for calls that older C libraries do not wrap; `name` is for the error."""
    try:
        return call("syscall", number, *arguments)
    except OSError as error:
        raise OSError(error.errno, f"{name}: {os.strerror(error.errno or 0)}") from None


def _word(argument: Argument) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument if argument < 1 << 63 else argument - (1 << 64))
    if isinstance(argument, ctypes.Structure):
        return ctypes.byref(argument)
    return argument


def prctl(option: int, *arguments: Argument) -> int:
    """`prctl(2)`; the arguments left out are zero, as the kernel demands for many options."""
    return call("prctl", option, *arguments, *[0] * (4 - len(arguments)))


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` (`CLONE_NEW*`)."""
    call("unshare", flags)


def close_all_but(keep: Sequence[int]) -> None:
    """Close every descriptor that is not in `keep`."""
    low = 0
    for fd in [*sorted({f for f in keep if f >= 0}), 1 << 31]:
        if fd > low:
            _close_range(low, fd - 1)
        low = fd + 1


def _close_range(first: int, last: int) -> None:
    try:
        numbered("close_range", CLOSE_RANGE, first, last, 0)
    except OSError:  # Linux before 5.9, or a container's filter that does not know the call
        for name in os.listdir("/proc/self/fd"):
            if first <= int(name) <= last:
                # The listing's own descriptor is closed already.
                try:
                    os.close(int(name))
                except OSError:
                    continue
