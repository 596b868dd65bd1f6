"""What was to run where: each `with tf.device(...)` of the program, the operations under it, and the variables.

TensorFlow copies between devices without a word, so a program can be right and yet never use its GPU. What can be
checked is placement: which device each line asked for, and where the operations and variables came to lie.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

VARIABLES_KEPT = 10_000


@dataclass
class Scope:
    """One `with tf.device(...)` line of the program, all its entries together."""

    device: str
    """as asked for: "GPU:0" """
    site: str
    """file:line"""
    entries: int = 0
    ops: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(operation, device it ran on) -> times, eager; a call of a `tf.function` is one operation"""
    nodes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(operation, device asked for, "" if none) -> times, put into graphs and functions"""


@dataclass(frozen=True)
class VariableRecord:
    """A variable as it was created."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: str
    device: str
    """"GPU:0"; "" in a graph, if no device was asked for"""
    site: str


class Log:
    """The placements of a session. Grows with the program's lines, not with its steps."""

    def __init__(self) -> None:
        self.scopes: dict[tuple[str, str], Scope] = {}
        """(device, site) -> scope"""
        self.ops: Counter[tuple[str, str]] = Counter()
        """all eager operations: (operation, device it ran on) -> times"""
        self.nodes: Counter[tuple[str, str]] = Counter()
        """all operations put into graphs: (operation, device asked for) -> times"""
        self.variables: deque[VariableRecord] = deque(maxlen=VARIABLES_KEPT)
        self._open = threading.local()

    def enter(self, device: str, site: str) -> None:
        """The program enters a `tf.device` line."""
        scope = self.scopes.setdefault((device, site), Scope(device, site))
        scope.entries += 1
        self._stack().append(scope)

    def leave(self) -> None:
        """It leaves the innermost one."""
        self._stack().pop()

    def ran(self, op: str, device: str) -> None:
        """An eager operation ran on `device`."""
        self.ops[op, device] += 1
        if stack := self._stack():
            stack[-1].ops[op, device] += 1

    def put(self, op: str, device: str) -> None:
        """An operation was put into a graph."""
        self.nodes[op, device] += 1
        if stack := self._stack():
            stack[-1].nodes[op, device] += 1

    def ops_on(self, device: str) -> Counter[str]:
        """Eager operations that ran on `device` ("GPU:0"), by type."""
        return Counter({op: times for (op, where), times in self.ops.items() if where == device})

    def variables_on(self, device: str) -> list[VariableRecord]:
        """The variables that were created on `device` ("GPU:0")."""
        return [variable for variable in self.variables if variable.device == device]

    def records(self) -> list[dict[str, Any]]:
        """The scopes as plain data, in the order of their first entry."""
        return [
            {
                "device": scope.device,
                "site": scope.site,
                "entries": scope.entries,
                "ops": {f"{op} on {device}": times for (op, device), times in scope.ops.items()},
                "nodes": {f"{op} on {device or 'any'}": times for (op, device), times in scope.nodes.items()},
            }
            for scope in self.scopes.values()
        ]

    def __str__(self) -> str:
        lines = ["tf.device:"] if self.scopes else ["tf.device: never entered"]
        for scope in self.scopes.values():
            lines.append(f"  {scope.device or 'None'} at {scope.site}, entered {scope.entries} times")
            lines += [f"    {times} x {op} ran on {device}" for (op, device), times in scope.ops.most_common(5)]
            lines += [
                f"    {times} x {op} in a graph, for {device or 'any device'}"
                for (op, device), times in scope.nodes.most_common(5)
            ]
        for device in sorted({device for _, device in self.ops}):
            ran = self.ops_on(device)
            lines.append(f"{device}: {sum(ran.values())} operations, {len(self.variables_on(device))} variables")
        return "\n".join(lines)

    def _stack(self) -> list[Scope]:
        try:
            return self._open.stack  # type: ignore[no-any-return]
        except AttributeError:
            self._open.stack = []
            return self._open.stack  # type: ignore[no-any-return]
