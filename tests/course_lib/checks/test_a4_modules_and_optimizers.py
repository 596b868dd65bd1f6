"""The reference of a4 against PyTorch's own optimizers, over many settings, and the numbers of its text.

The judge holds students against the reference, so the reference is held against `torch.optim` here.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from autograder.judge.run import Checks, load_faults
from course_lib.checks import CheckFailed
from tests.course_lib.checks.visible import Visible
from tests.sampling import sample
from tests.when_used import when_used

torch = when_used("torch")
checks = when_used("course_lib.checks.a4_modules_and_optimizers")
ONE = Visible("a4_modules_and_optimizers")
pytestmark = pytest.mark.slow


SGD = [
    {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": decay}
    for lr, momentum, nesterov, decay in itertools.product((0.01, 0.3), (0.0, 0.5, 0.9), (False, True), (0.0, 0.1))
    if momentum or not nesterov
]
RMSPROP = [
    {"lr": lr, "alpha": alpha, "eps": eps}
    for lr, alpha, eps in itertools.product((0.01, 0.3), (0.5, 0.99), (1e-8, 0.2))
]
ADAM = [
    {"lr": lr, "betas": betas, "eps": eps, "weight_decay": decay}
    for lr, betas, eps, decay in itertools.product((0.001, 0.2), ((0.9, 0.999), (0.5, 0.8)), (1e-8, 0.2), (0.0, 0.3))
]
SETTINGS = [
    *(("SGD", "SGD", options, {}) for options in sample("a4 SGD", SGD, 5)),
    *(("RMSProp", "RMSprop", options, {}) for options in sample("a4 RMSPROP", RMSPROP, 3)),
    *(("Adam", "Adam", options, {"decoupled": False}) for options in sample("a4 ADAM", ADAM, 5)),
    *(("Adam", "AdamW", options, {"decoupled": True}) for options in sample("a4 ADAM", ADAM, 5)),
]
"""the name of ours, the name of PyTorch's, what both get, what only ours gets"""


def problem(dtype: str, steps: int = 12, seed: int = 0) -> tuple[dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    rng = np.random.default_rng(seed)
    shapes = {"matrix": (3, 4), "turned": (4, 2), "number": (), "vector": (5,)}
    start = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    gradients = [{n: np.asarray(rng.normal(size=s), dtype=dtype) for n, s in shapes.items()} for _ in range(steps)]
    for k in (0, 2, 7):
        del gradients[k]["vector"]
    return {name: np.asarray(value) for name, value in start.items()}, gradients


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("ours", "theirs", "options", "extra"), SETTINGS, ids=str)
def test_the_reference_optimizers_are_those_of_torch(
    ours: str, theirs: str, options: dict[str, Any], extra: dict[str, Any], dtype: str
) -> None:
    start, gradients = problem(dtype)
    for how in (
        {"transposed": ["turned"], "in_place": True},
        {"gamma": 0.7},
        {"groups": [{"names": ["matrix", "number"]}, {"names": ["turned", "vector"], "lr": 0.07}]},
        {"reload_after": 5, "fresh": {"lr": 0.5}},
    ):
        got = checks.drive(ONE.reference[ours], options | extra, start, gradients, **how)["parameters"]
        wanted = checks.drive(getattr(torch.optim, theirs), options, start, gradients, **how)["parameters"]
        rtol = 1e-12 if dtype == "float64" else 2e-5
        for here, right in zip(got, wanted, strict=True):
            for name, value in right.items():
                assert here[name].dtype == value.dtype == dtype
                np.testing.assert_allclose(here[name], value, rtol=rtol, atol=rtol)


def test_the_defaults_of_the_reference_are_those_of_the_text() -> None:
    p = [torch.nn.Parameter(torch.ones(1))]
    ONE.stated("`SGD(params, lr, momentum=0.0, nesterov=False, weight_decay=0.0)`")
    ONE.stated("`RMSProp(params, lr=0.01, alpha=0.99, eps=1e-8)`")
    assert ONE.reference["SGD"](p, lr=1.0).defaults == {"lr": 1, "momentum": 0, "nesterov": False, "weight_decay": 0}
    assert ONE.reference["RMSProp"](p).defaults == {"lr": 0.01, "alpha": 0.99, "eps": 1e-8}


def test_the_reference_layer_is_that_of_torch() -> None:
    mine, theirs = ONE.reference["Standardize"](3, momentum=0.3), torch.nn.BatchNorm1d(3, momentum=0.3, affine=False)
    x = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(mine(x), theirs(x))
    torch.testing.assert_close(mine.running_mean, theirs.running_mean)
    # PyTorch keeps the variance with N - 1; the text asks for N.
    torch.testing.assert_close((mine.running_var - 0.7) * 40 / 39, theirs.running_var - 0.7)


@pytest.mark.long
def test_delegation_is_flagged_and_costs_what_the_delegate_cannot_do() -> None:
    entry = ONE.bank["wrong_numbers_delegated"]
    found = Checks(ONE.assignment).run_on_reference(dict(entry.cells))
    failed = [check.name for cell in found.checks.values() for check in cell if str(check.verdict) != "passed"]
    assert failed == ["test_steps_of_sgd"]
    assert len(found.noticed) == 3
    assert all(word in " ".join(found.noticed) for word in ("Linear", "SGD worked", "RMSProp worked"))
    assert Checks(ONE.assignment).run_on_reference().noticed == ()
    assert all(fault.edits for fault in load_faults(ONE.assignment) if fault.pairs), "looked for in twos, they exist"


def test_a_bias_that_cannot_be_switched_off_is_told_though_it_is_zero() -> None:
    def stubborn(*sizes: int, bias: bool = True) -> Any:
        layer = ONE.reference["Affine"](*sizes, bias=bias)
        layer.bias = layer.bias if bias else torch.nn.Parameter(torch.zeros(sizes[1]))
        return layer

    checks.affine_without_bias(ONE.reference["Affine"])
    with pytest.raises(CheckFailed, match="if `bias` is False"):
        checks.affine_without_bias(stubborn)


def test_the_numbers_of_the_modules_are_right() -> None:
    ONE.stated("the result is `[13, 22]`", "`running_mean = [0.2]` and `running_var = [1.0]`")
    ONE.stated("the concatenation is `[2, 4, 1, 2]`")
    affine = ONE.reference["Affine"](3, 2)
    weight, bias = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]), torch.tensor([10.0, 20.0])
    affine.load_state_dict({"weight": weight, "bias": bias})
    assert affine(torch.ones(3)).tolist() == [13, 22]
    layer = ONE.reference["Standardize"](1)
    assert [round(v, 3) for v in layer(torch.tensor([[1.0], [3.0]])).flatten().tolist()] == [-1, 1]
    assert round(layer.running_mean.item(), 6) == 0.2 and layer.running_var.item() == 1
    double = torch.nn.Linear(2, 2, bias=False)
    double.weight.data = 2 * torch.eye(2)
    for mode, wanted in (("sum", [3, 6]), ("cat", [2, 4, 1, 2])):
        block = ONE.reference["ParallelBlock"]([double, torch.nn.Identity()], mode)
        assert block(torch.tensor([1.0, 2.0])).tolist() == wanted


def test_the_numbers_of_the_optimizers_are_right() -> None:
    ONE.stated("`p` is 0.8, then 0.42", "so `p` is 0.62", "`v` is 1, and `p` becomes 0.8", "`p` becomes 0.9")
    ONE.stated("it would be 0.68")

    def after(name: str, gradients: list[float], **options: Any) -> list[float]:
        given = [{"p": np.array([float(g)])} for g in gradients]
        found = checks.drive(ONE.reference[name], {"lr": 0.1, **options}, {"p": np.ones(1)}, given)["parameters"]
        return [round(float(here["p"][0]), 9) for here in found]

    assert after("SGD", [2, 2], momentum=0.9) == [0.8, 0.42]
    assert after("SGD", [2], momentum=0.9, nesterov=True) == [0.62]
    assert after("RMSProp", [2], alpha=0.75, eps=0.0) == after("RMSProp", [200], alpha=0.75, eps=0.0) == [0.8]
    assert after("Adam", [2], eps=0.0) == [0.9]
    assert round(1 - 0.1 * 0.2 / np.sqrt(0.004), 2) == 0.68
