"""Talk to one confined kernel: run a cell, make a call, and believe nothing that comes back beyond its limits.

A `Kernel` owns the private folder, the socket to the supervisor (the kernel's lifetime) and the zmq sockets. Every wait
watches five things at once: the reply, the output, the supervisor's word that the kernel has ended, the CPU
time used and the wall clock. When a limit is met, the kernel is interrupted, and killed if that does not help.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import zmq
from jupyter_client.session import Session

from autograder.errors import BadReply, KernelFailed, LimitReached, StudentError
from autograder.inside import wire
from autograder.inside.names import CALL, REPLY
from autograder.kernels.process import KernelProcess, Launcher
from autograder.records import Limits, Verdict

INTERRUPT_GRACE_S = 1.0
LOOK_INTERVAL_S = 0.1
START_TIMEOUT_S = 60.0
MAX_MESSAGE_BYTES = 64 << 20
"""one zmq frame; a larger one makes zmq drop the connection, which ends the wait as a crash"""

@dataclass
class Ran:
    """What running one cell showed. All of it is the student's side's word."""

    verdict: Verdict = Verdict.PASSED
    """`PASSED` (it ran), `FAILED` (it raised) or the limit it met"""
    text: list[str] = field(default_factory=list)
    """printed text, in order"""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    """execute_result, error and stream outputs, as nbformat names them; for foreign test cells"""
    error: str = ""
    seconds: float = 0.0
    by_wall_clock: bool = False
    """met the wall limit without having used its CPU time: the machine may have been busy"""
    finished: bool = False
    """the kernel said that this cell ran to its end"""


@dataclass(frozen=True)
class Reply:
    """The answer to one call."""

    value: Any
    after: dict[str, Any]
    """the arguments as they were after the call"""
    printed: str
    seconds: float


class Kernel:
    """One confined kernel, alive until `close`."""

    def __init__(
        self,
        launcher: Launcher,
        limits: Limits,
        read: tuple[Path, ...] = (),
        files: Mapping[str, bytes] | None = None,
        *,
        confined: bool = True,
    ) -> None:
        """Ask for a kernel; it starts while the caller does other things (`wait_until_ready`).

        read: public folders that it may see. files: put into its working folder, by relative name.
        """
        self.limits = limits
        self.cpu_used_s = 0.0
        self._connected = False
        self._bytes = self._messages = 0
        self.session = Session(key=secrets.token_hex(32).encode(), signature_scheme="hmac-sha256")
        self.context = zmq.Context()
        self.process = KernelProcess(files)
        try:
            self.process.launch(launcher, self._write_connection_file(), limits, read, confined=confined)
        except BaseException:
            self.close()
            raise

    # -- starting and ending -------------------------------------------------------------------------------------

    def _write_connection_file(self) -> Path:
        path = self.process.private / "kernel.json"
        ports = {f"{name}_port": number for number, name in enumerate(("shell", "iopub", "stdin", "control", "hb"), 1)}
        info = {
            "transport": "ipc",
            "ip": self.process.address,
            "key": self.session.key.decode(),
            "signature_scheme": "hmac-sha256",
            "kernel_name": "autograder",
            **ports,
        }
        path.write_text(json.dumps(info))
        return path

    def wait_until_ready(self) -> None:
        """Connect and see that output arrives. Raises KernelFailed with the reason if the kernel did not start."""
        if self._connected:
            return
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.process.ready:
            self.process.listen(max(0.0, deadline - time.monotonic()))
            if self.process.end is not None:
                reason = self.process.end.get("failed") or self.process.how_it_ended()
                raise KernelFailed(f"the kernel did not start: {reason}")
            if time.monotonic() > deadline:
                raise KernelFailed(f"the kernel did not start within {START_TIMEOUT_S:.0f} s")
        self.shell = self._socket(zmq.DEALER, 1)
        self.iopub = self._socket(zmq.SUB, 2)
        self.iopub.setsockopt(zmq.SUBSCRIBE, b"")
        # The subscription takes effect some time after connecting; a kernel_info whose busy status we hear proves it.
        while time.monotonic() < deadline:
            asked = self._send("kernel_info_request", {})
            if self._hear(asked, 0.25):
                self._connected = True
                return
            if self.process.end is not None:
                raise KernelFailed(f"the kernel ended while starting: {self.process.how_it_ended()}")
        raise KernelFailed(f"the kernel did not answer within {START_TIMEOUT_S:.0f} s")

    def _socket(self, kind: int, number: int) -> zmq.Socket[bytes]:
        path = f"{self.process.address}-{number}"
        # The folder is the student's to write: connect to a socket of the kernel, not to what a link points at.
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise KernelFailed("the kernel's socket is not a socket")
        made = self.context.socket(kind)
        made.linger = 0
        made.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES if kind == zmq.SUB else self.limits.reply_bytes)
        made.connect(f"ipc://{path}")
        return made

    def _hear(self, asked: str, wait_s: float) -> bool:
        deadline, heard, answered = time.monotonic() + wait_s, False, False
        while (left := deadline - time.monotonic()) > 0 and not (heard and answered):
            for channel in self._poll(min(left, 0.05)):
                message = self._receive(channel)
                if message and message["parent_header"].get("msg_id") == asked:
                    heard = heard or channel is self.iopub
                    answered = answered or channel is self.shell
        return heard

    def close(self) -> None:
        """Kill the kernel and everything in its box; remove the private folder."""
        self.process.close()
        self.context.destroy(linger=0)

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the kernel still runs."""
        return self.process.alive

    # -- time ----------------------------------------------------------------------------------------------------

    def own_cpu_s(self) -> float:
        """CPU seconds of the kernel and of its children that have ended, as the operating system counts. Cheap."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return times.user + times.system + times.children_user + times.children_system

    def children_cpu_s(self) -> float:
        """CPU seconds of the kernel's living children. Reads the whole process table."""
        total = 0.0
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    times = child.cpu_times()
                    total += times.user + times.system
        return total

    # -- the two verbs -------------------------------------------------------------------------------------------

    def run_cell(self, source: str) -> Ran:
        """Run one cell. Never raises for what the student's code does; after some verdicts the kernel is dead."""
        self.wait_until_ready()
        ran = Ran()
        start = time.monotonic()
        asked = self._send(
            "execute_request",
            {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False},
        )
        try:
            reply = self._await(asked, "execute_reply", ran)
            ran.finished = True
            if reply["content"].get("status") != "ok":
                ran.verdict = Verdict.FAILED
                ran.error = ran.error or _error_text(reply["content"])
        except LimitReached as limit:
            ran.verdict = Verdict(limit.verdict)
            ran.error = str(limit)
            ran.by_wall_clock = limit.by_wall_clock
        ran.seconds = time.monotonic() - start
        return ran

    def call(self, source: str, name: str, data: dict[str, Any]) -> Reply:
        """Run the probe `name`, given as source, on `data` in the student's namespace.

        Raises StudentError if it raised, BadReply if what came back is no data, LimitReached if it met a limit.
        """
        self.wait_until_ready()
        tree, buffers = wire.encode(data)
        asked = self._send(CALL, {"source": source, "name": name, "data": tree}, buffers)
        reply = self._await(asked, REPLY, Ran())
        content = reply["content"]
        if content.get("status") == "raised":
            raise StudentError(*(str(content.get(k, ""))[:2000] for k in ("type", "text", "line")))
        if content.get("status") == "interrupted":
            raise LimitReached(Verdict.TIME, "the call was interrupted")
        if content.get("status") != "ok":
            raise BadReply(str(content.get("text", "the reply has no status"))[:2000])
        received = [bytes(b) for b in reply["buffers"]]
        after = wire.decode(content.get("after"), received)
        return Reply(
            wire.decode(content.get("value"), received),
            after if isinstance(after, dict) else {},
            str(content.get("printed", ""))[: 64 << 10],
            float(content["seconds"]) if isinstance(content.get("seconds"), (int, float)) else 0.0,
        )

    def release(self, handles: list[int]) -> None:
        """Let go of kept objects."""
        if handles and self.alive:
            self._await(self._send(CALL, {"release": handles}), REPLY, Ran())

    def _send(self, kind: str, content: dict[str, Any], buffers: list[bytes] | None = None) -> str:
        message = self.session.send(self.shell, kind, content, buffers=buffers)
        return message["header"]["msg_id"] if message else ""

    def _poll(self, wait_s: float) -> list[zmq.Socket[bytes]]:
        poller = zmq.Poller()
        poller.register(self.shell, zmq.POLLIN)
        poller.register(self.iopub, zmq.POLLIN)
        poller.register(self.process.fileno(), zmq.POLLIN)
        ready = dict(poller.poll(wait_s * 1000))
        if self.process.fileno() in ready:
            self.process.listen()
        return [s for s in (self.iopub, self.shell) if s in ready]

    def _receive(self, channel: zmq.Socket[bytes]) -> dict[str, Any] | None:
        """One message, or None for anything that is not a signed Jupyter message."""
        try:
            frames = channel.recv_multipart(zmq.NOBLOCK)
            self._bytes += sum(map(len, frames))
            self._messages += 1
            _, parts = self.session.feed_identities(frames)
            message = self.session.deserialize(parts)
            well_formed = isinstance(message["content"], dict) and isinstance(message["parent_header"], dict)
            return message if well_formed else None
        except zmq.Again:
            return None
        except Exception:
            # Whatever the student's process sent that Jupyter's reader cannot take: not a message.
            return None

    def _await(self, asked: str, kind: str, ran: Ran) -> dict[str, Any]:
        """The reply to `asked`, gathering output into `ran`. Raises LimitReached."""
        clock = _Clock(self)
        self._bytes = self._messages = 0
        allowed = self.limits.output_bytes * 4 + (self.limits.reply_bytes if kind == REPLY else 0)
        reply: dict[str, Any] | None = None
        idle, replied = False, 0.0
        while reply is None or not idle:
            for channel in self._poll(LOOK_INTERVAL_S):
                message = self._receive(channel)
                if message is None or message["parent_header"].get("msg_id") != asked:
                    continue
                if channel is self.shell and message["header"].get("msg_type") == kind:
                    reply, replied = message, time.monotonic()
                elif channel is self.iopub:
                    idle = _collect(message, ran) or idle
            if reply is None and self.process.end is not None:
                raise clock.limit or self.process.how_it_ended()
            if reply is not None and time.monotonic() - replied > 1.0:
                break  # the reply is what counts; the idle status may have been lost in a flood
            if self._messages > self.limits.output_messages or self._bytes > allowed:
                self.process.kill()
                raise LimitReached(Verdict.OUTPUT, "it printed or displayed more than is allowed")
            clock.look()
        self.cpu_used_s += clock.cpu_s()
        if clock.limit is not None:
            raise clock.limit
        return reply


class _Clock:
    """The time limits of one wait: interrupts the kernel when one is met, kills it when that does not help."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.start = self.looked = time.monotonic()
        self.own_before = kernel.own_cpu_s()
        self.children_before: float | None = None
        self.limit: LimitReached | None = None
        self.patience = 0.0

    def cpu_s(self) -> float:
        """CPU seconds since the start, without what children that lived before had used."""
        own = self.kernel.own_cpu_s() - self.own_before
        if time.monotonic() - self.start < LOOK_INTERVAL_S:
            return own  # most waits are short, and the process table is long
        children = self.kernel.children_cpu_s()
        if self.children_before is None:
            self.children_before = children
        return own + max(0.0, children - self.children_before)

    def look(self) -> None:
        """Called often while waiting. Raises LimitReached once the kernel had to be killed."""
        now, limits = time.monotonic(), self.kernel.limits
        if now - self.looked < LOOK_INTERVAL_S:
            return
        self.looked = now
        if self.limit is not None:
            if now > self.patience:
                self.kernel.process.kill()
                raise self.limit
            return
        cpu_limit = min(limits.cell_s, limits.notebook_s - self.kernel.cpu_used_s)
        wall_limit = limits.cell_s * limits.wall_factor
        if self.cpu_s() > cpu_limit:
            self.limit = LimitReached(Verdict.TIME, f"it was stopped after {cpu_limit:.3g} s of computing time")
        elif now - self.start > wall_limit:
            self.limit = LimitReached(Verdict.TIME, f"it was stopped after {wall_limit:.3g} s", by_wall_clock=True)
        else:
            return
        self.patience = now + INTERRUPT_GRACE_S
        self.kernel.process.signal(signal.SIGINT)


def _collect(message: dict[str, Any], ran: Ran) -> bool:
    """Take one output message into `ran`; True when it says that the kernel is idle again."""
    kind, content = message["header"].get("msg_type"), message["content"]
    if kind == "status":
        return content.get("execution_state") == "idle"
    if kind == "stream":
        text = str(content.get("text", ""))
        ran.text.append(text)
        ran.outputs.append({"output_type": "stream", "name": str(content.get("name")), "text": text})
    elif kind == "error":
        ran.error = ran.error or _error_text(content)
        ran.outputs.append({"output_type": "error", "ename": str(content.get("ename")), "evalue": str(content.get("evalue"))})
    elif kind in ("execute_result", "display_data"):
        data = content.get("data")
        text = str(data.get("text/plain", "")) if isinstance(data, dict) else ""
        ran.outputs.append({"output_type": kind, "data": {"text/plain": text}, "metadata": {}})
        ran.text.append(text + "\n")
    return False


def _error_text(content: dict[str, Any]) -> str:
    return f"{content.get('ename', 'Error')}: {content.get('evalue', '')}"[:2000]
