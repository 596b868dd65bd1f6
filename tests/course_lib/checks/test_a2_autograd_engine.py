"""a2: its reference against PyTorch, the programs that both are tried on, the numbers of its text, and its checks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from course_lib.checks.programs import (
    ELEMENTWISE,
    KINK,
    MATRIX,
    MOST,
    SHAPES,
    UNARY,
    Program,
    draw_program,
    simpler_ones,
    values_of,
)
from tests.course_lib.checks.visible import Visible, errors_of
from tests.when_used import when_used

torch = when_used("torch")
TWO = Visible("a2_autograd_engine")
EVERY = (*ELEMENTWISE, *UNARY, *SHAPES, *MATRIX)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def drawn(count: int, operations: Sequence[str] = EVERY, most: int = 12, **options: Any) -> list[Program]:
    generator = np.random.default_rng(20)
    return [draw_program(generator, operations, 1 + k % most, **options) for k in range(count)]


def by_tensors(program: Program) -> list[np.ndarray]:
    """The answers of the reference."""
    Tensor = TWO.reference["Tensor"]
    tensors = {name: Tensor(value, requires_grad=name[0] == "x") for name, value in program.leaves.items()}
    names = dict(tensors)
    exec(program.code(), names)
    names["y"].backward(program.gradient)
    return [names["y"].data, *(t.grad for name, t in tensors.items() if name[0] == "x")]


def _over(name: str) -> Callable[..., torch.Tensor]:
    def reduced(a: torch.Tensor, axis: int | tuple[int, ...] | None, keepdims: bool) -> torch.Tensor:
        axes = tuple(range(a.ndim)) if axis is None else axis
        return getattr(a, name)(axes, keepdim=keepdims) if a.ndim else getattr(a, name)()  # type: ignore[no-any-return]

    return reduced


def _of_two(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda a, b: function(*(torch.as_tensor(v, dtype=torch.float64) for v in (a, b)))


@functools.cache
def in_torch() -> dict[str, Callable[..., torch.Tensor]]:
    """Name of an operation in a program -> PyTorch's."""
    return {
        **{name: _of_two(getattr(torch, name)) for name in ("add", "sub", "mul", "div", "matmul")},
        **{name: getattr(torch, name) for name in ("neg", *UNARY)},
        "power": torch.pow,
        "sum": _over("sum"),
        "mean": _over("mean"),
        "reshape": lambda a, *shape: a.reshape(shape),
        "transpose": lambda a, *axes: a.permute(axes or tuple(range(a.ndim))[::-1]),
        "getitem": lambda a, index: a[index],
    }


def by_torch(program: Program) -> list[np.ndarray]:
    """PyTorch's answers."""
    tensors = {name: torch.tensor(v, requires_grad=name[0] == "x") for name, v in program.leaves.items()}
    y = program.run(tensors, in_torch())
    y.backward(torch.tensor(program.gradient))
    return [y.detach().numpy(), *(t.grad.numpy() for name, t in tensors.items() if name[0] == "x")]  # type: ignore[union-attr]


def test_the_reference_agrees_with_pytorch_on_thousands_of_programs() -> None:
    programs = [*drawn(1500, numbers=True), *drawn(500, ELEMENTWISE), *drawn(500, MATRIX, 3, shapes=STACKS)]
    programs += drawn(500, SHAPES, 4, shapes=[(2, 3, 4), (3,), (2, 1, 3)])
    for program in programs:
        for mine, theirs in zip(by_tensors(program), by_torch(program), strict=True):
            assert mine.shape == theirs.shape, program.code()
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9, err_msg=program.code())


STACKS = [(2, 2, 2), (2, 2), (3, 2, 2), (1, 2, 3), (3, 2), (2, 1, 2, 3), (3, 3, 2)]


def test_programs_use_every_operation_and_stay_away_from_kinks() -> None:
    programs = drawn(600, numbers=True)
    assert {step.op for p in programs for _, step in p.steps} == set(EVERY)
    assert np.mean([len(p.steps) for p in programs]) > 2 and max(len(p.steps) for p in programs) > 6
    for program in programs:
        known = values_of(program)
        used = {v for _, step in program.steps for v in step.of} | {"y"}
        assert set(known) <= used, "every value has a part in the result"
        assert np.shape(known["y"]) == program.gradient.shape
        assert all(np.abs(known[name]).max() <= MOST for name, _ in program.steps)
        assert all(np.abs(known[str(s.of[0])]).min() >= KINK for _, s in program.steps if s.op == "relu")


def test_a_program_is_taken_apart_from_the_smallest_part_to_the_whole() -> None:
    for program in drawn(100, numbers=True):
        parts = simpler_ones(program)
        assert parts[-1] is program
        sizes = [len(part.steps) for part in parts]
        assert sizes == sorted(sizes) and (
            sizes[0] == 1 or not any(v[0] == "x" for v in program.steps[0][1].of if isinstance(v, str))
        )
        for part in parts:
            exec(part.code(), {name: _Anything(value) for name, value in part.leaves.items()})
            assert np.isfinite(by_tensors(part)[0]).all(), part.code()


class _Anything(np.ndarray):
    """An array on which a program can be run as text."""

    def __new__(cls, value: np.ndarray) -> _Anything:
        return np.asarray(value).view(cls)

    def exp(self) -> Any:
        return np.exp(self)

    log = relu = tanh = exp


def test_the_same_secret_draws_the_same_programs() -> None:
    one, other = ([(p.code(), p.gradient.tolist()) for p in drawn(50)] for _ in range(2))
    assert one == other


def test_a_later_exercise_goes_on_when_an_earlier_cell_runs_again() -> None:
    """An error that is carried forward is mended so: behind the student's cell runs the reference's."""
    names: dict[str, Any] = {}
    sources = {c.grade_id: c.source for c in TWO.assignment.notebooks[0].cells if c.kind == "code" and c.grade_id}
    exec("import numpy as np", names)
    for grade_id in (
        "operators",
        "tensor",
        "backward",
        "arithmetic",
        "functions",
        "shapes",
        "matmul",
        "modes",
        "training",
    ):
        broken = sources[grade_id].replace("+", "-")
        for source in [sources[grade_id]] if grade_id in ("operators", "training") else [broken, sources[grade_id]]:
            exec(source, names)
    model = names["MLP"]([3, 4, 2], np.random.default_rng(0))
    losses = names["fit"](model, np.eye(3), np.array([0, 1, 1]), 0.5, [np.arange(3)] * 20)
    assert losses[-1] < losses[0] / 2


def test_the_failing_program_is_shown_in_the_students_own_names() -> None:
    entry = TWO.bank["wrong_sub_sign"]
    [message] = [e for e in errors_of(TWO.of_entry(entry)) if "programs" in e]
    assert "for `y = x0 - x" in message and "x0.grad" in message and "does a - b grow or fall" in message


@pytest.mark.parametrize(("entry", "words"), [
    ("wrong_tensor_shares", "`np.asarray` shares"),
    ("wrong_tensor_saves_list", "Note the number"),
    ("wrong_backward_overwritten", "9 + 9 = 18"),
    ("wrong_backward_recursion", "ended with RecursionError"),
    ("wrong_backward_paths", "were called 63 times"),
    ("wrong_backward_shares", "they are one array"),
    ("wrong_backward_used_is_leaf", "be told from a leaf"),
    ("wrong_unbroadcast_drops", "those of size 1, which stay"),
    ("wrong_relu_gradient_mask", "Follow the worked example"),
    ("wrong_getitem_repeats", "Follow the worked example"),
    ("wrong_matmul_all_axes", "Swap the last two axes alone"),
    ("wrong_no_grad_nested", "Remember what recording was"),
    ("wrong_detach_version", "Share the list"),
    ("wrong_loss_overflow", "Subtract the largest logit"),
    ("wrong_fit_not_cleared", "Old numbers lay in .grad"),
])  # fmt: skip
def test_a_mistake_meets_the_hint_that_helps(entry: str, words: str) -> None:
    assert words in " ".join(errors_of(TWO.of_entry(TWO.bank[entry])))


def test_the_numbers_of_the_first_exercises_are_right() -> None:
    TWO.stated(
        "`y.data` is `[3, 6]`", "is `([3, 30],)`", "which is 81", "`9 + 9 = 18` to `a`", "becomes `54`", "it is `57`"
    )
    Tensor = TWO.reference["Tensor"]

    def triple(a: Any) -> Any:
        return Tensor.from_op(3 * a.data, (a,), lambda gradient: (3 * gradient,))

    y = triple(Tensor([1, 2], requires_grad=True))
    assert y.data.tolist() == [3, 6] and y.vjp(np.array([1, 10]))[0].tolist() == [3, 30]
    x = Tensor(3, requires_grad=True)
    a = triple(x)
    p = a * a
    p.backward()
    assert (float(p.data), float(x.grad)) == (81, 54)
    triple(x).backward()
    assert float(x.grad) == 57


@pytest.mark.parametrize(("sentence", "code", "leaves", "gradient", "wanted"), [
    ("that for `a` is `[[60], [60]]` and that for `b` is `[3, 3, 3]`", "a * b",
     ([[1], [2]], [10, 20, 30]), np.ones((2, 3)), ([[60], [60]], [3, 3, 3])),
    ("if the gradient `[-5, -7]` arrives, `[0, -7]` is handed on", "a.relu()", ([-1, 2],), [-5, -7], ([0, -7],)),
    ("has the slope `1 - 0.462 ** 2 = 0.786`", "a.tanh()", ([0.5],), [1], ([0.786],)),
    ("that for `a` is `[10, 0, 50]`", "a[[0, 2, 2]]", ([1, 2, 3],), [10, 20, 30], ([10, 0, 50],)),
    ("if 6 arrives at `a.mean()`, that for `a` is `[2, 2, 2]`", "a.mean()", ([1, 2, 3],), 6, ([2, 2, 2],)),
    ("that for `a` is `[[43, 65]]` and that for `b` is `[[1, 10], [2, 20]]`", "a @ b",
     ([[1, 2]], [[3, 4], [5, 6]]), [[1, 10]], ([[43, 65]], [[1, 10], [2, 20]])),
])  # fmt: skip
def test_the_worked_examples_are_right(sentence: str, code: str, leaves: Any, gradient: Any, wanted: Any) -> None:
    TWO.stated(sentence)
    tensors = [TWO.reference["Tensor"](leaf, requires_grad=True) for leaf in leaves]
    eval(code, dict(zip("ab", tensors, strict=False))).backward(np.array(gradient, dtype=float))
    for tensor, right in zip(tensors, wanted, strict=True):
        np.testing.assert_allclose(tensor.grad, right, atol=6e-4)


def test_the_numbers_of_the_last_exercises_are_right() -> None:
    TWO.stated("`w.data` is `[11, 12]`, `w.version` is `[1]`", "`(0.127 + 0.693) / 2 = 0.410`")
    TWO.stated("`[[-0.06, 0.06], [0.25, -0.25]]`")
    names = TWO.reference
    w = names["Tensor"]([1, 2], requires_grad=True)
    y = (w * w).sum()
    with names["no_grad"]():
        w.add_(10)
    assert w.data.tolist() == [11, 12] and w.version == [1]
    with pytest.raises(RuntimeError):
        y.backward()
    logits = names["Tensor"]([[2, 0], [0, 0]], requires_grad=True)
    loss = names["cross_entropy"](logits, np.array([0, 1]))
    loss.backward()
    assert round(float(loss.data), 3) == 0.41
    np.testing.assert_allclose(logits.grad, [[-0.06, 0.06], [0.25, -0.25]], atol=6e-4)
