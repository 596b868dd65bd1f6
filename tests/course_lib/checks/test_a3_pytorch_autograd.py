"""The visible checks of a3 on every known submission: they pass what is right and say something about what is wrong."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.assignment import load_assignment
from autograder.judge.reference import reference_names
from autograder.records import Assignment, Role
from autograder.selftest import BankEntry, load_bank, notebook_of
from course_lib.checks import CheckFailed
from course_lib.checks.a3_pytorch_autograd import laid_out, mixed

ROOT = Path(__file__).resolve().parents[3]
NAME = "a3_pytorch_autograd"


@functools.cache
def assignment() -> Assignment:
    return load_assignment(NAME, ROOT)


@functools.cache
def bank() -> list[BankEntry]:
    return load_bank(assignment())


def entries(kind: str) -> list[Any]:
    return [pytest.param(entry, id=entry.name) for entry in bank() if entry.kind == kind]


def outcomes(entry: BankEntry | None = None, *, stubs: bool = False) -> dict[str, list[str | Exception]]:
    """For each tests cell, what each of its checks printed or raised, the student's other cells having run before.

    Only the tests cells of what the entry changes are run: an exercise does not use the others.
    """
    cells = dict(entry.cells) if entry else {}
    if stubs:
        own = assignment().notebooks[0].cells
        cells = {c.grade_id: c.released for c in own if c.role is Role.SOLUTION and c.grade_id}
    notebook = json.loads(notebook_of(assignment(), cells, entry.extra if entry else ()))
    names: dict[str, Any] = {}
    found: dict[str, list[str | Exception]] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if cell["cell_type"] != "code" or "%pip" in source:
            continue
        is_tests = grade_id.startswith("test_")
        if is_tests and cells and grade_id.removeprefix("test_") not in cells:
            continue
        results = [_run(line, names) for line in (source.splitlines() if is_tests else [source])]
        if is_tests:
            found[grade_id] = results
    return found


def _run(source: str, names: dict[str, Any]) -> str | Exception:
    try:
        exec(source, names)
    except Exception as error:
        return error
    return "ok"


def errors_of(name: str) -> str:
    """All that the checks say about one entry of the bank."""
    entry = next(entry for entry in bank() if entry.name == name)
    return " ".join(str(error) for results in outcomes(entry).values() for error in results if error != "ok")


def test_the_reference_passes_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    results = [result for cell in outcomes().values() for result in cell]
    assert set(results) == {"ok"}
    assert sum(line.startswith("ok   ") for line in capsys.readouterr().out.splitlines()) == len(results) > 25


@pytest.mark.parametrize("entry", entries("correct"))
def test_what_is_right_passes_every_check(entry: BankEntry) -> None:
    assert {result for cell in outcomes(entry).values() for result in cell} == {"ok"}


@pytest.mark.filterwarnings("ignore::UserWarning")  # wrong code makes torch warn
@pytest.mark.parametrize("entry", entries("fault"))
def test_what_is_wrong_is_told_in_one_line(entry: BankEntry) -> None:
    errors = [error for results in outcomes(entry).values() for error in results if error != "ok"]
    assert errors, "no visible check sees this mistake"
    for error in errors:
        if isinstance(error, CheckFailed):
            assert "\n" not in str(error) and 30 < len(str(error)) < 600


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong_manual_autograd", "Inside inference_mode"),
        ("wrong_manual_flat_b", "b has shape (N, 1), also after a sum"),
        ("wrong_gradients_none", "slope 0 everywhere"),
        ("wrong_gradients_backward", "goes into `.grad` of every leaf"),
        ("wrong_jacobian_piles_up", "added up over the loop"),
        ("wrong_squareplus_no_grad_y", "gradient that comes in times the slope"),
        ("wrong_squareplus_attribute", "out of PyTorch's sight"),
        ("wrong_squareplus_slope_saved", "start from the saved tensors"),
        ("wrong_squareplus_numpy", "reads numbers out of the tensor"),
        ("wrong_power_scale_needs", "one entry for each argument of forward"),
        ("wrong_penalty_constant", "constant for autograd"),
        ("wrong_penalty_marks", "`detach()` gives you one of your own"),
        ("wrong_train_no_zero", "adds to what is in `.grad` already"),
        ("wrong_train_broadcast", "(N, 1) minus (N,) is (N, N)"),
        ("wrong_train_update_lost", "This parameter did not move"),
        ("wrong_train_plain_tensors", "under no_grad does not require gradients"),
        ("wrong_train_losses_attached", "keeps its graph"),
        ("wrong_train_history", "recorded as a part of the network"),
        ("wrong_train_shared_numbers", "detach() shares its numbers"),
    ],
)
def test_the_commonest_mistakes_meet_the_hint_that_helps(name: str, words: str) -> None:
    assert words in errors_of(name)


def test_untouched_cells_are_said_to_be_untouched() -> None:
    for grade_id, results in outcomes(stubs=True).items():
        for error in results:
            assert isinstance(error, CheckFailed), (grade_id, error)
            assert "is not written yet" in str(error), grade_id


def test_layouts_change_where_numbers_lie_and_nothing_else() -> None:
    values = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for layout in ("transposed", "strided"):
        tensor = laid_out(values, layout)
        assert not tensor.is_contiguous() and tensor.is_leaf and tensor.dtype == torch.float32
        assert torch.equal(tensor, laid_out(values))
        assert laid_out(np.float64(2), layout).shape == ()


def test_the_function_for_jacobians_is_not_contiguous_and_mixes_everything() -> None:
    x, weights = torch.arange(6, dtype=torch.float64).reshape(2, 3), torch.rand(6, 6, dtype=torch.float64) + 0.1
    assert not mixed(x, weights, (3, 2)).is_contiguous()
    derivatives = torch.func.jacrev(mixed)(x, weights, (3, 2))
    assert derivatives.shape == (3, 2, 2, 3) and (derivatives != 0).all()


# --- the worked numbers of the notebook -----------------------------------------------------------------------------


@functools.cache
def prose() -> str:
    return "\n".join(c.source for c in assignment().notebooks[0].cells if c.kind == "markdown")


@functools.cache
def reference() -> dict[str, Any]:
    return reference_names(assignment())


def stated(*sentences: str) -> None:
    for sentence in sentences:
        assert sentence in prose()


def double(values: Any, *, requires_grad: bool = False) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def test_the_numbers_of_the_manual_gradients_are_right() -> None:
    stated("`y = [[0, 0.462]]`, `loss = 0.107`", "grows by 0.000363", "`grad_b` is `[[0.363]]`", "is `[0, 0.727]`")
    x, w, b = double([[1, 2]]), double([0.5, 0.5]), double([[-0.5]])
    loss, _, grad_w, grad_b = reference()["manual_gradients"](x, w, b)
    raised = reference()["manual_gradients"](x, w, b + 0.001)[0]
    assert round(float(torch.tanh(x * w + b)[0, 1]), 3) == 0.462 and round(float(loss), 3) == 0.107
    assert round(float(raised - loss), 6) == 0.000363 or round(float(raised - loss), 5) == 0.00036
    assert round(float(grad_b), 3) == 0.363 and [round(v, 3) for v in grad_w.tolist()] == [0, 0.727]


def test_the_numbers_of_gradients_and_products_are_right() -> None:
    stated("`([6, 12], [[0]])`", "`[[3, 2], [1, 1], [0, 6]]`", "the product is `[13, 612]`")
    found = reference()["gradients"](lambda a, b: 3 * (a**2).sum(), [double([1, 2]), double([[5]])])
    assert [value.tolist() for value in found] == [[6, 12], [[0]]]

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x[0] * x[1], x[0] + x[1], x[1] ** 2])

    assert reference()["jacobian"](f, double([2, 3])).tolist() == [[3, 2], [1, 1], [0, 6]]
    assert reference()["vjp"](f, double([2, 3]), double([1, 10, 100]))[1].tolist() == [13, 612]


def test_the_numbers_of_the_two_operations_are_right() -> None:
    stated("`y = [2, 0.5]`", "`[0.8, 0.2]`", "`[8, 20]` goes out", "at 1.5 is 0.128")
    x = double([1.5, -1.5], requires_grad=True)
    y = reference()["Squareplus"].apply(x)
    (first,) = torch.autograd.grad(y, x, double([10, 100]), create_graph=True)
    (second,) = torch.autograd.grad(first[0] / 10, x)
    assert y.tolist() == [2, 0.5] and torch.allclose(first, double([8, 20])) and round(float(second[0]), 9) == 0.128
    stated("`y = [[1, 8], [3, 16]]`", "`[[1, 4], [1, 4]]` goes out to `a` and `[8, 24]` to `b`")
    a, b = double([[1, 2], [3, 4]], requires_grad=True), double([1, 2], requires_grad=True)
    y = reference()["PowerScale"].apply(a, b, 2)
    assert y.tolist() == [[1, 8], [3, 16]]
    grads = torch.autograd.grad(y.sum(), [a, b])
    assert [value.tolist() for value in grads] == [[[1, 4], [1, 4]], [8, 24]]


def test_the_numbers_of_the_penalty_are_right() -> None:
    stated("`L = 0.5 + 0.1 * 25 = 3`", "`[1, 0] + 0.1 * [6, 8] = [1.6, 0.8]`")
    w = double([3, 4], requires_grad=True)
    loss = reference()["penalised_loss"](lambda x: x @ w, double([[1, 0], [0, 1]]), double([2, 4]), 0.1)
    loss.backward()
    assert w.grad is not None
    assert float(loss) == pytest.approx(3) and w.grad.tolist() == pytest.approx([1.6, 0.8])


def test_the_references_of_exercises_4_and_5_pass_pytorchs_own_checks() -> None:
    """gradcheck and gradgradcheck, an oracle that the hidden checks do not use."""
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    a, b = torch.randn(2, 3, dtype=torch.float64, requires_grad=True), torch.rand(3, dtype=torch.float64) + 0.5
    b.requires_grad_()
    square, scale = reference()["Squareplus"].apply, reference()["PowerScale"].apply
    for test in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        assert test(square, (x,)) and test(scale, (a, b, 3)) and test(scale, (b, a.exp().detach(), -1))


def test_the_points_in_the_table_are_those_of_the_cells() -> None:
    rows = ["`manual_gradients`", "`gradients`", "`vjp` and `jacobian`", "`Squareplus`", "`PowerScale`"]
    rows += ["`penalised_loss`", "`train`"]
    graded = assignment().notebooks[0].graded()
    for number, (row, cell) in enumerate(zip(rows, graded, strict=True), 1):
        stated(f"| {number} | {row} | {cell.points:g} |")
    assert sum(cell.points for cell in graded) == 20
