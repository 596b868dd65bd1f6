"""Give up every privilege for good: user, groups, capabilities, and the ways to get them back."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from autograder.sandbox import syscalls

_CAPABILITY_VERSION_3 = 0x20080522
_FIRST_BOX_UID = 0x6000_0000
_PIDS = 1 << 22
"""the kernel's upper bound on process ids"""


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (("words", ctypes.c_uint32 * 6),)


def box_uid(supervisor: int) -> int:
    """A user id that no account and no other live box on this host has: one for each supervisor's process id.

    With an id of its own a box's processes can be counted and killed apart from all others. Inside a container that
    maps few ids it is chosen among those that are mapped.
    """
    mapped = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    end = max((inside + count for inside, _, count in mapped), default=0)
    if end >= _FIRST_BOX_UID + _PIDS:
        return _FIRST_BOX_UID + supervisor
    return 20_000 + supervisor % max(end - 20_001, 1) if end > 20_001 else 65_534


def become_user(uid: int) -> None:
    """Turn root into the user and group `uid`, without other groups. The capabilities go with it."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    _empty_bounding_set()
    os.setresuid(uid, uid, uid)


def drop_capabilities() -> None:
    """No capability now, none after any exec, in no namespace."""
    _empty_bounding_set()
    try:
        syscalls.prctl(syscalls.PR_CAP_AMBIENT, syscalls.PR_CAP_AMBIENT_CLEAR_ALL)
    except OSError as error:
        if error.errno != errno.EINVAL:  # Linux before 4.3 has no ambient set
            raise
    syscalls.call("capset", _CapabilityHeader(_CAPABILITY_VERSION_3, 0), _CapabilitySets())


def _empty_bounding_set() -> None:
    for capability in range(64):
        try:
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # past the last one this kernel has
                return
            if error.errno == errno.EPERM:  # without CAP_SETPCAP there is nothing to take back: no_new_privs holds
                return
            raise


def no_new_privileges() -> None:
    """From here on no exec grants anything: setuid bits and file capabilities are dead."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)


def stay_visible_to_itself() -> None:
    """A change of user makes /proc/self belong to root; subprocess, jemalloc and faulthandler read it."""
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
