"""One kernel's process as its client sees it: a private folder and a socket to the supervisor.

Shared by the judge's own client (`session`) and by the provisioner through which every other Jupyter tool uses
these kernels.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from autograder import records
from autograder.errors import KernelFailed, LimitReached
from autograder.kernels.supervisor import LaunchRequest
from autograder.kernels.zygote import MAX_ADDRESS, address_too_long
from autograder.protocol.frames import Reader, send
from autograder.records import CPU, Limits, Verdict
from autograder.sandbox import MAX_ENTRIES, new_private

KILL_S = 60.0
"""A supervisor that watches memory looks through a whole fork bomb, on processors that the bomb keeps busy."""


class Launcher(Protocol):
    """Where kernels come from: a zygote, or a spawner where forking is impossible."""

    def connect(self, request: dict[str, Any]) -> socket.socket:
        """A socket to the supervisor of a new kernel."""


class KernelProcess:
    """Alive from `launch` to `close`."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        """Make the private folder, with `files` (relative name -> content) in its working folder."""
        self.private = new_private()
        if len(os.fsencode(f"{self.address}-1")) > MAX_ADDRESS:
            self.private.rmdir()
            raise KernelFailed(f"no kernel can be started: {address_too_long(self.address)}")
        for folder in ("work", "home", "tmp"):
            (self.private / folder).mkdir()
        for name, content in (files or {}).items():
            target = self.private / "work" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        self.pid = 0
        self.tier = 0
        self.sandbox = ""
        self.ready = False
        self.end: dict[str, Any] | None = None
        self._ended_here = False
        self.limits = Limits()
        self._socket: socket.socket | None = None
        self._news = Reader()

    @property
    def address(self) -> str:
        """Where the kernel's ipc sockets lie: this, a hyphen and the channel's number."""
        return str(self.private / "k")

    def socket_path(self, name: str) -> str:
        """Where a socket of the kernel's lies. Raises KernelFailed if it is something else."""
        path = str(self.private / name)
        # The folder is the student's to write: connect to a socket of the kernel, not to what a link points at.
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise KernelFailed("the kernel's socket is not a socket")
        return path

    def launch(
        self,
        launcher: Launcher,
        connection_file: Path,
        limits: Limits,
        read: tuple[Path, ...],
        *,
        confined: bool = True,
        device: str = CPU,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        """Ask for the kernel; returns at once. `connection_file` lies in the private folder."""
        self.limits = limits
        request = LaunchRequest(self.private, connection_file, limits, read, confined, device, hidden)
        self._socket = launcher.connect(records.to_data(request))

    def fileno(self) -> int:
        """The supervisor's socket, for a poller: readable when there is news."""
        return self._socket.fileno() if self._socket is not None else -1

    def listen(self, wait_s: float = 0.0) -> None:
        """Take in what the supervisor says, waiting at most `wait_s` seconds for the first word."""
        if self._socket is None or self.end is not None:
            return
        self._socket.settimeout(wait_s)  # 0: without waiting; any other is rounded up to a millisecond
        try:
            received = self._socket.recv(65536)
        except (TimeoutError, BlockingIOError):
            return
        except OSError:
            received = b""
        if not received:
            self.end = {"failed": "its supervisor has gone"}
            return
        for news, _ in self._news.feed(received):
            self._note_news(news)

    def _note_news(self, news: dict[str, Any]) -> None:
        if "started" in news:
            self.pid = news["started"]["pid"]
            self.tier, self.sandbox = news["started"]["tier"], news["started"]["sandbox"]
        elif "ready" in news:
            self.ready = True
        elif "failed" in news:
            self.end = self.end or news
        elif "exited" in news:
            self.end = self.end or news["exited"]

    @property
    def alive(self) -> bool:
        """Whether the kernel still runs, as far as the supervisor has said."""
        self.listen()
        return self.end is None

    def signal(self, number: int) -> None:
        """Send a signal to the kernel's process."""
        self._send_order({"signal": number})

    def _send_order(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            if self._socket is not None:
                send(self._socket, order)

    def kill(self, wait_s: float = KILL_S) -> None:
        """End the kernel and everything in its box; returns when the supervisor has said so. Afterwards it is dead."""
        self._ended_here = True
        self._send_order({"kill": True})
        deadline = time.monotonic() + wait_s
        while self._socket is not None and self.end is None and time.monotonic() < deadline:
            self.listen(0.1)
        # Not asked again: the next cell would be sent to what is being killed. `close` takes the supervisor its client.
        self.end = self.end or {"failed": "its supervisor did not say that it has ended"}

    def close(self) -> None:
        """Kill what still lives and remove the private folder. May be called twice."""
        if self._socket is not None:
            self.kill()
            self._socket.close()
            self._socket = None
        shutil.rmtree(self.private, ignore_errors=True)

    @property
    def killed(self) -> bool:
        """Whether somebody else ended it or its supervisor: a person, or a host that is short of memory.

        In a box of its own process namespace no program can do that to itself.
        """
        if self.end is None or self._ended_here or self.end.get("memory") or self.end.get("disk"):
            return False
        return self.end.get("code") in (None, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)

    def end_reason(self) -> LimitReached:
        """The limit or crash that ended this kernel. Only for a kernel that is not alive."""
        assert self.end is not None, "the kernel is still alive"
        if self.end.get("memory"):
            return LimitReached(
                Verdict.MEMORY, f"it used more than {self.limits.memory_bytes / (1 << 20):.0f} MiB of memory"
            )
        if self.end.get("disk"):
            return LimitReached(
                Verdict.OUTPUT,
                f"it wrote more than {self.limits.disk_bytes / (1 << 20):.0f} MiB, or more than {MAX_ENTRIES:,} files",
            )
        code = self.end.get("code")
        if not isinstance(code, int):
            return LimitReached(
                Verdict.CRASH, f"the Python process was lost: {self.end.get('failed', 'no reason known')}"
            )
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with status {code}"
        return LimitReached(Verdict.CRASH, f"the Python process ended {how}")
