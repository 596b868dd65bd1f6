"""Close the part of the kernel's interface that no notebook needs, by a seccomp filter made from a list of names.

The filter is a list of denials, because torch, TensorFlow and whatever students install call too much for a list of
permissions to stay true. A denied call fails with EPERM at once; the program goes on. Namespaces and Landlock hold
without it; it takes away the calls in which kernel bugs were found most often, and those that reach around them.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
from dataclasses import dataclass

from autograder.sandbox import syscalls

DENIED: dict[str, tuple[int | None, int | None]] = {
    # name: number on (x86_64, aarch64); None where the architecture has no such call
    # tracing, and reaching into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # keys
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # programs inside the kernel, and interfaces with a long record of holes
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "nfsservctl": (180, 42),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # files by handle go around every path
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}

HIDDEN_MEMORY: dict[str, tuple[int | None, int | None]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
}
"""Memory that no process has mapped: a watchdog that adds up processes cannot see it, so it is closed beside one."""

PERSISTENT_IPC: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
"""What outlives its maker unless the box has an IPC namespace of its own."""

EXAMINED: dict[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "personality": (135, 92),
    "prctl": (157, 167),
    "setsockopt": (54, 208),
    "socket": (41, 198),
    "socketpair": (53, 199),
}
"""Calls whose arguments decide."""

_NEW_NAMESPACES = (
    syscalls.CLONE_NEWNS
    | syscalls.CLONE_NEWCGROUP
    | syscalls.CLONE_NEWUTS
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWNET
)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_SO_SNDBUF, _SO_RCVBUF, _SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 7, 8, 32, 33
_SOCK_TYPE_MASK = 0xF
_MINUS_ONE = 0xFFFFFFFF

_LD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_SECCOMP_MODE_FILTER = 2
_NUMBER_AT, _ARCH_AT = 0, 4
_X32_BIT = 0x40000000


def _argument(index: int) -> int:
    """Offset of the low half of argument `index` in `struct seccomp_data` (both architectures are little-endian)."""
    return 16 + 8 * index


def _refuse(code: int) -> int:
    return 0x00050000 | code


@dataclass(frozen=True)
class Machine:
    """What differs between processor families."""

    column: int
    """place of its numbers in the tables above"""
    audit: int
    """its name in `struct seccomp_data`"""


MACHINES = {"x86_64": Machine(0, 0xC000003E), "aarch64": Machine(1, 0xC00000B7)}


@dataclass(frozen=True)
class Policy:
    """What the other mechanisms leave to the filter."""

    internet: bool
    """allow AF_INET and AF_INET6: true where the box has a network of its own, holding loopback alone"""
    connect: bool = True
    """allow `connect`: false where sockets of the instructor's session (D-Bus: arbitrary commands) are in reach"""
    own_ipc: bool = True
    """the box has its own IPC namespace"""
    hidden_memory: bool = True
    """allow memory that belongs to no process: true where a cgroup counts it"""


@dataclass(frozen=True)
class _Step:
    """One instruction; `jt` and `jf` count the instructions to skip."""

    code: int
    k: int
    jt: int = 0
    jf: int = 0


def _load(offset: int) -> _Step:
    return _Step(_LD, offset)


def _return(value: int) -> _Step:
    return _Step(_RET, value)


def _when_number(number: int | None, then: list[_Step]) -> list[_Step]:
    """Run `then` (which must return) if the call is `number`; the accumulator holds the call's number."""
    return [] if number is None else [_Step(_JEQ, number, 0, len(then)), *then]


def program(policy: Policy, machine: Machine) -> list[_Step]:
    """The filter as a list of instructions: wrong architecture, flat denials, then calls whose arguments decide."""

    def number(name: str) -> int | None:
        return EXAMINED[name][machine.column]

    refused = _return(_refuse(errno.EPERM))
    steps = [_load(_ARCH_AT), _Step(_JEQ, machine.audit, 1, 0), _return(_KILL), _load(_NUMBER_AT)]
    if machine.column == 0:
        steps += [_Step(_JGE, _X32_BIT, 0, 1), _return(_refuse(errno.ENOSYS))]
    for table, wanted, code in [
        (DENIED, True, errno.EPERM),
        (PERSISTENT_IPC, not policy.own_ipc, errno.ENOSYS),
        (HIDDEN_MEMORY, not policy.hidden_memory, errno.ENOSYS),
    ]:
        for numbers in table.values():
            if wanted:
                steps += _when_number(numbers[machine.column], [_return(_refuse(code))])

    # The flags of clone3 lie in memory, where a filter cannot look: ENOSYS makes the C library fall back to clone.
    steps += _when_number(number("clone3"), [_return(_refuse(errno.ENOSYS))])
    steps += _when_number(
        number("clone"), [_load(_argument(0)), _Step(_JSET, _NEW_NAMESPACES, 0, 1), refused, _return(_ALLOW)]
    )
    steps += _when_number(
        number("personality"),
        [
            _load(_argument(0)),
            _Step(_JEQ, 0, 2, 0),
            _Step(_JEQ, _MINUS_ONE, 1, 0),  # only asks
            refused,
            _return(_ALLOW),
        ],
    )
    # Typing into the terminal that the grader was started from.
    steps += _when_number(
        number("ioctl"),
        [
            _load(_argument(1)),
            _Step(_JEQ, _TIOCSTI, 1, 0),
            _Step(_JEQ, _TIOCLINUX, 0, 1),
            refused,
            _return(_ALLOW),
        ],
    )
    # "Kill everything I may kill" would end the instructor's session where the box has no process namespace.
    steps += _when_number(
        number("kill"), [_load(_argument(0)), _Step(_JEQ, _MINUS_ONE, 0, 1), refused, _return(_ALLOW)]
    )
    # Answered "done" without doing it: the box must die with its supervisor, whatever the program inside asks for,
    # and torch.multiprocessing.spawn asks.
    steps += _when_number(
        number("prctl"),
        [_load(_argument(0)), _Step(_JEQ, syscalls.PR_SET_PDEATHSIG, 0, 1), _return(_refuse(0)), _return(_ALLOW)],
    )
    if not policy.hidden_memory:
        steps += _when_number(number("setsockopt"), _buffer_rules())
    if not policy.connect:
        steps += _when_number(number("connect"), [refused])
    steps += _when_number(number("socket"), _socket_rules(policy))
    steps += _when_number(
        number("socketpair"), [_load(_argument(0)), _Step(_JEQ, socket.AF_UNIX, 1, 0), refused, _return(_ALLOW)]
    )
    return [*steps, _return(_ALLOW)]


def _socket_rules(policy: Policy) -> list[_Step]:
    """Unix sockets, loopback where it is the box's own, and the netlink family that lists interfaces (for gloo)."""
    unfamiliar = _return(_refuse(errno.EAFNOSUPPORT))
    steps: list[_Step] = [_load(_argument(0))]
    if policy.internet:
        steps += [_Step(_JEQ, socket.AF_INET, 0, 1), _return(_ALLOW), _Step(_JEQ, 10, 0, 1), _return(_ALLOW)]
    else:
        steps += [_Step(_JEQ, socket.AF_INET, 1, 0), _Step(_JEQ, 10, 0, 1), _return(_refuse(errno.EPERM))]
    netlink = [_load(_argument(2)), _Step(_JEQ, 0, 0, 1), _return(_ALLOW), unfamiliar]
    steps += [_Step(_JEQ, 16, 0, len(netlink)), *netlink]
    steps += [_Step(_JEQ, 1, 1, 0), unfamiliar]
    if not policy.connect:
        # A datagram socket reaches others by sendto, without connect.
        steps += [
            _load(_argument(1)),
            _Step(_AND, _SOCK_TYPE_MASK),
            _Step(_JEQ, socket.SOCK_DGRAM, 0, 1),
            _return(_refuse(errno.EPERM)),
        ]
    return [*steps, _return(_ALLOW)]


def _buffer_rules() -> list[_Step]:
    """A socket's buffers keep their usual size, which the watchdog counts with; honest programs hear "done"."""
    return [
        _load(_argument(1)),
        _Step(_JEQ, 1, 1, 0),  # SOL_SOCKET
        _return(_ALLOW),
        _load(_argument(2)),
        _Step(_JEQ, _SO_SNDBUF, 3, 0),
        _Step(_JEQ, _SO_RCVBUF, 2, 0),
        _Step(_JEQ, _SO_SNDBUFFORCE, 1, 0),
        _Step(_JEQ, _SO_RCVBUFFORCE, 0, 1),
        _return(_refuse(0)),
        _return(_ALLOW),
    ]


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def machine() -> Machine | None:
    """This processor family, or None where the filter has no table for it."""
    return MACHINES.get(platform.machine())


def install(policy: Policy) -> None:
    """Put the filter on this process and all it will start. Needs no_new_privs or CAP_SYS_ADMIN; raises OSError."""
    here = machine()
    if here is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    load(program(policy, here))


def load(steps: list[_Step]) -> None:
    """Put a filter of these instructions on this process, as `install` does."""
    instructions = (_Instruction * len(steps))(*[_Instruction(s.code, s.jt, s.jf, s.k) for s in steps])
    syscalls.prctl(syscalls.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _Program(len(steps), instructions))
