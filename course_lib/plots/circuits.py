"""Draw a small scalar program as a circuit: values above the arrows, and what flows back below them.

The program is given as text, evaluated and differentiated here, so that no number of the picture is typed in by hand.
An arrow carries two numbers: the value that goes forward, and the contribution to its gradient that comes back, local
gradient times upstream gradient. An input that is used more than once shows the sum of its contributions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch

from course_lib.plots.graphs import SYMBOLS, Placed, _place
from course_lib.plots.style import BLUE, GRAY, INK, VERMILLION, Canvas, sheet, styled

COLUMN, ROW = 1.75, 1.2
"""distance between neighbors, in inches"""
OPERATIONS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}


@dataclass(eq=False)
class Number:
    """A value of the program: the fields of `graphs.Node`."""

    value: float
    name: str
    grad: float | None = None


@dataclass(frozen=True)
class Step:
    """One line of the program: the fields of `graphs.Record`."""

    op: str
    inputs: tuple[Number, ...]
    output: Number

    def backward(self) -> tuple[float, ...]:
        """The contribution to the gradient of each input: local gradient times upstream gradient."""
        values = [number.value for number in self.inputs]
        upstream = self.output.grad or 0.0
        a, b = values
        local = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "mul": (b, a), "max": (float(a > b), float(a <= b))}[self.op]
        return tuple(factor * upstream for factor in local)


def circuit(program: Sequence[str], /, *, backward: bool = False, **inputs: float) -> Canvas:
    """Draw `program` for these `inputs`: one operation a line, as in `circuit(["q = x + y"], x=1, y=2)`.

    Operations are `+`, `-`, `*` and `max(a, b)` of names or constants; the last line's result is the output.
    backward: also show, below the arrows, what flows back. Raises ValueError for a line of another form.
    """
    steps = _run(program, inputs)
    _differentiate(steps)
    return draw_steps(steps, backward=backward)


@styled
def draw_steps(steps: Sequence[Step], /, *, backward: bool) -> Canvas:
    """Draw these steps, in which every value has its gradient; `backward` as for `circuit`."""
    placed = _place(steps)
    last = placed[id(steps[-1].output)]
    bottom = max(spot.y for spot in placed.values())
    arcs = [
        _middle(placed[id(number)], placed[id(step.output)], _bend(step, index, placed))[1]
        for step in steps
        for index, number in enumerate(step.inputs)
    ]
    left, right, low, high = -0.55, last.x * COLUMN + 1.5, -bottom * ROW - 0.65, max(0.65, *(y + 0.4 for y in arcs))
    figure, axes = sheet(left, right, low, high)
    uses: list[object] = [number for step in steps for number in step.inputs]
    shapes = {key: _draw_node(axes, spot, backward and uses.count(spot.node) > 1) for key, spot in placed.items()}
    for step in steps:
        for index, (number, flows_back) in enumerate(zip(step.inputs, step.backward(), strict=True)):
            start, end, bend = placed[id(number)], placed[id(step.output)], _bend(step, index, placed)
            _arrow(axes, (start, end), (shapes[id(number)], shapes[id(step.output)]), bend)
            _label(axes, start, end, bend, number, flows_back if backward else None)
    _output(axes, last, shapes[id(steps[-1].output)], steps[-1].output, backward)
    figure.description = _describe(steps, backward)
    return figure


def _run(program: Sequence[str], inputs: dict[str, float]) -> list[Step]:
    known = {name: Number(value, name) for name, value in inputs.items()}
    steps = []
    for line in program:
        match ast.parse(line).body:
            case [ast.Assign(targets=[ast.Name(id=name)], value=expression)]:
                op, arguments = _operation(line, expression)
            case _:
                raise ValueError(f"circuit: {line!r} is not of the form 'name = operation'")
        operands = tuple(_operand(line, argument, known) for argument in arguments)
        a, b = (operand.value for operand in operands)
        value = {"add": a + b, "sub": a - b, "mul": a * b, "max": max(a, b)}[op]
        known[name] = Number(value, name)
        steps.append(Step(op, operands, known[name]))
    return steps


def _operation(line: str, expression: ast.expr) -> tuple[str, list[ast.expr]]:
    match expression:
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)], [left, right]
        case ast.Call(func=ast.Name(id="max"), args=[left, right]):
            return "max", [left, right]
    raise ValueError(f"circuit: {line!r} has no operation that can be drawn; +, -, * and max(a, b) can be")


def _operand(line: str, expression: ast.expr, known: dict[str, Number]) -> Number:
    match expression:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Constant(value=int() | float() as constant):
            return Number(constant, "")
    raise ValueError(f"circuit: {line!r} needs names that were computed before, or constants")


def _differentiate(steps: Sequence[Step]) -> None:
    steps[-1].output.grad = 1.0
    for step in reversed(steps):
        for number, contribution in zip(step.inputs, step.backward(), strict=True):
            number.grad = (number.grad or 0.0) + contribution


def _draw_node(axes: Axes, spot: Placed, with_sum: bool) -> Patch:
    """A box for an input, with the sum of its gradients if asked for; a circle around the sign for an operation."""
    x, y = spot.x * COLUMN, -spot.y * ROW
    shape: Patch
    if spot.op:
        sign = SYMBOLS.get(spot.op, spot.op)
        shape = Circle((x, y), 0.25, facecolor="white", edgecolor=INK, linewidth=1.4, zorder=3)
        axes.text(x, y, sign, ha="center", va="center", fontsize=15 if len(sign) == 1 else 9, zorder=4)
    else:
        shape = FancyBboxPatch((x - 0.16, y - 0.15), 0.32, 0.3, boxstyle="round,pad=0.05", zorder=3)
        shape.set(facecolor="#e3eff7", edgecolor=BLUE, linewidth=1.4)
        text = spot.node.name or f"{spot.node.value:g}"
        axes.text(x, y, text, ha="center", va="center", fontsize=11, fontweight="bold", zorder=4)
        if with_sum:
            axes.text(
                x, y - 0.3, f"sum {_signed(spot.node.grad)}", ha="center", va="top", fontsize=10, color=VERMILLION
            )
    axes.add_patch(shape)
    return shape


def _arrow(axes: Axes, ends: tuple[Placed, Placed], shapes: tuple[Patch, Patch], bend: float) -> None:
    start, end = ((spot.x * COLUMN, -spot.y * ROW) for spot in ends)
    arrow = FancyArrowPatch(
        start, end, patchA=shapes[0], patchB=shapes[1], shrinkA=1, shrinkB=1, arrowstyle="-|>", mutation_scale=11,
        connectionstyle=f"arc3,rad={bend}", color=GRAY, linewidth=1.3, zorder=2,
    )  # fmt: skip
    axes.add_patch(arrow)


def _bend(step: Step, index: int, placed: dict[int, Placed]) -> float:
    """How far the arrow of an input swings out: both ways if it is used twice, around the others if it is far."""
    number = step.inputs[index]
    start, end = placed[id(number)], placed[id(step.output)]
    if step.inputs.count(number) > 1:
        return 0.32 if index == 0 else -0.32
    if end.x - start.x <= 1:
        return 0.0
    return 0.22 if start.y > 0 else -0.28


def _middle(start: Placed, end: Placed, bend: float) -> tuple[float, float]:
    """The middle of a quadratic curve whose control point lies beside the straight line, as arc3 has it."""
    x0, y0, x1, y1 = start.x * COLUMN, -start.y * ROW, end.x * COLUMN, -end.y * ROW
    return (x0 + x1) / 2 + bend * (y1 - y0) / 2, (y0 + y1) / 2 - bend * (x1 - x0) / 2


def _label(axes: Axes, start: Placed, end: Placed, bend: float, number: Number, flows_back: float | None) -> None:
    """Value and contribution at the middle of an arrow, on a white ground; the name too, if it is a result."""
    x, y = _middle(start, end, bend)
    _numbers(axes, x, y, f"{number.name} = {_signed(number.value)}" if start.op else _signed(number.value), flows_back)


def _output(axes: Axes, spot: Placed, shape: Patch, number: Number, backward: bool) -> None:
    x, y = spot.x * COLUMN, -spot.y * ROW
    arrow = FancyArrowPatch(
        (x, y), (x + 1.4, y), patchA=shape, shrinkA=1, shrinkB=0, arrowstyle="-|>", mutation_scale=11, color=GRAY,
        linewidth=1.3, zorder=2,
    )  # fmt: skip
    axes.add_patch(arrow)
    _numbers(axes, x + 0.8, y, f"{number.name} = {_signed(number.value)}", number.grad if backward else None)


def _numbers(axes: Axes, x: float, y: float, text: str, flows_back: float | None) -> None:
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    axes.text(x, y + 0.07, text, ha="center", va="bottom", fontsize=10, zorder=5, bbox=ground)
    if flows_back is not None:
        text = _signed(flows_back)
        axes.text(x, y - 0.07, text, ha="center", va="top", fontsize=10, color=VERMILLION, zorder=5, bbox=ground)


def _signed(value: float | None) -> str:
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def _describe(steps: Sequence[Step], backward: bool) -> str:
    """The circuit in words: each line with its value, and then each gradient."""
    forward = [
        f"{step.op} of {' and '.join(number.name or f'{number.value:g}' for number in step.inputs)} "
        f"gives {step.output.name} = {step.output.value:.4g}"
        for step in steps
    ]
    names: dict[str, float | None] = {step.output.name: step.output.grad for step in reversed(steps)}
    names |= {number.name: number.grad for step in steps for number in step.inputs if number.name}
    gradients = ", ".join(f"{name} {grad or 0:.4g}" for name, grad in names.items())
    back = f" Below the arrows, what flows back; gradients: {gradients}." if backward else ""
    return f"Circuit of {len(steps)} operations: {'; '.join(forward)}.{back}"
