"""The visible checks of a4 on every known submission, and its reference against PyTorch's own optimisers.

Right submissions pass every visible check; the commonest mistakes are told in the words of their hint. The judge holds
students against the reference, so the reference is held against `torch.optim` here, over many settings.
"""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.assignment import load_assignment
from autograder.judge.reference import reference_names
from autograder.judge.run import Checks, load_faults
from autograder.records import Assignment, Role
from autograder.selftest import BankEntry, load_bank, notebook_of
from course_lib.checks import CheckFailed

torch = pytest.importorskip("torch")
from course_lib.checks import a4_modules_and_optimisers as checks  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
NAME = "a4_modules_and_optimisers"


@functools.cache
def assignment() -> Assignment:
    return load_assignment(NAME, ROOT)


@functools.cache
def bank() -> dict[str, BankEntry]:
    return {entry.name: entry for entry in load_bank(assignment())}


@functools.cache
def reference() -> dict[str, Any]:
    return reference_names(assignment())


def entries(kind: str) -> list[Any]:
    return [pytest.param(entry, id=name) for name, entry in bank().items() if entry.kind == kind]


def outcomes(
    entry: BankEntry | None = None, *, stubs: bool = False, only: tuple[str, ...] = ()
) -> dict[str, list[str | Exception]]:
    """For each tests cell (or those in `only`), what each of its checks printed or raised."""
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
        if not grade_id.startswith("test_"):
            _run(source, names)
        elif not only or grade_id in only:
            found[grade_id] = [_run(line, names) for line in source.splitlines()]
    return found


def _run(source: str, names: dict[str, Any]) -> str | Exception:
    try:
        exec(source, names)
    except Exception as error:
        return error
    return "ok"


def planted(fault: str) -> tuple[BankEntry, str]:
    """A bank entry with this mistake, and the tests cell that it spoils."""
    for entry in bank().values():
        for cell, verdict in entry.expected.items():
            if verdict.partition(":")[2] == fault:
                return entry, cell
    raise AssertionError(f"no bank entry plants {fault}")


@pytest.mark.parametrize("entry", entries("correct"))
def test_what_is_right_passes_every_check(entry: BankEntry, capsys: pytest.CaptureFixture[str]) -> None:
    # The digits take a second; they are read once, below.
    found = outcomes(entry, only=tuple(f"test_{cell}" for cell in entry.cells))
    if "test_fit" in found:
        assert found["test_fit"][-1] == "ok"
    assert {result for cell in found.values() for result in cell} == {"ok"}
    assert "ok   " in capsys.readouterr().out


def test_the_reference_passes_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    results = [result for cell in outcomes().values() for result in cell]
    assert set(results) == {"ok"}
    assert sum(line.startswith("ok   ") for line in capsys.readouterr().out.splitlines()) == len(results) > 30


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # wrong code divides by zero and calls schedulers in the wrong order
@pytest.mark.parametrize("entry", entries("fault"))
def test_what_is_wrong_is_seen_and_told_in_one_line(entry: BankEntry) -> None:
    wrong = tuple(entry.expected)
    for cell, results in outcomes(entry, only=wrong).items():
        errors = [error for error in results if error != "ok"]
        assert errors, f"no visible check of {cell} sees this mistake"
        for error in errors:
            if isinstance(error, CheckFailed):
                assert "\n" not in str(error) and 30 < len(str(error)) < 700


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("affine-plain-tensors", "Only an `nn.Parameter` that is an attribute of the module counts"),
        ("affine-not-transposed", "Which of its axes meets the features of x"),
        ("standardise-plain-tensors", "register_buffer"),
        ("standardise-mode-ignored", "statistics of the right mode"),
        ("block-plain-list", "of a kind that the module looks into"),
        ("sgd-velocity-forgotten", "v is 2 after the first step"),
        ("sgd-rate-of-the-start", "Options are read from the group at every step"),
        ("sgd-velocity-is-the-gradient", "share its memory with p.grad"),
        ("sgd-memory-outside-state", "stands in `self.state[p]`"),
        ("rmsprop-eps-in-the-root", "Is eps added after the root"),
        ("adam-no-correction", "m_hat is 2 and v_hat is 4"),
        ("adam-count-of-all-steps", "it belongs to self.state[p]"),
        ("snapshot-model-not-copied", "hands out the model's own tensors"),
        ("snapshot-spoilt-by-restore", "load_state_dict does not always copy"),
        ("fit-gradients-not-cleared", "were still in p.grad"),
        ("fit-never-moves", "Three things must happen to each group"),
        ("fit-means-added", "three times the weight"),
        ("fit-last-batch-of-a-group-only", "when are they cleared"),
        ("fit-mode-as-it-came", "Which one did the model come in"),
        ("fit-history-mean-of-means", "Each row counts once"),
    ],
)
def test_the_commonest_mistakes_meet_the_hint_that_helps(fault: str, words: str) -> None:
    entry, cell = planted(fault)
    said = " ".join(str(error) for error in outcomes(entry, only=(cell,))[cell] if error != "ok")
    assert words in said


def test_untouched_cells_are_said_to_be_untouched() -> None:
    for grade_id, results in outcomes(stubs=True).items():
        for error in results:
            assert isinstance(error, CheckFailed)
            assert "is not written yet" in str(error), grade_id


# --- the reference against PyTorch ----------------------------------------------------------------------------------

SGD_SETTINGS = [
    {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": decay}
    for lr, momentum, nesterov, decay in itertools.product((0.01, 0.3), (0.0, 0.5, 0.9), (False, True), (0.0, 0.1))
    if momentum or not nesterov
]
RMSPROP_SETTINGS = [
    {"lr": lr, "alpha": alpha, "eps": eps}
    for lr, alpha, eps in itertools.product((0.01, 0.3), (0.5, 0.99), (1e-8, 0.2))
]
ADAM_SETTINGS = [
    {"lr": lr, "betas": betas, "eps": eps, "weight_decay": decay}
    for lr, betas, eps, decay in itertools.product((0.001, 0.2), ((0.9, 0.999), (0.5, 0.8)), (1e-8, 0.2), (0.0, 0.3))
]


def problem(dtype: str, steps: int = 12, seed: int = 0) -> tuple[dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    rng = np.random.default_rng(seed)
    shapes = {"matrix": (3, 4), "turned": (4, 2), "number": (), "vector": (5,)}
    start = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    gradients = [{n: np.asarray(rng.normal(size=s), dtype=dtype) for n, s in shapes.items()} for _ in range(steps)]
    for k in (0, 2, 7):
        del gradients[k]["vector"]
    return {name: np.asarray(value) for name, value in start.items()}, gradients


def require_equal(ours: str, theirs: Any, options: dict[str, Any], dtype: str, extra: dict[str, Any]) -> None:
    start, gradients = problem(dtype)
    for how in (
        {"transposed": ["turned"], "in_place": True},
        {"gamma": 0.7},
        {"groups": [{"names": ["matrix", "number"]}, {"names": ["turned", "vector"], "lr": 0.07}]},
        {"reload_after": 5, "fresh": {"lr": 0.5}},
    ):
        got = checks.drive(reference()[ours], options | extra, start, gradients, **how)["parameters"]
        wanted = checks.drive(theirs, options, start, gradients, **how)["parameters"]
        rtol = 1e-12 if dtype == "float64" else 2e-5
        for here, right in zip(got, wanted, strict=True):
            for name, value in right.items():
                assert here[name].dtype == value.dtype == dtype
                np.testing.assert_allclose(here[name], value, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("options", SGD_SETTINGS, ids=str)
def test_the_reference_sgd_is_that_of_torch(options: dict[str, Any], dtype: str) -> None:
    require_equal("SGD", torch.optim.SGD, options, dtype, {})


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("options", RMSPROP_SETTINGS, ids=str)
def test_the_reference_rmsprop_is_that_of_torch(options: dict[str, Any], dtype: str) -> None:
    require_equal("RMSProp", torch.optim.RMSprop, options, dtype, {})


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("options", ADAM_SETTINGS, ids=str)
def test_the_reference_adam_is_that_of_torch(options: dict[str, Any], decoupled: bool, dtype: str) -> None:
    theirs = torch.optim.AdamW if decoupled else torch.optim.Adam
    require_equal("Adam", theirs, options, dtype, {"decoupled": decoupled})


def test_the_defaults_of_the_reference_are_those_of_the_text() -> None:
    p = [torch.nn.Parameter(torch.ones(1))]
    stated("`SGD(params, lr, momentum=0.0, nesterov=False, weight_decay=0.0)`")
    stated("`RMSProp(params, lr=0.01, alpha=0.99, eps=1e-8)`")
    assert reference()["SGD"](p, lr=1.0).defaults == {"lr": 1, "momentum": 0, "nesterov": False, "weight_decay": 0}
    assert reference()["RMSProp"](p).defaults == {"lr": 0.01, "alpha": 0.99, "eps": 1e-8}


def test_the_reference_layer_is_that_of_torch() -> None:
    mine, theirs = reference()["Standardise"](3, momentum=0.3), torch.nn.BatchNorm1d(3, momentum=0.3, affine=False)
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(mine(x), theirs(x))
    torch.testing.assert_close(mine.running_mean, theirs.running_mean)
    # PyTorch keeps the variance with N - 1; the text asks for N.
    torch.testing.assert_close((mine.running_var - 0.7) * 40 / 39, theirs.running_var - 0.7)


# --- faults, delegation and the text --------------------------------------------------------------------------------


@pytest.mark.slow
def test_delegation_is_flagged_and_costs_nothing() -> None:
    entry = bank()["right_numbers_delegated"]
    found = Checks(assignment()).run_on_reference(dict(entry.cells))
    assert {str(check.verdict) for cell in found.checks.values() for check in cell} == {"passed"}
    assert len(found.noticed) == 3
    assert [word in " ".join(found.noticed) for word in ("Linear", "SGD worked", "RMSProp worked")] == [True] * 3
    assert Checks(assignment()).run_on_reference().noticed == ()


def test_mistakes_that_are_looked_for_in_twos_exist() -> None:
    faults = load_faults(assignment())
    assert sum(fault.pairs for fault in faults) > 20
    assert all(not fault.pairs or fault.edits for fault in faults)


@functools.cache
def prose() -> str:
    return "\n".join(c.source for c in assignment().notebooks[0].cells if c.kind == "markdown")


def stated(*sentences: str) -> None:
    for sentence in sentences:
        assert sentence in prose()


def test_the_numbers_of_the_modules_are_right() -> None:
    stated(
        "the result is `[13, 22]`",
        "`running_mean = [0.2]` and `running_var = [1.0]`",
        "the concatenation is `[2, 4, 1, 2]`",
    )
    affine = reference()["Affine"](3, 2)
    affine.load_state_dict(
        {"weight": torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]), "bias": torch.tensor([10.0, 20.0])}
    )
    assert affine(torch.ones(3)).tolist() == [13, 22]
    layer = reference()["Standardise"](1)
    assert [round(v, 3) for v in layer(torch.tensor([[1.0], [3.0]])).flatten().tolist()] == [-1, 1]
    assert round(layer.running_mean.item(), 6) == 0.2 and layer.running_var.item() == 1
    double = torch.nn.Linear(2, 2, bias=False)
    double.weight.data = 2 * torch.eye(2)
    for mode, wanted in (("sum", [3, 6]), ("cat", [2, 4, 1, 2])):
        block = reference()["ParallelBlock"]([double, torch.nn.Identity()], mode)
        assert block(torch.tensor([1.0, 2.0])).tolist() == wanted


def test_the_numbers_of_the_optimisers_are_right() -> None:
    stated(
        "`p` is 0.8, then 0.42",
        "so `p` is 0.62",
        "`v` is 1, and `p` becomes 0.8",
        "`p` becomes 0.9",
        "it would be 0.68",
    )

    def after(name: str, gradients: list[float], **options: Any) -> list[float]:
        given = [{"p": np.array([float(g)])} for g in gradients]
        found = checks.drive(reference()[name], options, {"p": np.ones(1)}, given)["parameters"]
        return [round(float(here["p"][0]), 9) for here in found]

    assert after("SGD", [2, 2], lr=0.1, momentum=0.9) == [0.8, 0.42]
    assert after("SGD", [2], lr=0.1, momentum=0.9, nesterov=True) == [0.62]
    assert (
        after("RMSProp", [2], lr=0.1, alpha=0.75, eps=0.0)
        == after("RMSProp", [200], lr=0.1, alpha=0.75, eps=0.0)
        == [0.8]
    )
    assert after("Adam", [2], lr=0.1, eps=0.0) == [0.9]
    assert round(1 - 0.1 * 0.2 / np.sqrt(0.004), 2) == 0.68


def test_the_points_in_the_table_are_those_of_the_cells() -> None:
    graded = assignment().notebooks[0].graded()
    for number, cell in enumerate(graded, 1):
        assert cell.grade_id is not None
        stated(f"| {number} | `{cell.grade_id.removeprefix('test_')}` | {cell.points:g} |")
    assert sum(cell.points for cell in graded) == 20
