"""The two sides a check can call: the student's code in its kernel, and trusted code in this process.

Both have one verb, `run(probe, **data) -> data`, and its sugar `side.f(x)`. A check cannot tell them apart, so a
check file can be tried against the reference in milliseconds, and a known mistake can be replayed on the
very calls that a failed check made.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import hashlib
import inspect
import io
import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from autograder.errors import BadReply, StudentError, StudentFault
from autograder.protocol import wire
from autograder.protocol.probes import Namespace, build_tensor, error_text, run_probe, student_line
from autograder.protocol.settings import settings_kept
from autograder.protocol.wire import handles_in
from autograder.sandbox.tier import Tier

Probe = Callable[..., Any]

CALL_SOURCE = """
def call(ns, _name, _args, _kwargs):
    return getattr(ns, _name)(*_args, **_kwargs)
"""


@dataclass
class Call:
    """One use of a side: enough to do it again elsewhere."""

    source: str
    name: str
    data: dict[str, Any]
    value: Any = None
    after: dict[str, Any] = field(default_factory=dict)
    error: StudentFault | None = None

    @property
    def is_probe(self) -> bool:
        """Whether a probe was run, and not a function of the student's called as it is."""
        return self.source != CALL_SOURCE

    @property
    def shown_as(self) -> str:
        """What the student knows this call by."""
        return self.name if self.is_probe else f"{self.data['_name']}"


class Side(abc.ABC):
    """Something that answers probes. Keeps the calls made, in order, in `calls`."""

    calls: list[Call]
    forgets: bool = True
    """whether after `renew` nothing is known here of what was asked before"""

    def run(self, probe: Probe, **data: Any) -> Any:
        """Run `probe(ns, **data)` on this side and return its value as plain data.

        Raises StudentError if the code there raised, BadReply if its value is not data, LimitReached at a limit.
        """
        return self.repeat(Call(probe_source(probe), probe.__name__, data))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def function(*args: Any, **kwargs: Any) -> Any:
            return self.repeat(Call(CALL_SOURCE, "call", {"_name": name, "_args": args, "_kwargs": kwargs}))

        return function

    def repeat(self, call: Call) -> Any:
        """Make this call here, recording how it went."""
        made = Call(call.source, call.name, call.data)
        self.calls.append(made)
        try:
            made.value, made.after = self._answer(call)
        except StudentFault as error:
            made.error = error
            raise
        return made.value

    def turn_to(self, part: str) -> None:  # noqa: B027 (nothing to do is the rule, a kernel the exception)
        """The next calls are for this exercise."""

    def renew(self) -> None:  # noqa: B027 (likewise)
        """Go on with a copy of this side that remembers nothing of the calls made so far, where that matters."""

    def release(self, handles: list[int]) -> None:  # noqa: B027
        """Let go of objects that probes kept, where that matters."""

    @abc.abstractmethod
    def _answer(self, call: Call) -> tuple[Any, dict[str, Any]]:
        """The value of the call and its arguments afterwards."""


class _Kernel(Protocol):
    def call(self, source: str, name: str, data: dict[str, Any], watch: Sequence[str] = ()) -> Any: ...
    def release(self, handles: list[int]) -> None: ...
    def turn_to(self, part: str) -> None: ...
    def renew(self) -> None: ...

    @property
    def tier(self) -> int: ...


class KernelSide(Side):
    """The student's code, reached over the wire.

    watch: frameworks whose operations are counted while the student's code answers (`operations`).
    """

    def __init__(self, kernel: _Kernel, watch: Sequence[str] = ()) -> None:
        self.calls = []
        self._kernel = kernel
        self._watch = tuple(watch)
        self.operations: dict[str, set[str]] = {}
        """watched framework -> names of the student's functions (or probes) during which it worked"""

    @property
    def forgets(self) -> bool:  # type: ignore[override]
        """At the full tier nothing outlives a box; below it two boxes may meet somewhere on the host."""
        return self._kernel.tier >= Tier.FULL

    def _answer(self, call: Call) -> tuple[Any, dict[str, Any]]:
        reply = self._kernel.call(call.source, call.name, call.data, self._watch)
        for framework in reply.operations:
            self.operations.setdefault(framework, set()).add(call.shown_as)
        return reply.value, reply.after

    def turn_to(self, part: str) -> None:
        self._kernel.turn_to(part)

    def renew(self) -> None:
        self._kernel.renew()

    def release(self, handles: list[int]) -> None:
        self._kernel.release(handles)


Memory = dict[tuple[bytes, int], tuple[Any, list[bytes]]]
"""a call, and the how many-th such call it is -> its value and its arguments afterwards, encoded"""


class LocalSide(Side):
    """Trusted code in this process: the reference, or the reference with a known mistake.

    Values pass through the wire's encoding here too, so that a check sees the same kinds as from a kernel.

    memory: answers that need not be computed again, and where new ones are added. In one run every student is asked the
    same, so the reference's answers are found once, for the whole class. again: makes the names anew, for `renew`.
    """

    def __init__(
        self, names: dict[str, Any], memory: Memory | None = None, again: Callable[[], dict[str, Any]] | None = None
    ) -> None:
        self.calls = []
        self._names = names
        self._again = again
        self._kept: dict[int, Any] = {}
        self._memory = memory
        self._asked: dict[bytes, int] = {}

    def renew(self) -> None:
        if self._again is not None:
            self._names = self._again()

    def _answer(self, call: Call) -> tuple[Any, dict[str, Any]]:
        if self._memory is None or handles_in(call.data):
            return self._compute_answer(call)
        what = _digest(call)
        # Counted, because a second call may be meant to answer differently: a generator goes on.
        self._asked[what] = self._asked.get(what, 0) + 1
        key = (what, self._asked[what])
        if key not in self._memory:
            value, after = self._compute_answer(call)
            if handles_in(value):
                return value, after
            self._memory[key] = wire.encode((value, after))
        value, after = wire.decode(*self._memory[key])
        return value, after

    def _compute_answer(self, call: Call) -> tuple[Any, dict[str, Any]]:
        try:
            data = self.as_data(call.data, arriving=True)
        except BadReply as error:
            raise TypeError(f"{call.shown_as} cannot be called with this: {error}") from error  # the check's fault
        try:
            quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
            with quiet[0], quiet[1], settings_kept():
                value = run_probe(call.source, call.name, Namespace(self._names), data)
        except Exception as error:
            raise StudentError(type(error).__name__, error_text(error), student_line(error)) from error
        return self.as_data(value), self.as_data({k: v for k, v in data.items() if not _is_object(v)})

    def as_data(self, value: Any, *, arriving: bool = False) -> Any:
        """A value as it comes out of the wire there; `arriving`: here, with the objects that were kept."""
        tree, buffers = wire.encode(value, keep=self._keep)
        if not arriving:
            return wire.decode(tree, buffers)
        return wire.decode(tree, buffers, resolve=lambda handle: self._kept[handle.number], build=build_tensor)

    def _keep(self, value: Any) -> wire.Handle:
        self._kept[len(self._kept) + 1] = value
        return wire.Handle(len(self._kept), type(value).__name__)


def _digest(call: Call) -> bytes:
    """What is asked, in 32 bytes."""
    tree, buffers = wire.encode((call.source, call.name, call.data))
    hashed = hashlib.sha256(json.dumps(tree).encode())
    for buffer in buffers:
        hashed.update(buffer)
    return hashed.digest()


def _is_object(value: Any) -> bool:
    try:
        wire.encode(value)
    except BadReply:
        return True
    return False


@functools.cache
def probe_source(probe: Probe) -> str:
    """The source that travels: the function alone. Raises ValueError for a lambda or a closure."""
    if probe.__name__ == "<lambda>" or probe.__closure__:
        raise ValueError(f"a probe must be a plain function of probes.py, not {probe.__qualname__}")
    return textwrap.dedent(inspect.getsource(probe))
