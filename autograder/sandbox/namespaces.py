"""Give a process its own processes, network, message queues and host name: namespaces, with or without root."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
from pathlib import Path

from autograder.sandbox import syscalls

HOST_NAME = "box"
TCP_BUFFER_BYTES = 256 << 10
"""of a TCP socket of the box's own network, in each direction"""
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def enter_user_namespace(extra: int = 0) -> None:
    """Become privileged over namespaces still to be made, and over nothing else. The user id stays what it was.

    `extra`: other `CLONE_NEW*` flags to unshare in the same step. The process must have one thread.
    """
    uid, gid = os.geteuid(), os.getegid()
    # The files below belong to root while a process is not dumpable, which a change of user made it.
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
    syscalls.unshare(syscalls.CLONE_NEWUSER | extra)
    with contextlib.suppress(FileNotFoundError):  # Linux before 3.19
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def enter(flags: int) -> None:
    """Unshare `flags`, and the cgroup namespace where there is one; name the host; bring loopback up."""
    try:
        syscalls.unshare(flags | syscalls.CLONE_NEWCGROUP)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a kernel built without cgroup namespaces: only a path is seen
            raise
        syscalls.unshare(flags)
    if flags & syscalls.CLONE_NEWUTS:
        socket.sethostname(HOST_NAME)
    if flags & syscalls.CLONE_NEWNET:
        bring_loopback_up()
        _bound_tcp_buffers()


def _bound_tcp_buffers() -> None:
    """What lies in the buffers of loopback is memory that no process has mapped: they grow to megabytes by themselves.

    Where /proc/sys cannot be written, as in some containers, they stay as the host has them.
    """
    for name in ("tcp_rmem", "tcp_wmem"):
        with contextlib.suppress(OSError):
            Path("/proc/sys/net/ipv4", name).write_text(f"4096 16384 {TCP_BUFFER_BYTES}")


def bring_loopback_up() -> None:
    """A new network namespace holds `lo`, switched off; gloo and `localhost` need it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        flags = struct.unpack("16sH22x", request)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))
