"""The records of a log, each one line of a program's dealings with its device."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, overload

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = "host to device", "device to host", "device to device"
DIRECTIONS = (HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE)


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy between devices."""

    source: str
    """`cpu` or `cuda:k`"""
    target: str
    nbytes: int
    where: str
    """the program's own line: `file:line`, in a notebook `cell [3], line 2`"""
    at_s: float
    """when it was done, in seconds since the log began"""
    blocking: bool = True
    """whether it holds the host up: not if `non_blocking=True` and the host's memory is pinned.

    With `non_blocking=True` from memory that is not, the host is held up only until the data lie in a pinned buffer of
    the driver's (staging), and not until they have arrived.
    """
    non_blocking: bool = False
    """what the program asked for"""
    took_s: float = 0.0
    """seconds; on the virtual device those of the CPU's copy, 0 where it was not measured"""
    step: int | None = None
    """number of the step it belongs to, if the program marks its steps"""

    @property
    def direction(self) -> str:
        """`host to device`, `device to host` or `device to device`."""
        return direction(self.source, self.target)


@dataclass(frozen=True, slots=True)
class Sync:
    """One moment at which the host waits for the device."""

    what: str
    """`item`, `tolist`, `nonzero`, `copy to host`, `print`, `synchronize`..."""
    where: str
    at_s: float
    device: str | None = None
    """the device waited for; None: the current one"""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operator run by a device; recorded only while tracing."""

    operator: str
    """`aten::addmm`"""
    device: str
    began_s: float
    took_s: float
    """seconds the host spent in it: on the virtual device that is the work itself, on a GPU only its launch"""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A name that the program gave to a moment."""

    name: str
    at_s: float
    where: str


@dataclass(frozen=True)
class Step:
    """Sums over a part of the program: a `with log.step():`, or from one `log.mark()` to the next."""

    name: str
    number: int
    """0 for the first of this name"""
    began_s: float
    ended_s: float
    copies: Mapping[str, int]
    """number of copies by direction"""
    nbytes: Mapping[str, int]
    """bytes copied, by direction"""
    syncs: Mapping[str, int]
    """moments at which the host waited for the device, by what it wanted"""
    waiting_copies: int
    """copies to a device that the host waited for as well"""
    launches: int
    """operators run by the devices"""
    memory: tuple[int, ...]
    """bytes in use at the end, on each device"""
    peak: tuple[int, ...]
    """most bytes in use at any time within, on each device"""

    @property
    def waits(self) -> int:
        """How often the host waited for a device, whatever for."""
        return sum(self.syncs.values()) + self.waiting_copies


class Place(NamedTuple):
    """What is counted together, exactly, however long the program runs."""

    kind: str
    """`copy` or `sync`"""
    what: str
    """a copy's `cpu to cuda:0`; what a sync wanted"""
    where: str
    waits: bool
    """whether the host waits"""
    non_blocking: bool = False
    """what a copy was asked for"""


def direction(source: str, target: str) -> str:
    """`host to device`, `device to host` or `device to device`."""
    return f"{'host' if source == 'cpu' else 'device'} to {'host' if target == 'cpu' else 'device'}"


def device_name(index: int) -> str:
    """`cuda:0`; `cpu` for -1."""
    return "cpu" if index < 0 else f"cuda:{index}"


Record = TypeVar("Record")


class FirstAndLast(Sequence[Record], Generic[Record]):
    """The first and the last records of a kind: 10 000 steps take no more room than 1 000. Compares as a list does."""

    def __init__(self, most: int) -> None:
        self._first: list[Record] = []
        self._last: deque[Record] = deque(maxlen=most)
        self._most = most
        self.total = 0
        """records that there were"""

    @property
    def dropped(self) -> int:
        """Records that are not here any more: those in the middle."""
        return self.total - len(self)

    def append(self, record: Record) -> None:
        """Keep a record; the oldest that is not among the first makes room."""
        if self.total < self._most:
            self._first.append(record)
        else:
            self._last.append(record)
        self.total += 1

    def clear(self) -> None:
        """Forget all of them."""
        self._first, self._last, self.total = [], deque(maxlen=self._most), 0

    def __len__(self) -> int:
        return len(self._first) + len(self._last)

    def __iter__(self) -> Iterator[Record]:
        return iter([*self._first, *self._last])

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: Any) -> Any:
        return [*self._first, *self._last][index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, (list, FirstAndLast)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{list(self)!r}{f' and {self.dropped} more' if self.dropped else ''}"
