"""Small random programs over arrays, as data: what an autograd engine is tried on, and compared with another one.

A program is a list of steps, each one operation on earlier values. It is drawn so that every value is of moderate size
and far from the places where a slope jumps or is infinite. As text it is plain Python in a student's own names,

    a = x0 * x1; b = a.sum(axis=0); y = b - x0

so that a failing one can be read and run. Nothing here knows a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = [
    "ELEMENTWISE",
    "KINK",
    "MATRIX",
    "MOST",
    "SHAPES",
    "SUMS",
    "UNARY",
    "Program",
    "Step",
    "draw_program",
    "simpler_ones",
    "values_of",
]

Array = np.ndarray[Any, Any]
ELEMENTWISE = ("add", "sub", "mul", "div", "neg", "power")
UNARY = ("exp", "log", "relu", "tanh")
SUMS = ("sum", "mean")
SHAPES = (*SUMS, "reshape", "transpose", "getitem")
MATRIX = ("matmul",)

MOST, KINK = 20.0, 0.05
"""how large a value may be, and how near to 0 the argument of `relu` or a denominator"""
LETTERS = "abdefghijklmnopqrstuvw"
"""names of results; x and c are those of leaves, y of the last result"""
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@"}
_ON_ARRAYS: Mapping[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "matmul": np.matmul,
    "neg": np.negative,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0.0),
    "power": lambda a, exponent: a**exponent,
    "sum": lambda a, axis, keepdims: np.asarray(a.sum(axis, keepdims=keepdims)),
    "mean": lambda a, axis, keepdims: np.asarray(a.mean(axis, keepdims=keepdims)),
    "reshape": lambda a, *shape: a.reshape(shape),
    "transpose": lambda a, *axes: a.transpose(axes or None),
    "getitem": lambda a, index: np.asarray(a[index]),
}


@dataclass(frozen=True)
class Step:
    """One operation: its name, the names of the values (or numbers) that it takes, and its further arguments."""

    op: str
    of: tuple[str | float, ...]
    more: tuple[Any, ...] = ()

    def code(self) -> str:
        """The operation as Python."""
        first = str(self.of[0])
        if self.op in _SIGNS:
            return f"{first} {_SIGNS[self.op]} {self.of[1]}"
        if self.op == "neg":
            return f"-{first}"
        if self.op == "power":
            return f"{first} ** {self.more[0]}"
        if self.op == "getitem":
            return f"{first}[{_index(self.more[0])}]"
        if self.op in SUMS:
            axis, keepdims = self.more
            return f"{first}.{self.op}(axis={axis}{', keepdims=True' if keepdims else ''})"
        return f"{first}.{self.op}({', '.join(map(repr, self.more))})"


@dataclass(frozen=True)
class Program:
    """Steps over leaves, the last of which is the result, and the gradient that arrives there."""

    leaves: Mapping[str, Array]
    """x0, x1, ...: require gradients; c0, c1, ...: do not"""
    steps: Sequence[tuple[str, Step]]
    gradient: Array

    def code(self, calls: bool = False) -> str:
        """The program as one line of Python; with `calls` as `mul(a, b)` in place of `a * b`."""
        written = ((f"{s.op}({', '.join(map(str, s.of))})" if calls else s.code()) for _, s in self.steps)
        return "; ".join(f"{name} = {text}" for (name, _), text in zip(self.steps, written, strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """What its answer is made of: the result, and the gradients of the leaves that have one."""
        return ("y.data", *(f"{name}.grad" for name in self.leaves if name[0] == "x"))

    def run(self, leaves: Mapping[str, Any], operations: Mapping[str, Callable[..., Any]] = _ON_ARRAYS) -> Any:
        """The result for these leaves, computed by these operations; with arrays by NumPy's."""
        return _run(self.steps, leaves, operations)[self.steps[-1][0]]


def values_of(program: Program) -> dict[str, Array]:
    """All values of a program, the leaves' too, by name."""
    return _run(program.steps, program.leaves, _ON_ARRAYS)


def _run(
    steps: Sequence[tuple[str, Step]], leaves: Mapping[str, Any], operations: Mapping[str, Callable[..., Any]]
) -> dict[str, Any]:
    known: dict[Any, Any] = dict(leaves)
    for name, step in steps:
        known[name] = operations[step.op](*(known.get(v, v) for v in step.of), *step.more)
    return known


def draw_program(
    generator: np.random.Generator,
    operations: Sequence[str],
    size: int,
    shapes: Sequence[tuple[int, ...]] = ((2,), (2, 3), (3,), (3, 2), (1, 3), (2, 1), (2, 2), (1,), ()),
    *,
    numbers: bool = False,
    decimals: int | None = None,
) -> Program:
    """A program of `size` steps at most, of these operations; every leaf and every step has a part in its result.

    shapes: of leaves; one shape alone: then all are alike and nothing is broadcast. numbers: plain numbers and constant
    tensors take part. decimals: the leaves are rounded so far.
    """
    while True:
        known: dict[str, Array] = {}
        steps: list[tuple[str, Step]] = []

        def leaf(shape: tuple[int, ...], known: dict[str, Array] = known) -> str:
            constant = numbers and generator.random() < 0.25
            name = f"{'c' if constant else 'x'}{sum(n[0] == ('c' if constant else 'x') for n in known)}"
            known[name] = _rounded(generator.normal(0.0, 1.2, shape), decimals)
            return name

        for k in range(size):
            for _ in range(30):
                step = _draw_step(generator, operations, known, leaf, shapes, numbers)
                value = _accepted(step, known) if step else None
                if step is not None and value is not None:
                    name = LETTERS[k]
                    known[name] = value
                    steps.append((name, step))
                    break
        if steps:
            program = _needed(known, steps, decimals, generator)
            if any(name[0] == "x" for name in program.leaves):
                return program


def simpler_ones(program: Program) -> list[Program]:
    """Programs inside this one, the smallest first: each step alone, and all that leads to it; the last is itself."""
    known = values_of(program)
    alone, up_to = [], []
    for k, (name, step) in enumerate(program.steps):
        fresh: dict[str | float, str] = {}
        for v in step.of:
            if isinstance(v, str) and v not in fresh:
                fresh[v] = f"{'c' if v[0] == 'c' else 'x'}{len(fresh)}"
        if any(new[0] == "x" for new in fresh.values()):
            leaves = {new: np.asarray(np.round(known[str(old)], 2)) for old, new in fresh.items()}
            own = (("y", replace(step, of=tuple(fresh.get(v, v) for v in step.of))),)
            alone.append(Program(leaves, own, _gradient(known[name])))
        before = _ancestors(program.steps[: k + 1], name)
        leaves = {leaf: value for leaf, value in program.leaves.items() if leaf in before}
        if any(leaf[0] == "x" for leaf in leaves):
            own_steps = tuple(s if s[0] != name else ("y", s[1]) for s in program.steps[: k + 1] if s[0] in before)
            up_to.append(Program(leaves, own_steps, _gradient(known[name])))
    return [*sorted([*alone, *up_to[:-1]], key=_size), program]


def _size(program: Program) -> tuple[int, int]:
    return len(program.steps), sum(value.size for value in program.leaves.values())


def _gradient(value: Array) -> Array:
    """1, 2, 3, ...: a gradient that tells places apart."""
    return np.arange(1.0, value.size + 1).reshape(value.shape)


def _rounded(values: Array, decimals: int | None) -> Array:
    return np.asarray(values if decimals is None else np.round(values, decimals) + 0.0)


def _ancestors(steps: Sequence[tuple[str, Step]], last: str) -> set[str | float]:
    found: set[str | float] = {last}
    for name, step in reversed(steps):
        if name in found:
            found.update(step.of)
    return found


def _needed(
    known: Mapping[str, Array], steps: Sequence[tuple[str, Step]], decimals: int | None, generator: np.random.Generator
) -> Program:
    """What leads to the last step, with its leaves counted anew."""
    last = steps[-1][0]
    kept = _ancestors(steps, last)
    leaves: dict[str | float, str] = {}
    for name in known:
        if name in kept and name[0] in "xc":
            leaves[name] = f"{name[0]}{sum(n[0] == name[0] for n in leaves.values())}"
    results: dict[str | float, str] = dict(
        zip([name for name, _ in steps if name in kept and name != last], LETTERS, strict=False)
    )
    names: dict[str | float, str] = {**leaves, **results, last: "y"}
    own = tuple((names[n], replace(s, of=tuple(names.get(v, v) for v in s.of))) for n, s in steps if n in kept)
    gradient = _rounded(np.asarray(generator.normal(0.0, 1.0, known[last].shape)), decimals)
    return Program({new: known[str(old)] for old, new in leaves.items()}, own, gradient)


def _draw_step(
    generator: np.random.Generator,
    operations: Sequence[str],
    known: Mapping[str, Array],
    leaf: Callable[[tuple[int, ...]], str],
    shapes: Sequence[tuple[int, ...]],
    numbers: bool,
) -> Step | None:
    op = _one_of(operations, generator)
    # Recent values more often than old ones, so that programs get deep; a new leaf now and then, so that they get wide.
    if known and generator.random() < 0.85:
        names = list(known)
        first = names[-1] if generator.random() < 0.6 else _one_of(names, generator)
    else:
        first = leaf(_stack(shapes, generator) if op == "matmul" else _one_of(shapes, generator))
    value = known[first]
    if op in _SIGNS:
        if numbers and op != "matmul" and generator.random() < 0.25:
            number = float(np.round(generator.uniform(0.5, 3.0), 1)) * (-1.0 if generator.random() < 0.3 else 1.0)
            return Step(op, (first, number) if generator.random() < 0.5 else (number, first))
        return _draw_pair(generator, op, first, known, leaf, shapes)
    if op == "power":
        return Step(op, (first,), (_one_of((2, 3, -1, 0.5, 1, -2), generator),))
    if op in SUMS:
        return Step(op, (first,), (_axis(generator, value.ndim), bool(generator.random() < 0.4)))
    if op == "reshape":
        return Step(op, (first,), _new_shape(generator, value.size))
    if op == "transpose":
        axes = tuple(int(a) for a in generator.permutation(value.ndim))
        reverses = axes == tuple(range(value.ndim))[::-1]  # written without axes
        return Step(op, (first,), () if reverses else axes) if axes else None
    if op == "getitem":
        index = _draw_index(generator, value.shape)
        return None if index is None else Step(op, (first,), (index,))
    return Step(op, (first,))


def _draw_pair(
    generator: np.random.Generator,
    op: str,
    first: str,
    known: Mapping[str, Array],
    leaf: Callable[[tuple[int, ...]], str],
    shapes: Sequence[tuple[int, ...]],
) -> Step | None:
    fits = _multiplies if op == "matmul" else _broadcasts
    partners = [name for name, value in known.items() if fits(known[first].shape, value.shape)]
    if partners and generator.random() < 0.6:
        second = _one_of(partners, generator)
    else:
        fitting = [shape for shape in shapes if fits(known[first].shape, shape)]
        if not fitting:
            return None
        second = leaf(_one_of(fitting, generator))
    swapped = op != "matmul" and generator.random() < 0.5
    return Step(op, (second, first) if swapped else (first, second))


def _one_of(several: Sequence[Any], generator: np.random.Generator) -> Any:
    return several[int(generator.integers(len(several)))]


def _stack(shapes: Sequence[tuple[int, ...]], generator: np.random.Generator) -> tuple[int, ...]:
    """The shape of a matrix or a stack of them."""
    fitting = [shape for shape in shapes if len(shape) > 1]
    shape: tuple[int, ...] = _one_of(fitting, generator)
    return shape


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def _multiplies(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and _broadcasts(a[:-2], b[:-2])


def _axis(generator: np.random.Generator, ndim: int) -> int | tuple[int, ...] | None:
    if ndim == 0 or generator.random() < 0.25:
        return None
    if generator.random() < 0.25:
        return tuple(int(a) for a in generator.permutation(ndim)[: 1 + generator.integers(ndim)])
    return int(generator.integers(-ndim, ndim))


def _new_shape(generator: np.random.Generator, size: int) -> tuple[int, ...]:
    divisors = [n for n in range(1, size + 1) if size % n == 0]
    n = _one_of(divisors, generator)
    shape: tuple[int, ...] = _one_of(((n, size // n), (-1, n), (size,), (n, 1, -1), (1, -1)), generator)
    return shape


def _draw_index(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    if not shape:
        return None
    n = shape[0]
    rows = [int(i) for i in generator.integers(-n, n, 1 + generator.integers(4))]
    start = int(generator.integers(n))
    kinds: list[Any] = [rows, rows, int(generator.integers(-n, n)), slice(start, None), slice(None, None, 2)]
    kinds.append([bool(b) for b in np.arange(n) == start])
    if len(shape) > 1:
        columns = [int(i) for i in generator.integers(0, shape[1], len(rows))]
        kinds += [(rows, columns), (slice(None), columns), (slice(start, None), int(generator.integers(shape[1])))]
    return _one_of(kinds, generator)


def _index(index: Any) -> str:
    if isinstance(index, tuple):
        return ", ".join(map(_index, index))
    if isinstance(index, slice):
        return ":".join("" if v is None else str(v) for v in (index.start, index.stop)) + (
            "" if index.step is None else f":{index.step}"
        )
    return repr(index)


def _accepted(step: Step, known: Mapping[str, Array]) -> Array | None:
    """The value of a step, or None where it is too large or near a place where a slope jumps or is infinite."""
    given: Mapping[Any, Any] = known
    first = given.get(step.of[0], step.of[0])
    if step.op == "relu" and np.abs(first).min(initial=1.0) < KINK:
        return None
    if step.op == "log" and np.min(first, initial=1.0) < 0.2:
        return None
    if step.op == "exp" and np.max(first, initial=0.0) > 3:
        return None
    if step.op == "div" and np.abs(given.get(step.of[1], step.of[1])).min(initial=1.0) < 0.3:
        return None
    if step.op == "power" and step.more[0] < 1:
        least = np.abs(first).min(initial=1.0) if step.more[0] < 0 else np.min(first, initial=1.0)
        if least < 0.3:
            return None
    value: Array = np.asarray(_run([("a", step)], known, _ON_ARRAYS)["a"])
    return value if value.size and np.abs(value).max() <= MOST else None
