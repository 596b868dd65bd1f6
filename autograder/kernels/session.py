"""Talk to one confined kernel: run a cell, make a call, and believe nothing that comes back beyond its limits.

A `Kernel` owns the private folder, the socket to the supervisor (the kernel's lifetime), the zmq sockets on which cells
run and the socket for calls. Every wait watches five things at once: the reply, the output, the supervisor's word that
the kernel has ended, the CPU time used and the wall clock. When a limit is met, the kernel is interrupted, and killed
if that does not help.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import zmq
from jupyter_client.session import Session

from autograder.errors import BadReply, KernelFailed, LimitReached, StudentError
from autograder.kernels.calls import CallChannel
from autograder.kernels.figures import checked_figure
from autograder.kernels.process import KernelProcess, Launcher
from autograder.protocol import wire
from autograder.protocol.frames import CALLS, MAX_MARKS, marks
from autograder.records import CPU, Limits, Verdict

INTERRUPT_GRACE_S = 1.0
FEW_CHILDREN = 4
"""an interrupted compiler leaves two or three, which end by themselves"""
CHECK_INTERVAL_S = 0.1
SHORT_S = 0.01
"""between two waits, in which a kernel that nobody asks uses no time to speak of"""
START_TIMEOUT_S = 60.0
MEMORY_SLACK_BYTES = 256 << 20
ANSWER_GRACE_S = 5.0
"""how long nothing may come between a reply and the end of its output"""
SHOWN_OUTPUT = 20_000
"""characters of a cell's output that are kept for the feedback page"""
FOOTPRINTS = ("patched", "traced", "loaded")
"""kinds of what is noted beside the student's code"""
MOST_NAMES = 20
_PLACE = re.compile(r'(?:File ")?(?:/ipykernel_0/)?notebook_cell_(\d{1,6})\.py"?(?:, line |:)(\d{1,6})')
"""a line of a cell as Python names it (see `student_side.kernel`): in a warning, a traceback, a syntax error"""
_FRAME = re.compile(r"Cell In\s?\[(\d{1,6})\], line (\d{1,6})")
"""the same as IPython names it"""
_COLOR = re.compile(r"\x1b\[[\d;]*m")
TRACEBACK = 20_000
"""characters at the end of a traceback in which the place is looked for"""
BATCH = 100
BATCH_BYTES = 1 << 20
"""what is taken from a socket before the limits are looked at again: a look can cost more than many messages"""


@dataclass
class CellResult:
    """What running one cell showed. All of it is the student's side's word."""

    verdict: Verdict = Verdict.PASSED
    """`PASSED` (it ran), `FAILED` (it raised) or the limit it met"""
    text: list[str] = field(default_factory=list)
    """what was printed and displayed, in order, up to `SHOWN_OUTPUT` characters"""
    dropped: int = 0
    """characters beyond those"""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    """the first error and the last execute_result, as nbformat names them, cut; for foreign test cells"""
    figures: list[str] = field(default_factory=list)
    """displayed as PNG, in base64, checked; the text says where"""
    error: str = ""
    seconds: float = 0.0
    traceback: str = ""
    """the end of it, until its place has been found"""
    by_wall_clock: bool = False
    """met the wall limit without having used its CPU time: the machine may have been busy"""

    def add_text(self, text: str) -> None:
        """Keep what fits: this process may hold a class's worth of results."""
        room = SHOWN_OUTPUT - sum(map(len, self.text))
        if room > 0:
            self.text.append(text[:room])
        self.dropped += max(0, len(text) - max(0, room))


@dataclass(frozen=True)
class Reply:
    """The answer to one call."""

    value: Any
    after: dict[str, Any]
    """the arguments as they were after the call"""
    operations: tuple[str, ...] = ()
    """those watched frameworks that executed operations: observed, not proven"""


@dataclass
class Account:
    """What one submission may use over all its kernels, whatever is replayed and repeated: see `docs/grading.md`."""

    cpu_limit_s: float
    wall_limit_s: float
    cpu_s: float = 0.0
    wall_s: float = 0.0

    def limit_met(self, cpu_s: float = 0.0, wall_s: float = 0.0) -> LimitReached | None:
        """The limit that is met when this much more is used."""
        if self.cpu_s + cpu_s > self.cpu_limit_s:
            return LimitReached(Verdict.TIME, f"{_ALL_RUNS} used {self.cpu_limit_s:.3g} s of computing time")
        if self.wall_s + wall_s > self.wall_limit_s:
            return LimitReached(Verdict.TIME, f"{_ALL_RUNS} taken {self.wall_limit_s:.3g} s", by_wall_clock=True)
        return None


_ALL_RUNS = "it was stopped: all its runs together had"


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
        device: str = CPU,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        """Ask for a kernel; it starts while the caller does other things (`wait_until_ready`).

        read: public folders that it may see. files: put into its working folder, by relative name. device: `cpu`, or
        `virtual cuda` for a CUDA device that is the CPU, `cuda` for this host's GPU. hidden: what it must be unable to
        open, or it does not start.
        """
        self.limits = limits
        self.cell_s = limits.cell_s
        """CPU seconds that the next cell or call may take"""
        self.cpu_used_s = self.wall_used_s = 0.0
        """of the notebook's allowance"""
        self.account: Account | None = None
        """of the submission, which further kernels share"""
        self._interrupted = False
        self._connected = False
        self._cells: list[str] = []
        """what the cells that have run are called, by IPython's number less one"""
        self._bytes = self._messages = 0
        self._counted_s = self._counted_at = 0.0
        self.session = Session(
            key=secrets.token_hex(32).encode(),
            signature_scheme="hmac-sha256",
            copy_threshold=sys.maxsize,  # as in `student_side/kernel.py`
        )
        self.context = zmq.Context()
        self.process = KernelProcess(files)
        try:
            connection = self._write_connection_file()
            self.process.launch(launcher, connection, limits, read, confined=confined, device=device, hidden=hidden)
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
                reason = self.process.end.get("failed") or self.process.end_reason()
                raise KernelFailed(f"the kernel did not start: {reason}")
            if time.monotonic() > deadline:
                raise KernelFailed(f"the kernel did not start within {START_TIMEOUT_S:.0f} s")
        self.calls = CallChannel(self.process.socket_path(CALLS), self.limits.reply_bytes)
        self.shell = self._connect_channel(zmq.DEALER, 1)
        self.iopub = self._connect_channel(zmq.SUB, 2)
        self.iopub.setsockopt(zmq.SUBSCRIBE, b"")
        # The subscription takes effect some time after connecting; a kernel_info whose busy status we hear proves it.
        while time.monotonic() < deadline:
            asked = self._send_request("kernel_info_request", {})
            if self._hears_output(asked, 0.25):
                self._connected = True
                return
            if self.process.end is not None:
                raise KernelFailed(f"the kernel ended while starting: {self.process.end_reason()}")
        raise KernelFailed(f"the kernel did not answer within {START_TIMEOUT_S:.0f} s")

    def _connect_channel(self, kind: int, number: int) -> zmq.Socket[bytes]:
        path = self.process.socket_path(f"k-{number}")
        made = self.context.socket(kind)
        made.linger = 0
        # A larger frame makes zmq drop the connection, and what it dropped is missed.
        made.setsockopt(zmq.MAXMSGSIZE, 4 * self.limits.output_bytes if kind == zmq.SUB else self.limits.reply_bytes)
        # zmq drops what is published beyond its queue: room for all that is allowed, or the end of output may be lost.
        made.rcvhwm = max(made.rcvhwm, 2 * self.limits.output_messages)
        made.connect(f"ipc://{path}")
        return made

    def _hears_output(self, asked: str, wait_s: float) -> bool:
        deadline, heard, answered = time.monotonic() + wait_s, False, False
        while (left := deadline - time.monotonic()) > 0 and not (heard and answered):
            for channel in self._poll_channels(min(left, 0.05)):
                for message in self._received_messages(channel, asked):
                    if message["parent_header"].get("msg_id") == asked:
                        heard = heard or channel is self.iopub
                        answered = answered or channel is self.shell
        return heard

    def close(self) -> None:
        """Kill the kernel and everything in its box; remove the private folder."""
        self.process.close()
        self.context.destroy(linger=0)
        if self._connected:
            self.calls.close()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the kernel still runs."""
        return self.process.alive

    @property
    def disturbed(self) -> bool:
        """Whether somebody but us killed it, or interrupted what it was doing, as far as that can be told."""
        return self._interrupted or (not self.alive and self.process.killed)

    # -- time ----------------------------------------------------------------------------------------------------

    def own_cpu_s(self, age_s: float = 0.0) -> float:
        """CPU seconds of the kernel and of its children that have ended, as the operating system counts.

        age_s: how old the count may be.
        """
        if time.monotonic() - self._counted_at > age_s:
            try:
                times = _process(self.process.pid).cpu_times()
                self._counted_s = times.user + times.system + times.children_user + times.children_system
            except psutil.Error:
                self._counted_s = 0.0
            self._counted_at = time.monotonic()
        return self._counted_s

    def children_cpu_s(self) -> float:
        """CPU seconds of the kernel's living children. Reads the whole process table."""
        total = 0.0
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    times = child.cpu_times()
                    total += times.user + times.system
        return total

    def libraries_of_programs(self, names: Sequence[str]) -> list[str]:
        """Those of `names` that living programs which the kernel started have in memory, as the operating system tells.

        Forks of the kernel are left out: they share what it had loaded. So is a library without compiled parts.
        """
        found: set[str] = set()
        with contextlib.suppress(psutil.Error, AttributeError):  # macOS tells nobody
            kernel = psutil.Process(self.process.pid)
            for child in kernel.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if child.cmdline() != kernel.cmdline():
                        files = [mapped.path for mapped in child.memory_maps()]
                        found |= {name for name in names if any(f"/{name}/" in file for file in files)}
        return sorted(found)

    # -- the two verbs -------------------------------------------------------------------------------------------

    def run_cell(self, source: str, called: str = "the cell") -> CellResult:
        """Run one cell. Never raises for what the student's code does; after some verdicts the kernel is dead.

        called: what sentences about errors call it, as in `line 2 of your cell "train"`.
        """
        self.wait_until_ready()
        result = CellResult()
        if source.strip():  # an empty one gets no number
            self._cells.append(called)
        start = time.monotonic()
        asked = self._send_request(
            "execute_request",
            {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False},
        )
        try:
            reply = self._await_reply(asked, result)
            if reply["content"].get("status") != "ok":
                result.verdict = Verdict.FAILED
                result.error = result.error or _error_text(reply["content"])
                result.traceback = result.traceback or _end_of_traceback(reply["content"])
                self._interrupted |= reply["content"].get("ename") == "KeyboardInterrupt"
        except LimitReached as limit:
            result.verdict = Verdict(limit.verdict)
            result.error = str(limit)
            result.by_wall_clock = limit.by_wall_clock
        self._name_places(result)
        result.seconds = time.monotonic() - start
        return result

    def _name_places(self, result: CellResult) -> None:
        """Say in text and error which line of which cell is meant, and nothing of this box's folder."""
        result.error = self._without_places(result.error)
        frames = _FRAME.findall(_COLOR.sub("", result.traceback))
        if frames and result.verdict is Verdict.FAILED:  # where a limit interrupts, it is chance
            place = self._place(*frames[-1])
            result.error += f" ({place})" if place not in result.error else ""
        result.text = [self._without_places("".join(result.text))] if result.text else []
        result.traceback = ""

    def _without_places(self, text: str) -> str:
        text = _PLACE.sub(lambda found: self._place(*found.groups()), text)
        return text.replace(f"{self.process.private}/work/", "").replace(f"{self.process.private}/", "")

    def _place(self, number: str, line: str) -> str:
        known = 0 < int(number) <= len(self._cells)
        return f"line {line} of {self._cells[int(number) - 1] if known else 'a cell'}"

    def call(self, source: str, name: str, data: dict[str, Any], watch: Sequence[str] = ()) -> Reply:
        """Run the probe `name`, given as source, on `data` in the student's namespace.

        Raises StudentError if it raised, BadReply if what came back is no data, LimitReached if it met a limit.
        """
        self.wait_until_ready()
        try:
            tree, buffers = wire.encode(data)
        except BadReply as error:
            raise TypeError(f"{name} cannot be called with this: {error}") from error  # the check's fault
        content, received = self._ask({"source": source, "name": name, "data": tree, "watch": list(watch)}, buffers)
        if content.get("status") == "raised":
            said = (_short_text(content.get(k, "")) for k in ("type", "text", "line"))
            raise StudentError(*map(self._without_places, said))
        if content.get("status") == "interrupted":
            self._interrupted = True
            raise LimitReached(Verdict.TIME, "the call was interrupted")
        if content.get("status") != "ok":
            raise BadReply(_short_text(content.get("text", "the reply has no status")))
        after = wire.decode(content.get("after"), received)
        operations = content.get("operations")
        operations = operations if isinstance(operations, dict) else {}
        return Reply(
            wire.decode(content.get("value"), received),
            after if isinstance(after, dict) else {},
            tuple(name for name in watch if name in operations),
        )

    def release(self, handles: list[int]) -> None:
        """Let go of kept objects."""
        if handles and self.alive:
            self._ask({"release": handles})

    def lay_traps(self, forbidden: Sequence[str]) -> None:
        """Note from now on what is replaced in the libraries that record work, and which forbidden ones are loaded."""
        self.wait_until_ready()
        self._ask({"forbidden": list(forbidden)})

    def footprints(self) -> dict[str, list[str]]:
        """What was noted since `lay_traps`, by kind: names of functions and libraries. The kernel's word."""
        content, _ = self._ask({"footprints": True})
        found = content.get("value")
        if not isinstance(found, dict):
            return {}
        return {
            kind: [_short_text(name, 100) for name in names[:MOST_NAMES]]
            for kind, names in found.items()
            if kind in FOOTPRINTS and isinstance(names, list)
        }

    def _send_request(self, kind: str, content: dict[str, Any]) -> str:
        message = self.session.send(self.shell, kind, content)
        return message["header"]["msg_id"] if message else ""

    def _poll_channels(self, wait_s: float) -> list[zmq.Socket[bytes]]:
        ready = self._poll(wait_s, (self.iopub, zmq.POLLIN), (self.shell, zmq.POLLIN))
        return [s for s in (self.iopub, self.shell) if s in ready]

    def _poll(self, wait_s: float, *watched: tuple[Any, int]) -> dict[Any, int]:
        """What is ready of `watched`, and of what the supervisor says, which is taken in."""
        poller = zmq.Poller()
        for channel, events in (*watched, (self.process.fileno(), zmq.POLLIN)):
            poller.register(channel, events)
        ready = dict(poller.poll(round(wait_s * 1000)))
        if self.process.fileno() in ready:
            self.process.listen()
        return ready

    def _received_frames(self, channel: zmq.Socket[bytes]) -> Iterator[list[bytes]]:
        """What has arrived, at most a batch of it."""
        before = self._bytes
        for _ in range(BATCH):
            if self._bytes - before > BATCH_BYTES:
                return
            try:
                frames = channel.recv_multipart(zmq.NOBLOCK)
            except zmq.ZMQError:
                return
            self._bytes += sum(map(len, frames))
            self._messages += 1
            yield frames

    def _received_messages(self, channel: zmq.Socket[bytes], asked: str) -> Iterator[dict[str, Any]]:
        """What has arrived on `asked`; what is not a signed Jupyter message is only counted."""
        for frames in self._received_frames(channel):
            try:
                _, parts = self.session.feed_identities(frames)
                said: list[bytes] = [bytes(part) for part in parts[1:5]]  # type: ignore[arg-type]
                if asked.encode() not in said[1]:
                    continue  # the parent's header names another request: an earlier call's `idle`
                if marks(*said) > MAX_MARKS:
                    continue  # never an honest answer
                message = self.session.deserialize(parts)
                well_formed = isinstance(message["content"], dict) and isinstance(message["parent_header"], dict)
            except Exception:
                continue  # the student's process can send what Jupyter's reader cannot take
            if well_formed:
                yield message

    def _ask(self, request: dict[str, Any], buffers: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """What the agent beside the student's code answers. Raises LimitReached."""
        with self._timed() as clock:
            self.calls.ask(request, buffers)
            self._watch(clock, self._look_at_call, self.limits.reply_bytes)
            return self.calls.answer() or ({}, [])

    def _look_at_call(self) -> _Heard:
        events = zmq.POLLIN | (zmq.POLLOUT if self.calls.sending else 0)
        watched = (self.iopub, zmq.POLLIN), *([] if self.calls.lost else [(self.calls.fileno(), events)])
        ready = self._poll(CHECK_INTERVAL_S, *watched)
        if self.calls.sending:
            self.calls.send()
        if self.calls.fileno() in ready:
            self._bytes += self.calls.receive(BATCH_BYTES)
        if self.iopub in ready:
            for _ in self._received_frames(self.iopub):
                pass  # nobody reads what is printed meanwhile, but zmq's queue must not fill
        answered = self.calls.answer() is not None
        return _Heard(answered, answered, self.calls.lost_at)

    def _await_reply(self, asked: str, result: CellResult) -> dict[str, Any]:
        """The cell's reply to `asked`, gathering output into `result`. Raises LimitReached."""
        reply: dict[str, Any] = {}
        idle, last = False, 0.0

        def look() -> _Heard:
            nonlocal idle, last
            for channel in self._poll_channels(CHECK_INTERVAL_S):
                for message in self._received_messages(channel, asked):
                    if message["parent_header"].get("msg_id") != asked:
                        continue
                    if channel is self.shell and message["header"].get("msg_type") == "execute_reply":
                        reply.update(message)
                    elif channel is self.iopub:
                        idle = _collect_output(message, result) or idle
                    if reply or idle:
                        last = time.monotonic()
            return _Heard(bool(reply) and idle, bool(reply), last)

        with self._timed() as clock:
            self._watch(clock, look, 0)
        return reply

    @contextlib.contextmanager
    def _timed(self) -> Iterator[_Clock]:
        """The clock of one wait, whose time is booked at its end."""
        clock = _Clock(self)
        try:
            yield clock
        finally:
            cpu_s, wall_s = clock.cpu_s(), time.monotonic() - clock.start
            self.cpu_used_s += cpu_s
            self.wall_used_s += wall_s
            if self.account:
                self.account.cpu_s += cpu_s
                self.account.wall_s += wall_s

    def _watch(self, clock: _Clock, look: Callable[[], _Heard], reply_bytes: int) -> None:
        """Look again and again, a moment each time, until all is there. Raises LimitReached."""
        self._bytes = self._messages = 0
        allowed = self.limits.output_bytes * 4 + reply_bytes
        whole = False
        while not whole:
            whole, replied, last = look()
            if not replied and self.process.end is not None:
                raise clock.limit or self.process.end_reason()
            if not whole and last and time.monotonic() - last > ANSWER_GRACE_S:
                # Reply and end of output belong together. One without the other was forged, unreadable, or too large.
                self.process.kill()
                if not replied:
                    raise LimitReached(Verdict.CRASH, "the Python process gave no answer")
                raise LimitReached(Verdict.OUTPUT, "the end of its output never came: too large, or not Jupyter's")
            flooded = clock.memory() > 2 * allowed + MEMORY_SLACK_BYTES
            if self._messages > self.limits.output_messages or self._bytes > allowed or flooded:
                self.process.kill()
                raise _output_limit()
            clock.check_limits()
        if clock.limit is not None:
            if clock.left_to_children():
                self.process.kill()  # the interrupt was not for them: they would take the next cell's time
            raise clock.limit


class _Heard(NamedTuple):
    """What has come of that for which a wait goes on."""

    whole: bool
    replied: bool
    """a cell's reply is followed by the end of its output"""
    last: float
    """when the last part of it came, or what it comes on was lost; 0: not yet"""


class _Clock:
    """The time limits of one wait: interrupts the kernel when one is met, kills it when that does not help.

    Limits: cell 20 s, notebook 120 s, wall factor 3. Earlier cells have used 110 s of computing, 270 s of wall time.
    `while True: pass` is stopped after 10 s of computing: then the notebook's 120 s are used up.
    `time.sleep(99)` computes nothing: the clock stops it after 20 * 3 s, a second one after the 30 s left of 120 * 3.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.start = self.checked_at = time.monotonic()
        self.memory_before = self.memory_now = _own_memory()
        self.own_before = kernel.own_cpu_s(SHORT_S)  # a call often follows another at once
        self.children_before: float | None = None
        self.seen_s = 0.0
        self.limit: LimitReached | None = None
        self.patience = 0.0

    def cpu_s(self) -> float:
        """CPU seconds since the start, without what children that lived before had used."""
        own = self.kernel.own_cpu_s() - self.own_before
        if time.monotonic() - self.start < CHECK_INTERVAL_S:
            return max(own, 0.0)  # most waits are short, and the process table is long
        children = self.kernel.children_cpu_s()
        if self.children_before is None:
            self.children_before = children
        # A child that ended in between has moved from the one sum to the other; a kernel that ended has no sum.
        self.seen_s = max(self.seen_s, own + children - self.children_before)
        return self.seen_s

    def left_to_children(self) -> bool:
        """Whether most of the time went to children that live on, as a fork bomb's do, and are many.

        To kill the kernel for a few would cost functions that never saw them their restarts.
        """
        with contextlib.suppress(psutil.Error):
            if len(psutil.Process(self.kernel.process.pid).children(recursive=True)) > FEW_CHILDREN:
                own = self.kernel.own_cpu_s() - self.own_before
                return self.kernel.children_cpu_s() > own + self.kernel.limits.cell_s / 10
        return False

    def memory(self) -> int:
        """Bytes that this process has grown by: zmq takes in the frames of a message before it shows the first."""
        return self.memory_now - self.memory_before

    def check_limits(self) -> None:
        """Called often while waiting. Raises LimitReached once the kernel had to be killed."""
        now = time.monotonic()
        if now - self.checked_at < CHECK_INTERVAL_S:
            return
        self.memory_now = _own_memory()
        self._compare_usage(now)
        # On a busy machine a look takes as long as the interval: counted from its end, it never starves the messages.
        self.checked_at = time.monotonic()

    def _compare_usage(self, now: float) -> None:
        """What was used against the limits."""
        limits = self.kernel.limits
        if self.limit is not None:
            if now > self.patience:
                self.kernel.process.kill()
                raise self.limit
            return
        cpu_s, wall_s = self.cpu_s(), now - self.start
        notebook_wall_s = limits.notebook_s * limits.wall_factor
        account = self.kernel.account
        if cpu_s > self.kernel.cell_s:
            self._set_limit(f"it was stopped after {self.kernel.cell_s:.3g} s of computing time")
        elif self.kernel.cpu_used_s + cpu_s > limits.notebook_s:
            self._set_limit(f"it was stopped: the notebook had used its {limits.notebook_s:.3g} s of computing time")
        elif wall_s > self.kernel.cell_s * limits.wall_factor:
            self._set_limit(f"it was stopped after {self.kernel.cell_s * limits.wall_factor:.3g} s", by_wall_clock=True)
        elif self.kernel.wall_used_s + wall_s > notebook_wall_s:
            self._set_limit(f"it was stopped: the notebook had taken {notebook_wall_s:.3g} s", by_wall_clock=True)
        elif account and (met := account.limit_met(cpu_s, wall_s)):
            self.limit = met
        else:
            return
        self.patience = now + INTERRUPT_GRACE_S
        self.kernel.process.signal(signal.SIGINT)

    def _set_limit(self, message: str, *, by_wall_clock: bool = False) -> None:
        self.limit = LimitReached(Verdict.TIME, message, by_wall_clock=by_wall_clock)


@functools.lru_cache(maxsize=8)
def _process(pid: int) -> psutil.Process:
    """Asked twice for each call: to make one reads when it was started."""
    return psutil.Process(pid)


def _own_memory() -> int:
    return int(_process(os.getpid()).memory_info().rss)


def _output_limit() -> LimitReached:
    return LimitReached(Verdict.OUTPUT, "it printed, displayed or returned more than is allowed")


def _short_text(value: Any, limit: int = 2000) -> str:
    """What the student's side says in words, cut and fit to be written to a file."""
    return wire.readable(str(value)[:limit])


def _collect_output(message: dict[str, Any], result: CellResult) -> bool:
    """Take one output message into `result`; True when it says that the kernel is idle again."""
    kind, content = message["header"].get("msg_type"), message["content"]
    if kind == "status":
        return content.get("execution_state") == "idle"
    if kind == "stream":
        result.add_text(wire.readable(str(content.get("text", ""))))
    elif kind == "error":
        if not result.error:
            names = {name: _short_text(content.get(name)) for name in ("ename", "evalue")}
            result.outputs.append({"output_type": "error", **names})
        result.error = result.error or _error_text(content)
        result.traceback = result.traceback or _end_of_traceback(content)
    elif kind in ("execute_result", "display_data"):
        data = content.get("data")
        text = wire.readable(str(data.get("text/plain", ""))) if isinstance(data, dict) else ""
        figure = checked_figure(data.get("image/png")) if isinstance(data, dict) else ""
        if figure:
            result.figures.append(figure)
        result.add_text(f"[figure {len(result.figures)}]\n" if figure else text + "\n")
        if kind == "execute_result":
            others = [output for output in result.outputs if output["output_type"] != kind]
            result.outputs = [*others, {"output_type": kind, "data": {"text/plain": _short_text(text)}, "metadata": {}}]
    return False


def _error_text(content: dict[str, Any]) -> str:
    return _short_text(f"{content.get('ename', 'Error')}: {content.get('evalue', '')}").rstrip(": ")


def _end_of_traceback(content: dict[str, Any]) -> str:
    lines = content.get("traceback")
    return "\n".join(str(line)[-TRACEBACK:] for line in lines[-50:])[-TRACEBACK:] if isinstance(lines, list) else ""
