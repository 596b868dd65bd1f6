"""An IPython kernel that also answers the judge's calls and bounds its own output.

It is an ordinary ipykernel for every Jupyter client; one more message type, `autograder_call`, carries a probe
and its data (see `inside.agent`). Output is cut here, at the source, so that a flood costs little; the receiver
cuts again, because student code can undo anything in this process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

from autograder.inside.agent import Agent
from autograder.inside.names import CALL, REPLY
from autograder.records import Limits


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


class BoundedStream(OutStream):
    """stdout or stderr of the kernel: writes until the cell's budget is spent, then says so once."""

    def write(self, string: str) -> int | None:
        if not isinstance(string, str) or BUDGET.bytes_left <= -1:
            return super().write(string) if not isinstance(string, str) else len(string)
        granted = BUDGET.take(len(string))
        if granted == len(string):
            return super().write(string)
        super().write(string[:granted] + "\n[output cut here: the cell prints more than is kept]\n")
        return len(string)


class GradedKernel(IPythonKernel):
    """ipykernel plus the judge's verb."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.agent = Agent(self.shell.user_ns)
        self.shell_handlers[CALL] = self.autograder_call
        self.shell.display_pub.register_hook(_bound_display)

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        BUDGET.renew()
        await super().execute_request(stream, ident, parent)

    async def autograder_call(self, stream: Any, ident: Any, parent: Any) -> None:
        BUDGET.renew()
        content, buffers = self.agent.answer(parent["content"], [bytes(b) for b in parent["buffers"]])
        self.session.send(stream, REPLY, content, parent, ident=ident, buffers=buffers)


def _bound_display(message: dict[str, Any]) -> dict[str, Any] | None:
    BUDGET.messages_left -= 1
    size = len(json.dumps(message.get("content", {}), default=str))
    return message if BUDGET.messages_left >= 0 and BUDGET.take(size) == size else None


def _show_figures_inline(shell: Any) -> None:
    """What importing pyplot does in a cold kernel; here it was imported before there was a shell."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        from matplotlib_inline.backend_inline import configure_inline_support

        matplotlib.use("module://matplotlib_inline.backend_inline")
        configure_inline_support(shell, "inline")


def serve(connection_file: str, limits: Limits, ready: Callable[[], None]) -> None:
    """Run the kernel of `connection_file` in this process until it is shut down; call `ready` once it listens."""
    BUDGET.limits = limits
    BUDGET.renew()
    # A forked kernel has its own supervisor; ipykernel's poller would take the fork for a lost parent.
    os.environ.pop("JPY_PARENT_PID", None)
    app = IPKernelApp.instance(
        kernel_class=GradedKernel,
        connection_file=connection_file,
        outstream_class=f"{__name__}.BoundedStream",
    )
    app.initialize([])
    _show_figures_inline(app.shell)
    ready()
    app.start()
