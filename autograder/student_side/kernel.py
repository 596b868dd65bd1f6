"""An IPython kernel that also answers the judge's calls and bounds its own output.

It is an ordinary ipykernel for every Jupyter client; on one more socket, of which Jupyter knows nothing, come probes
and their data (see `student_side.agent`). Output is cut here, at the source, so that a flood costs little; the receiver
cuts again, because student code can undo anything in this process.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tornado.platform.asyncio
from tornado.ioloop import IOLoop

from autograder.imports import without
from autograder.protocol.frames import CALLS, pack, receive
from autograder.protocol.wire import readable
from autograder.records import Limits
from autograder.student_side import orphans
from autograder.student_side.agent import Agent
from course_lib import virtual_cuda

# A debugger, for which nobody can ask here, is a third of the time that these imports take.
with without("debugpy"):
    import ipykernel.debugger
    import IPython.core.completerlib
    import IPython.core.debugger
    import IPython.extensions.storemagic
    import traitlets.config.argcomplete_config
    from ipykernel.iostream import OutStream
    from ipykernel.ipkernel import IPythonKernel
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

LOADED = (
    IPython.core.completerlib,
    IPython.core.debugger,
    IPython.extensions.storemagic,
    ipykernel.debugger,
    tornado.platform.asyncio,
    traitlets.config.argcomplete_config,
)
"""what ipykernel imports while a kernel starts: a fork has it already"""


class Budget:
    """What one cell may still print and display."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.renew()

    def renew(self) -> None:
        # Half of the receiver's allowance: an honest flood is cut here and still counts as having run.
        self.bytes_left = self.limits.output_bytes // 2
        self.messages_left = self.limits.output_messages // 2

    def take(self, size: int) -> int:
        granted = max(0, min(size, self.bytes_left))
        self.bytes_left -= size
        return granted


BUDGET = Budget(Limits())
CUT = "\n[output cut here: the cell prints more than is kept]\n"
SHORT = 2000
"""characters of a cell's value that are shown whatever was printed before"""
LAST_MESSAGES = 10
"""flushes, and the cell's value, after the student's code has ended"""


class BoundedStream(OutStream):
    """stdout or stderr of the kernel: writes until the cell's budget is spent, then says so once."""

    def write(self, string: str) -> int:
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string).__name__}")
        if BUDGET.bytes_left <= -1:
            return len(string)
        granted = BUDGET.take(len(string))
        cut = granted < len(string)
        # ipykernel's thread would fail at a lone surrogate, and complain of it among the output of a later cell.
        super().write(readable(string[:granted]) + CUT if cut else readable(string))
        return len(string)

    def flush(self) -> None:
        # Most cells print nothing, but ipykernel flushes both streams after each, and to ask its thread takes time.
        if not self._buffers:
            return
        # Each flush is a message. Once they are used up, text waits for ipykernel's own flush, five times a second.
        BUDGET.messages_left -= 1
        if BUDGET.messages_left >= 0:
            super().flush()


class GradedKernel(IPythonKernel):
    """ipykernel plus the judge's verb."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        shell: Any = self.shell
        self.agent = Agent(shell.user_ns, BUDGET.limits.reply_bytes)
        # `quit()` would end the session some time later, in the middle of an innocent cell; a replay would do it again.
        shell.ask_exit = lambda: None
        # By its number, which the client knows: ipykernel's own names are a hash of the text, below this box's folder.
        shell.compile.get_code_name = lambda raw_code, code, number: f"/ipykernel_0/notebook_cell_{number}.py"
        shell.display_pub.register_hook(_bound_display)
        if hasattr(shell.displayhook, "register_hook"):  # ipykernel 7
            shell.displayhook.register_hook(_bound_result)

    @staticmethod
    def _begin() -> None:
        BUDGET.renew()
        orphans.reap()

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        self._begin()
        await super().execute_request(stream, ident, parent)

    async def do_execute(self, *args: Any, **kwargs: Any) -> Any:
        reply = await super().do_execute(*args, **kwargs)
        BUDGET.messages_left = max(BUDGET.messages_left, LAST_MESSAGES)
        return reply

    def listen_for_calls(self, path: Path) -> None:
        """Take the judge's calls from the one who connects here; between two cells, as the loop comes to it."""
        loop, process = IOLoop.current(), os.getpid()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)

        def accept(*_: Any) -> None:
            judge, _ = listener.accept()
            loop.remove_handler(listener)
            loop.add_handler(judge, answer, IOLoop.READ)

        def answer(judge: socket.socket, _: int) -> None:
            self._only_in(process)
            try:
                message, buffers = receive(judge)
            except (OSError, EOFError):
                loop.remove_handler(judge)
                return
            reply = self._answer(message, buffers)
            self._only_in(process)
            judge.sendall(reply)

        loop.add_handler(listener, accept, IOLoop.READ)

    @staticmethod
    def _only_in(process: int) -> None:
        """End a fork that the student's code has let out of its hands: what is asked here is asked of its parent."""
        if os.getpid() != process:
            os._exit(0)

    def _answer(self, message: dict[str, Any], buffers: list[bytes]) -> bytes:
        self._begin()
        number = message["number"]
        self.pre_handler_hook()
        try:
            content, out = self.agent.answer(message["request"], buffers)
            return pack({"number": number, "content": content}, tuple(out))
        except BaseException:  # the agent is not ours any more, or was interrupted at its very end
            return pack({"number": number, "content": {}})
        finally:
            self.post_handler_hook()


def _bound_display(message: dict[str, Any]) -> dict[str, Any] | None:
    BUDGET.messages_left -= 1
    size = len(json.dumps(message.get("content", {}), default=str))
    return message if BUDGET.messages_left >= 0 and BUDGET.take(size) == size else None


def _bound_result(message: dict[str, Any]) -> dict[str, Any]:
    """The value of a cell's last line: always there, however much was printed before, but never long."""
    content = message["content"]
    size = len(json.dumps(content, default=str))
    if BUDGET.take(size) < size:
        text = str(content["data"].get("text/plain", ""))
        content["data"] = {"text/plain": text if len(text) <= SHORT else text[:SHORT] + CUT}
    return message


def warm_up() -> None:
    """Do once, before the forks, what each kernel would do anew: load SQLite, find the back ends of Matplotlib."""
    importlib.import_module("sqlite3")  # IPython's, when its first history opens
    _use_inline_figures()


def _use_inline_figures() -> bool:
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.use("module://matplotlib_inline.backend_inline")
    return matplotlib is not None


def _show_figures_inline(shell: Any) -> None:
    """What importing pyplot does in a cold kernel; here it was imported before there was a shell."""
    if _use_inline_figures():
        from matplotlib_inline.backend_inline import configure_inline_support

        configure_inline_support(shell, "inline")


class GradedApp(IPKernelApp):
    """ipykernel's application without this machine's IPython configuration: a grade must not depend on it."""

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Read none. `make lab` leaves one beside the packages that switches virtual CUDA on in its own way."""


def serve(connection_file: str, limits: Limits, ready: Callable[[], None]) -> None:
    """Run the kernel of `connection_file` in this process until it is shut down; call `ready` once it listens."""
    BUDGET.limits = limits
    BUDGET.renew()
    # A forked kernel has its own supervisor; ipykernel's poller would take the fork for a lost parent.
    os.environ.pop("JPY_PARENT_PID", None)
    app = GradedApp.instance(
        kernel_class=GradedKernel,
        connection_file=connection_file,
        outstream_class=f"{__name__}.BoundedStream",
        config=Config(
            {
                "HistoryManager": {"hist_file": ":memory:"},  # what it has run ends with it
                # Sending without a copy starts a thread and a context, which cost more than copying what is sent here.
                "Session": {"copy_threshold": sys.maxsize},
            }
        ),
    )
    app.initialize([])
    # traitlets has it at DEBUG, and its handler drop what is below WARNING: four records for each call.
    app.log.setLevel(logging.WARNING)
    _show_figures_inline(app.shell)
    virtual_cuda.enable_from_environment()
    app.kernel.listen_for_calls(Path(connection_file).with_name(CALLS))
    ready()
    app.start()
