"""The hidden checks of a4: the sentences of the notebook, on inputs that nobody has seen.

Each docstring is what the student reads. Modules get weights, optimizers get gradients, `fit` gets everything from
here, so no check depends on a random number of the student's or on another exercise. Optimizers are held against the
reference; a test of this assignment holds the reference against `torch.optim`.
"""

from __future__ import annotations

import numpy as np
import pytest
from probes import (
    affine_facts,
    affine_results,
    affine_starts,
    fit_results,
    helpers_of_a_step,
    layers_inside,
    optimizer_closure,
    optimizer_steps,
    parallel_facts,
    parallel_results,
    standardize_facts,
    standardize_gradients,
    standardize_results,
    standardize_saved,
    there_and_back,
)

from autograder.judge import StudentError
from course_lib.compare import distance

# --- 1. Affine ------------------------------------------------------------------------------------------------------

# (in_features, out_features) and the other axes of x; square layers first, because there a transposed product has the
# right shape.
LAYERS = [((3, 3), (3,)), ((4, 2), (3,)), ((2, 5), ()), ((3, 3), (2, 4)), ((1, 1), (1,)), ((4, 2), (2, 1, 3))]


@pytest.mark.cell("test_affine")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [(3, 3), (4, 2)])
def test_parameters_of_affine(student, reference, expect, sizes, bias):
    """weight and bias are the only parameters, of the right shapes; without bias there is weight alone."""
    data = {"in_features": sizes[0], "out_features": sizes[1], "bias": bias}
    got, wanted = student.run(affine_facts, **data), reference.run(affine_facts, **data)
    found = f"named_parameters() gives {shapes(got['parameters'])}; it should give {shapes(wanted['parameters'])}."
    expect.true(got["parameters"] == wanted["parameters"], found, kind="keys")
    found = f"state_dict() holds {listed(got['state'])}; it should hold {listed(wanted['state'])}."
    expect.true(got["state"] == wanted["state"], found, kind="keys")
    expect.true(all(got["trained"].values()), "a parameter does not require a gradient.")
    found = "the attribute bias should be None with bias=False, and only then."
    expect.true(got["no bias"] == wanted["no bias"], found)
    expect.true(got["repeats"], "two calls with the same x give two results.")
    expect.true(got["doubled"] == "torch.float64", f"after .double() the result is {got['doubled']}.", kind="dtype")


@pytest.mark.cell("test_affine", weight=2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("sizes", "rows"), LAYERS)
def test_results_of_affine(student, reference, draw, expect, flag, sizes, rows, bias, dtype):
    """Result and gradients are right for given weights, for x with one axis or more, in float64 and float32."""
    arrays = {"weight": draw.normal((sizes[1], sizes[0]), dtype=dtype)}
    if bias:
        arrays["bias"] = draw.away_from_zero((sizes[1],), dtype=dtype)
    data = {"arrays": arrays, "x": draw.normal((*rows, sizes[0]), dtype=dtype)}
    data["cotangent"] = draw.normal((*rows, sizes[1]), dtype=dtype)
    got, wanted = student.run(affine_results, **data), reference.run(affine_results, **data)
    expect.close(got["y"], wanted["y"], "y")
    expect.true(got["y"].dtype == dtype, f"y is {got['y'].dtype}, and x is {dtype}.", kind="dtype")
    expect.close(got, wanted, "the layer")
    if len(rows) == 2:
        inside = student.run(layers_inside, in_features=3, out_features=2)
        if inside:
            flag(f"Affine is built on PyTorch's own {listed(inside)} (observed).")


@pytest.mark.cell("test_affine")
@pytest.mark.parametrize("bias", [True, False])
def test_start_of_affine(student, expect, bias):
    """weight and bias start anew for each layer, spread uniformly from -1/sqrt(in_features) to 1/sqrt(in_features)."""
    one, other = student.run(affine_starts, in_features=25, out_features=400, bias=bias, seed=0)
    bound = 1 / np.sqrt(25)
    for name, many in (("weight", 10_000), ("bias", 400))[: 1 + bias]:
        expect.form(one[name], np.zeros((400, 25) if name == "weight" else 400), name)
        values, others = one[name].array, other[name].array
        sentence = f"all numbers of {name} are equal at the start."
        fault = "affine-equal-numbers" if name == "weight" else "affine-bias-starts-equal"
        expect.true(np.ptp(values) > 0, sentence, fault=fault)
        sentence = f"two new layers have the same {name}."
        expect.true(not np.array_equal(values, others), sentence, fault="affine-same-numbers-every-time")
        largest = float(np.abs(values).max())
        sentence = f"{name} starts with numbers up to {largest:.3g} in size; they should lie within {bound:.3g}."
        expect.true(largest <= bound * 1.0001, sentence, fault="affine-start-range")
        # Even numbers have the standard deviation bound / sqrt(3), and its own standard error is sqrt(0.2 / many) times
        # as large. Ten standard errors are left as room: a right start is outside of it less than once in a million.
        even = bound / np.sqrt(3)
        for what, found, right, room in (
            ("mean", float(values.mean()), 0.0, 10 * even / np.sqrt(many)),
            ("standard deviation", float(values.std()), even, 10 * even * np.sqrt(0.2 / many)),
        ):
            sentence = f"{name} starts with the {what} {found:.3g}; evenly spread numbers have about {right:.3g}."
            of_out_features = name == "bias" and 0.9 < largest * np.sqrt(400) <= 1.0001
            fault = "affine-bias-range-of-out-features" if of_out_features else "affine-start-range"
            expect.true(abs(found - right) <= room, sentence, fault=fault)


# --- 2. Standardize -------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_standardize", weight=1.5)
@pytest.mark.parametrize("features", [3, 1])
def test_buffers_of_standardize(student, reference, draw, expect, features):
    """running_mean and running_var are buffers, start at 0 and 1, follow .double() and never require a gradient."""
    data = {"features": features, "x": draw.normal((4, features), dtype="float32")}
    got, wanted = student.run(standardize_facts, **data), reference.run(standardize_facts, **data)
    found = f"parameters() holds {listed(got['parameters'])}; the module should have none."
    fault = "standardize-parameters" if got["parameters"] == ["running_mean", "running_var"] else ""
    expect.true(got["parameters"] == wanted["parameters"], found, kind="keys", fault=fault)
    found = f"state_dict() holds {listed(got['state'])}; it should hold {listed(wanted['state'])}."
    expect.true(got["state"] == wanted["state"], found, kind="keys")
    expect.close(got["start"], wanted["start"], "the running statistics at the start")
    found = "after a call the running statistics require a gradient."
    expect.true(not any(got["requires grad"]), found, kind="graph", fault="standardize-keeps-graph")
    found = f"after .double() the running statistics are {listed(got['doubled'])}."
    expect.true(got["doubled"] == wanted["doubled"], found, kind="dtype")


@pytest.mark.cell("test_standardize", weight=2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("steps", [3, 1])
@pytest.mark.parametrize("sizes", [(3, 3), (5, 2), (2, 4)])
def test_both_modes_of_standardize(student, reference, draw, expect, sizes, steps, dtype):
    """Outputs in training and in evaluation are right, and so are the running statistics after each call."""
    data = standardizing(draw, sizes, steps, dtype)
    got, wanted = student.run(standardize_results, **data), reference.run(standardize_results, **data)
    expect.close(got["training"], wanted["training"], "y in training mode")
    expect.close(got["running"], wanted["running"], "the running statistics")
    expect.close(got["evaluation"], wanted["evaluation"], "y in evaluation mode")


@pytest.mark.cell("test_standardize", weight=1.5)
@pytest.mark.parametrize("sizes", [(4, 3), (3, 1)])
def test_gradient_of_standardize(student, reference, draw, expect, sizes):
    """In training the gradient flows through the batch's mean and variance too, call after call."""
    n, features = sizes
    data = {"features": features, "batches": [draw.normal((n, features), 2.0) + 1 for _ in range(2)]}
    data["cotangents"] = [draw.normal((n, features)) for _ in range(2)]
    got = student.run(standardize_gradients, **data)
    expect.close(got, reference.run(standardize_gradients, **data), "the gradient of x")


@pytest.mark.cell("test_standardize")
def test_state_of_standardize(student, reference, draw, expect):
    """A second layer that loads the first one's state_dict() evaluates as the first one does; a new layer is new."""
    data = {"features": 3, "batch": draw.normal((5, 3), 2.0) + 1, "later": draw.normal((2, 3))}
    got, wanted = student.run(standardize_saved, **data), reference.run(standardize_saved, **data)
    names = ["the first layer", "the layer that loaded its state", "a new layer"]
    expect.close(got, wanted, names=[f"y of {name}" for name in names])


def standardizing(draw, sizes, steps, dtype):
    n, features = sizes
    options = {"momentum": float(draw.uniform((), 0.2, 0.4)), "eps": float(draw.uniform((), 0.05, 0.15))}
    batches = [draw.normal((n, features), 1.5, dtype) + draw.normal((features,), 1.0, dtype) for _ in range(steps)]
    # In evaluation one row is enough, and it must not matter what the others are.
    later = draw.normal((1 if steps > 1 else 3, features), dtype=dtype)
    return {"features": features, "options": options, "batches": batches, "later": later}


# --- 3. ParallelBlock -----------------------------------------------------------------------------------------------


@pytest.mark.cell("test_parallel_block")
@pytest.mark.parametrize("branches", [2, 1, 4])
def test_parts_of_the_block(student, reference, expect, branches):
    """parameters(), state_dict(), .eval(), .train(), .double() reach every branch; another mode is refused."""
    data = {"branches": branches, "features": 3}
    got, wanted = student.run(parallel_facts, **data), reference.run(parallel_facts, **data)
    found = f"state_dict() holds {listed(got['state'])}; it should hold {listed(wanted['state'])}."
    renamed = len(got["state"]) == len(wanted["state"]) and got["state"] != wanted["state"]
    expect.true(not renamed, found, kind="keys", fault="block-other-names")
    expect.true(got["state"] == wanted["state"], found, kind="keys")
    found = f"parameters() gives {got['parameters']} tensors; the branches have {wanted['parameters']}."
    expect.true(got["parameters"] == wanted["parameters"], found, kind="length")
    for name in ("in training after eval", "in training after train", "dtypes after double"):
        found = f"the branches, {name}: {listed(got[name])}; it should be {listed(wanted[name])}."
        expect.true(got[name] == wanted[name], found)
    for mode, raised in got["another mode"].items():
        found = f"mode={mode!r} gives {raised}; it should raise ValueError."
        fault = "block-mode-not-checked" if raised == "no exception" else "block-another-exception"
        expect.true(raised == "ValueError", found, fault=fault)
    sentence = "The list that was handed over is no longer what it was."
    expect.true(got["list"] == wanted["list"], sentence, kind="changed", fault="block-changes-the-list")


@pytest.mark.cell("test_parallel_block", weight=2)
@pytest.mark.parametrize("mode", ["sum", "cat"])
@pytest.mark.parametrize("branches", [3, 1, 2])
@pytest.mark.parametrize("rows", [(3,), (2, 3), ()])
def test_results_of_the_block(student, reference, draw, expect, rows, branches, mode):
    """Result and all gradients are right for one or more branches and x with any number of axes."""
    data = joining(draw, rows, branches, mode)
    got, wanted = student.run(parallel_results, **data), reference.run(parallel_results, **data)
    expect.close(got["y"], wanted["y"], "y")
    expect.close(got, wanted, "the block")


@pytest.mark.cell("test_parallel_block")
@pytest.mark.parametrize("mode", ["sum", "cat"])
def test_block_with_a_skip(student, reference, draw, expect, mode):
    """With nn.Identity() as first or last branch, one module twice, or a tanh in each branch, the result is right, and
    again for the same x.
    """
    for how in ({"with_identity": "first"}, {"twice": True}, {"with_identity": "last"}, {"smooth": True}):
        data = joining(draw, (3,), 2, mode, **how)
        got, wanted = student.run(parallel_results, **data), reference.run(parallel_results, **data)
        expect.close(got, wanted, "the block")


def joining(draw, rows, branches, mode, with_identity="", twice=False, smooth=False):
    features = 3
    # Side by side the branches may differ in width; a sum needs one width.
    widths = [features if mode == "sum" else 2 + k for k in range(branches)]
    outputs = [features] * bool(with_identity) + widths + widths[: int(twice)]
    width = features if mode == "sum" else sum(outputs)
    data = {"weights": [draw.normal((w, features)) for w in widths], "mode": mode, "x": draw.normal((*rows, features))}
    return data | {
        "cotangent": draw.normal((*rows, width)),
        "with_identity": with_identity,
        "twice": twice,
        "smooth": smooth,
    }


# --- 4 to 6. optimizers ---------------------------------------------------------------------------------------------

STEPS = 7
LOOKED_AT = (1, 3, 7)


def options_of(draw, name, variant):
    """Options of one optimizer, so large that every term of its formulas shows."""
    rate = float(draw.uniform((), 0.1, 0.2))
    if variant == "defaults":
        return {}
    if name == "SGD":
        plain = {"lr": rate}
        momentum = plain | {"momentum": float(draw.uniform((), 0.6, 0.9))}
        decay = {"weight_decay": float(draw.uniform((), 0.2, 0.4))}
        found = {"plain": plain, "momentum": momentum, "nesterov": momentum | {"nesterov": True}}
        found |= {"uphill": momentum | {"lr": -rate}}
        return (found | {"decay": momentum | decay, "all": momentum | decay | {"nesterov": True}})[variant]
    eps = {"eps": float(draw.uniform((), 0.1, 0.3))}
    # A rate that torch.optim refuses: whoever hands the work on to it shows.
    rate, variant = (-rate, "eps") if variant == "uphill" else (rate, variant)
    if name == "RMSProp":
        return {"lr": rate, "alpha": float(draw.uniform((), 0.7, 0.9))} | (eps if variant == "eps" else {})
    betas = {"betas": (float(draw.uniform((), 0.6, 0.8)), float(draw.uniform((), 0.85, 0.95)))}
    adam = {"lr": rate} | betas | (eps if variant != "plain" else {})
    decay = {"weight_decay": float(draw.uniform((), 0.4, 0.8))}
    return adam | {"L2": decay, "decoupled": decay | {"decoupled": True}}.get(variant, {})


def problem(draw, steps=STEPS, dtype="float64", missing=False):
    """Starting values of four tensors and a gradient for each and each step.

    One tensor is a column by column view, one a single number; with `missing`, one has no gradient in some steps.
    """
    shapes = {"square": (3, 3), "vector": (4,), "number": (), "column by column": (2, 3)}
    start = {name: draw.away_from_zero(shape, 0.5, dtype) for name, shape in shapes.items()}
    gradients = [{n: draw.away_from_zero(s, 0.2, dtype) for n, s in shapes.items()} for _ in range(steps)]
    if missing:
        for k in (0, 3, 4):
            del gradients[k]["vector"]
        # A gradient of zeros is a gradient.
        gradients[1]["number"] *= 0
    return {"start": start, "gradients": gradients, "transposed": ["column by column"]}


def require_steps(student, reference, expect, name, options, data, looked_at=LOOKED_AT, **how):
    """The student's optimizer goes where the reference goes, step for step."""
    asked = {"name": name, "options": options, **data, **how}
    got, wanted = steps_taken(student, expect, asked), reference.run(optimizer_steps, **asked)
    for k in looked_at:
        here, right = got["parameters"][k - 1], wanted["parameters"][k - 1]
        require_dtypes(expect, here, right)
        expect.form(here, right, "the parameters")
        off = distance(here, right, data["start"])
        # That few digits are right in float64 costs points once, in a check of its own.
        if data["start"]["number"].dtype == np.float32 or off > 1e-6:
            expect.trajectory(here, right, data["start"], steps=k)
    return got, wanted


def require_digits(student, reference, draw, expect, name, options, steps=2, **how):
    """In float64 the first steps are right to more digits than float32 has."""
    data = problem(draw, steps)
    got, wanted = require_steps(student, reference, expect, name, options, data, looked_at=(steps,), **how)
    off = distance(got["parameters"][-1], wanted["parameters"][-1], data["start"])
    sentence = f"With float64 parameters {steps} step{'s' * (steps > 1)} end off by {off:.1g} times the way."
    expect.true(off < 1e-9, sentence, kind="trajectory", fault="step-in-float32")


def steps_taken(student, expect, asked):
    try:
        return student.run(optimizer_steps, **asked)
    except StudentError as error:
        missing = any(len(given) < len(asked["start"]) for given in asked["gradients"])
        if "NoneType" not in str(error) or not missing:
            raise
        student.run(optimizer_steps, **asked | {"gradients": [asked["start"] | given for given in asked["gradients"]]})
        sentence = f"step() fails only where a parameter has no gradient: {error}"
        expect.true(False, sentence, fault="missing-gradient-not-skipped")
        raise


def require_whole_run(student, reference, draw, expect, name, options, groups, dtype="float64"):
    """Seven steps with all rules at once: groups, a falling lr, a parameter without gradient, gradients that a closure
    writes into the same tensors or leaves as they are, and an optimizer that loads the state of another one.
    """
    data = problem(draw, dtype=dtype, missing=True)
    how = {"groups": groups, "gamma": 0.8, "in_place": True, "by_closure": True, "kept": [2]}
    how |= {"reload_after": 5, "fresh": {"lr": 0.9}}
    got, wanted = require_steps(student, reference, expect, name, options, data, looked_at=(1, 2, 3, 5, 7), **how)
    expect.close(got["returned"], wanted["returned"], "what step(closure) returned", rtol=1e-3, atol=1e-3)


def require_dtypes(expect, got, wanted):
    for key, right in wanted.items():
        dtype = getattr(got.get(key), "dtype", None)
        expect.true(dtype == right.dtype, f"the parameter became {dtype}; it was {right.dtype}.", kind="dtype")


def ask_who_worked(student, flag, name, options, data):
    """Own formulas or somebody else's: worth a look of a person, and no more."""
    asked = {"name": name, "options": options, "start": data["start"], "gradients": data["gradients"][:2]}
    helpers = student.run(helpers_of_a_step, **asked)
    if helpers:
        flag(f"While {name} worked, these ran: {listed(helpers[:4])} (observed). The exercise asks for own formulas.")


@pytest.mark.cell("test_sgd", weight=2.5)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("variant", ["plain", "momentum", "nesterov", "decay", "all", "uphill"])
def test_steps_of_sgd(student, reference, draw, expect, flag, variant, dtype):
    """Parameters of any shape are right after 1, 3 and 7 steps, with momentum, nesterov and weight_decay or without,
    and with a negative lr.
    """
    options, data = options_of(draw, "SGD", variant), problem(draw, dtype=dtype)
    require_steps(student, reference, expect, "SGD", options, data)
    if (variant, dtype) == ("all", "float32"):
        ask_who_worked(student, flag, "SGD", options, data)


@pytest.mark.cell("test_sgd")
@pytest.mark.parametrize("change", ["none", "rates"])
def test_groups_of_sgd(student, reference, draw, expect, change):
    """Each group follows its own options, also when a scheduler changes lr between two steps."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "SGD", "momentum")},
        {"names": ["vector"], **options_of(draw, "SGD", "all"), "lr": 0.31},
        {"names": ["column by column"], "lr": 0.05},
    ]
    how = {"groups": groups, "gamma": 0.5 if change == "rates" else None}
    require_steps(student, reference, expect, "SGD", options_of(draw, "SGD", "decay"), problem(draw), **how)


@pytest.mark.cell("test_sgd")
def test_missing_gradients_of_sgd(student, reference, draw, expect):
    """A parameter without gradient is left out of the step: it does not move, and its velocity waits."""
    options, data = options_of(draw, "SGD", "all"), problem(draw, missing=True)
    require_steps(student, reference, expect, "SGD", options, data, looked_at=(1, 3, 4, 7))


@pytest.mark.cell("test_sgd")
@pytest.mark.parametrize("variant", ["momentum", "all"])
def test_gradients_stay_with_sgd(student, reference, draw, expect, variant):
    """The steps are right when gradients are written in place, and no step changes p.grad."""
    options, data = options_of(draw, "SGD", variant), problem(draw)
    got, wanted = require_steps(student, reference, expect, "SGD", options, data, in_place=True)
    require_gradients(expect, got, wanted, "sgd-changes-the-gradient" if variant == "momentum" else "")


def require_gradients(expect, got, wanted, fault=""):
    """No step has changed p.grad, which was not None."""
    there = [sorted(given) for given in got["gradients"]] == [sorted(given) for given in wanted["gradients"]]
    same = there and all(
        np.array_equal(value, given[name])
        for here, given in zip(got["gradients"], wanted["gradients"], strict=True)
        for name, value in here.items()
    )
    if there:
        expect.true(same, "a step has changed p.grad.", fault=fault)
    expect.close(got["gradients"], wanted["gradients"], "p.grad after the step")


@pytest.mark.cell("test_sgd", weight=1.5, search="single")
def test_whole_run_of_sgd(student, reference, draw, expect):
    """All rules at once: groups, a falling lr, missing gradients, a closure, gradients that stay, a loaded state."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "SGD", "all")},
        {"names": ["vector", "column by column"], **options_of(draw, "SGD", "momentum"), "weight_decay": 0.0},
    ]
    require_whole_run(student, reference, draw, expect, "SGD", options_of(draw, "SGD", "decay"), groups)


@pytest.mark.cell("test_sgd")
@pytest.mark.parametrize("variant", ["plain", "all"])
def test_closure_of_sgd(student, reference, draw, expect, variant):
    """step(closure) calls the closure once and first, uses its gradients and returns its loss, also inside
    torch.no_grad(); step() returns None.
    """
    require_closure(student, reference, draw, expect, "SGD", options_of(draw, "SGD", variant))


@pytest.mark.cell("test_sgd", weight=0.5)
def test_digits_of_sgd(student, reference, draw, expect):
    """With float64 parameters the first two steps are right to the digits of float64."""
    require_digits(student, reference, draw, expect, "SGD", options_of(draw, "SGD", "all"))


@pytest.mark.cell("test_sgd")
def test_reload_of_sgd(student, reference, draw, expect):
    """A new optimizer that loads the state_dict() goes on where the old one was, with its velocity and its options."""
    require_reload(student, reference, draw, expect, "SGD", options_of(draw, "SGD", "all"), {"lr": 0.9})


def require_closure(student, reference, draw, expect, name, options):
    start, curvature = draw.away_from_zero((3,)), draw.uniform((3,), 0.5)
    for no_grad in (False, True):
        data = {"name": name, "options": options, "start": start, "curvature": curvature, "no_grad": no_grad}
        got, wanted = student.run(optimizer_closure, **data), reference.run(optimizer_closure, **data)
        times = len(got["seen by the closure"])
        expect.true(times == 1, f"the closure was called {times} times; it should be called once.", kind="length")
        expect.close(got["seen by the closure"], wanted["seen by the closure"], "p when the closure was called")
        expect.close(got["after one step"], wanted["after one step"], "p after the step with a closure")
        expect.close(got["returned"], wanted["returned"], "what step(closure) returned")
        found = "step(closure) returned the right number, and not the very object that the closure returned."
        expect.true(got["returned itself"] == wanted["returned itself"], found)
        found = "step() without a closure should return None."
        expect.true(got["returned without closure"] is None, found, kind="type")
        expect.close(got["after two steps"], wanted["after two steps"], "p after a second step without a closure")


def require_reload(student, reference, draw, expect, name, options, fresh):
    how = {"reload_after": 3, "fresh": fresh}
    require_steps(student, reference, expect, name, options, problem(draw), looked_at=(3, 4, 7), **how)


@pytest.mark.cell("test_rmsprop", weight=2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("variant", ["eps", "plain", "uphill", "defaults"])
def test_steps_of_rmsprop(student, reference, draw, expect, flag, variant, dtype):
    """Parameters of any shape are right after 1, 3 and 7 steps, with a large eps, the defaults, a negative lr."""
    options = options_of(draw, "RMSProp", variant)
    # Steps as short as the default lr makes them are lost in the rounding of float32.
    data = problem(draw, dtype="float64" if variant == "defaults" else dtype)
    require_steps(student, reference, expect, "RMSProp", options, data, looked_at=(1, 2, 3, 7))
    if (variant, dtype) == ("plain", "float32"):
        ask_who_worked(student, flag, "RMSProp", options, data)


@pytest.mark.cell("test_rmsprop")
def test_groups_of_rmsprop(student, reference, draw, expect):
    """Groups have their own options, lr may change between steps, and a parameter without gradient is left out."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "RMSProp", "eps")},
        {"names": ["vector"], "alpha": 0.6, "lr": 0.31},
        {"names": ["column by column"]},
    ]
    data, options = problem(draw, missing=True), options_of(draw, "RMSProp", "eps")
    require_steps(student, reference, expect, "RMSProp", options, data, groups=groups, gamma=0.5)


@pytest.mark.cell("test_rmsprop")
def test_memory_of_rmsprop(student, reference, draw, expect):
    """The steps are right when gradients are written in place, p.grad stays, and a closure works as in exercise 4."""
    options, data = options_of(draw, "RMSProp", "eps"), problem(draw)
    got, wanted = require_steps(student, reference, expect, "RMSProp", options, data, in_place=True)
    require_gradients(expect, got, wanted, "rmsprop-changes-the-gradient")
    require_closure(student, reference, draw, expect, "RMSProp", options)


@pytest.mark.cell("test_rmsprop", weight=0.5)
def test_digits_of_rmsprop(student, reference, draw, expect):
    """With float64 parameters the first two steps are right to the digits of float64."""
    require_digits(student, reference, draw, expect, "RMSProp", options_of(draw, "RMSProp", "eps"))


@pytest.mark.cell("test_rmsprop", weight=1.5, search="single")
def test_whole_run_of_rmsprop(student, reference, draw, expect):
    """All rules at once: groups, a falling lr, missing gradients, a closure, gradients that stay, a loaded state."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "RMSProp", "eps")},
        {"names": ["vector", "column by column"], "alpha": 0.6, "lr": 0.31},
    ]
    require_whole_run(student, reference, draw, expect, "RMSProp", options_of(draw, "RMSProp", "eps"), groups)


@pytest.mark.cell("test_rmsprop")
def test_reload_of_rmsprop(student, reference, draw, expect):
    """A new optimizer that loads the state_dict() goes on where the old one was."""
    require_reload(student, reference, draw, expect, "RMSProp", options_of(draw, "RMSProp", "eps"), {"lr": 0.9})


@pytest.mark.cell("test_adam", weight=2)
@pytest.mark.parametrize("variant", ["eps", "plain", "uphill", "defaults"])
def test_steps_of_adam(student, reference, draw, expect, flag, variant):
    """Parameters of any shape are right after 1, 3 and 7 steps, with a large eps, the defaults, a negative lr."""
    if variant == "defaults":
        # Steps as short as the default lr makes them are lost in the rounding of float32; a step counter may round.
        asked = {"name": "Adam", "options": {}, **problem(draw)}
        got, wanted = (moves(side.run(optimizer_steps, **asked), asked["start"]) for side in (student, reference))
        expect.trajectory(got, wanted, {name: 0 * value for name, value in wanted.items()}, steps=7)
        return
    options, data = options_of(draw, "Adam", variant), problem(draw, dtype="float32")
    require_steps(student, reference, expect, "Adam", options, data, looked_at=(1, 2, 3, 7))
    if variant == "plain":
        ask_who_worked(student, flag, "Adam", options, data)


def moves(answer, start):
    """How far each parameter has come after all steps."""
    return {name: np.float32(value - start[name]) for name, value in answer["parameters"][-1].items()}


@pytest.mark.cell("test_adam")
def test_weight_decay_of_adam(student, reference, draw, expect):
    """weight_decay is added to the gradient, or decoupled from it, as the table says."""
    # Both ways are asked before the first is looked at: only both together tell which mistake it is.
    asked = [
        {"name": "Adam", "options": options_of(draw, "Adam", variant), **problem(draw, dtype="float32")}
        for variant in ("L2", "decoupled")
    ]
    answers = [student.run(optimizer_steps, **one) for one in asked]
    for one, answer in zip(asked, answers, strict=True):
        right = reference.run(optimizer_steps, **one)
        for k in LOOKED_AT:
            expect.trajectory(answer["parameters"][k - 1], right["parameters"][k - 1], one["start"], steps=k)


@pytest.mark.cell("test_adam")
def test_groups_of_adam(student, reference, draw, expect):
    """Groups have their own options, lr may change between steps, and a parameter without gradient counts no step."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "Adam", "L2")},
        {"names": ["vector"], "betas": (0.5, 0.8), "lr": 0.31},
        {"names": ["column by column"], **options_of(draw, "Adam", "decoupled")},
    ]
    data, options = problem(draw, missing=True, dtype="float32"), options_of(draw, "Adam", "eps")
    require_steps(student, reference, expect, "Adam", options, data, groups=groups, gamma=0.5)


@pytest.mark.cell("test_adam")
@pytest.mark.parametrize("variant", ["L2", "decoupled"])
def test_memory_of_adam(student, reference, draw, expect, variant):
    """With float64 gradients that are written in place the steps are right; p.grad stays; a closure works as in SGD."""
    options, data = options_of(draw, "Adam", variant), problem(draw)
    asked = {"name": "Adam", "options": options, **data, "in_place": True}
    got, wanted = student.run(optimizer_steps, **asked), reference.run(optimizer_steps, **asked)
    # A step counter kept as a float32 tensor rounds 1 - beta ** t; that is not held against anybody.
    for k in LOOKED_AT:
        here, right = got["parameters"][k - 1], wanted["parameters"][k - 1]
        require_dtypes(expect, here, right)
        expect.close(here, right, f"p after {k} step{'s' * (k > 1)}", rtol=1e-4, atol=1e-4)
    require_gradients(expect, got, wanted, "adam-changes-the-gradient" if variant == "decoupled" else "")
    require_closure(student, reference, draw, expect, "Adam", options)


@pytest.mark.cell("test_adam", weight=0.5)
def test_digits_of_adam(student, reference, draw, expect):
    """With float64 parameters the first step is right to the digits of float64, and the second one but for rounding
    that all entries have in common.
    """
    # Numbers that float32 holds exactly: a step counter that is a float32 tensor is not held against anybody.
    options = {"lr": 0.125, "betas": (0.5, 0.75), "eps": 0.25, "weight_decay": 0.5}
    groups = [
        {"names": ["square", "number"], "decoupled": False},
        {"names": ["vector", "column by column"], "decoupled": True},
    ]
    require_digits(student, reference, draw, expect, "Adam", options, steps=1, groups=groups)
    # In the second step such a counter makes all entries longer or shorter by one factor, if eps is 0. What m and v
    # have lost is another share of each entry.
    asked = {"name": "Adam", "options": options | {"eps": 0.0, "weight_decay": 0.0}, **problem(draw, 2)}
    got, wanted = student.run(optimizer_steps, **asked), reference.run(optimizer_steps, **asked)
    for name in ("square", "vector", "column by column"):
        (one, two), (first, second) = ([k[name] for k in answer["parameters"]] for answer in (got, wanted))
        expect.form([one, two], [first, second], name)
        shares = (two - one) / (second - first)
        off = float(np.ptp(shares))
        sentence = f"In the second step with float64 parameters the entries differ in what they are off by: {off:.1g}."
        # Mistakes of the formulas are looked for elsewhere.
        expect.true(not 1e-9 < off < 1e-5, sentence, kind="trajectory", fault="step-in-float32")


@pytest.mark.cell("test_adam", weight=1.5, search="single")
def test_whole_run_of_adam(student, reference, draw, expect):
    """All rules at once: groups, a falling lr, missing gradients, a closure, gradients that stay, a loaded state."""
    groups = [
        {"names": ["square", "number"], **options_of(draw, "Adam", "L2")},
        {"names": ["vector", "column by column"], **options_of(draw, "Adam", "decoupled"), "lr": 0.31},
    ]
    options = options_of(draw, "Adam", "eps")
    require_whole_run(student, reference, draw, expect, "Adam", options, groups, "float32")


@pytest.mark.cell("test_adam")
def test_reload_of_adam(student, reference, draw, expect):
    """A new optimizer that loads the state_dict() goes on where the old one was, with its m, v and t."""
    options, data = options_of(draw, "Adam", "L2"), problem(draw, dtype="float32")
    how = {"looked_at": (3, 4, 7), "reload_after": 3, "fresh": {"lr": 0.9}}
    require_steps(student, reference, expect, "Adam", options, data, **how)


# --- 7. snapshot and restore ----------------------------------------------------------------------------------------


@pytest.mark.cell("test_snapshot")
@pytest.mark.parametrize("kind", ["plain", "norm"])
def test_what_restore_brings_back(student, reference, draw, expect, kind):
    """snapshot changes nothing, in either mode, and restore brings back parameters and buffers, in float64 too."""
    data = traveling(draw, kind, "SGD", dtype="float64" if kind == "plain" else "float32")
    # A second model is asked too, and not looked at here: a snapshot that shares the model's tensors and one that lacks
    # them are alike as long as there is only one model.
    student.run(there_and_back, **data | {"other_model": True})
    got, wanted = student.run(there_and_back, **data), reference.run(there_and_back, **data)
    expect.close(got["after the snapshot"], wanted["before the snapshot"], "the model after snapshot")
    for what in ("outputs", "gradients"):
        which = f"{what} after the snapshot"
        expect.close(got[which], wanted[which], f"the {what} of the model after snapshot")
    for name in ("second", "third"):
        which = f"restored for the {name}"
        expect.close(got[which], wanted[which], f"the model, {which} time".replace("second", "first"))
        outputs = f"outputs for the {name}"
        expect.close(
            got[outputs], wanted[outputs], f"the outputs of the model, {which} time".replace("second", "first")
        )
    data |= {"evaluating": True}
    got, wanted = student.run(there_and_back, **data), reference.run(there_and_back, **data)
    which = "outputs after the snapshot"
    expect.close(got[which], wanted[which], "the outputs of a model in evaluation mode after snapshot")


@pytest.mark.cell("test_snapshot")
@pytest.mark.parametrize("new_optimizer", [False, True])
@pytest.mark.parametrize(("kind", "optimizer"), [("norm", "SGD"), ("plain", "Adam")])
def test_training_after_restore(student, reference, draw, expect, kind, optimizer, new_optimizer):
    """After restore training goes on as it did after snapshot, also if the optimizer had made no step before it: memory
    and options of the optimizer are back.
    """
    data = traveling(draw, kind, optimizer) | {"new_optimizer": new_optimizer}
    got, wanted = require_journey(student, reference, expect, data, ("first", "second"))
    held = "held before the second"
    expect.close(
        got[held], wanted[held], "the parameters and buffers that the model had before restore, after more training"
    )


@pytest.mark.cell("test_snapshot")
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_a_second_restore(student, reference, draw, expect, optimizer):
    """A snapshot that was restored, and trained on from there, can be restored again."""
    data = traveling(draw, "plain", optimizer)
    require_journey(student, reference, expect, data, ("first", "second", "third"))


@pytest.mark.cell("test_snapshot")
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_another_model(student, reference, draw, expect, optimizer):
    """A snapshot can be restored into another model and optimizer that were built in the same way."""
    data = traveling(draw, "norm" if optimizer == "SGD" else "plain", optimizer, other_model=True)
    require_journey(student, reference, expect, data, ("first", "second", "third"))


def require_journey(student, reference, expect, data, parts):
    got, wanted = student.run(there_and_back, **data), reference.run(there_and_back, **data)
    start = wanted["before the snapshot"]
    times = {"first": "snapshot", "second": "restore", "third": "the second restore"}
    for part in parts:
        for k in (1, len(data["after"][0])):
            name = f"the model's values (after {times[part]})"
            expect.trajectory(got[part][k - 1], wanted[part][k - 1], start, steps=k, name=name)
    return got, wanted


def traveling(draw, kind, optimizer, other_model=False, dtype="float32"):
    """Arguments of `there_and_back`: a small network, three steps before the snapshot, three on each way after it."""
    weights, batches = network(draw, kind, dtype), [rows(draw, 5, dtype) for _ in range(12)]
    options = {"lr": 0.1, "momentum": 0.9} if optimizer == "SGD" else {"lr": 0.05, "eps": 0.01}
    data = {"kind": kind, "weights": weights, "optimizer_name": optimizer, "options": options}
    data |= {"before": batches[:3], "after": [batches[k : k + 3] for k in (3, 6, 9)], "other_rate": 0.37}
    data |= {"other_options": {"momentum": 0.4} if optimizer == "SGD" else {"betas": (0.5, 0.6), "eps": 0.1}}
    # What was seen before tells nothing of the batches and rows that come after a restore.
    data |= {"asked": rows(draw, 4, dtype)[0], "other_model": other_model}
    return data


# --- 8. fit ---------------------------------------------------------------------------------------------------------

# Rows of each batch. Sizes differ; four batches do not fit into groups of three.
SIZES = (3, 1, 4, 2)
NORM_SIZES = (3, 2, 5, 2)


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize(
    ("batches", "momentum", "dtype"),
    [(3, 0.0, "float32"), (2, 0.0, "float32"), (1, 0.0, "float32"), (3, 0.9, "float32"), (2, 0.0, "float64")],
)
def test_weights_after_batches(student, reference, draw, expect, batches, momentum, dtype):
    """The weights are right after one, two and three batches, with SGD and with momentum, in float32 and float64."""
    data = training(draw, "plain", SIZES[:batches], momentum=momentum, dtype=dtype)
    require_weights(student, reference, expect, data)


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize(("epochs", "loss"), [(2, "mse"), (3, "mse"), (2, "smoothed")])
def test_weights_after_epochs(student, reference, draw, expect, epochs, loss):
    """Every epoch goes through all batches in order, with the loss, the optimizer and the memory that were given."""
    data = training(draw, "plain", SIZES[:3], loss=loss, momentum=0.8, options={"epochs": epochs})
    gradients = {name: draw.normal(value.shape, dtype="float32") for name, value in data["weights"].items()}
    require_weights(student, reference, expect, data | {"memory": gradients})


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize(
    ("accumulate", "epochs", "kind"),
    [(3, 2, "plain"), (2, 2, "plain"), (9, 2, "plain"), (3, 1, "plain"), (2, 2, "norm")],
)
def test_accumulation(student, reference, draw, expect, accumulate, epochs, kind):
    """Each group of batches is one step with the gradient of the mean loss over all its rows, the last group too;
    each batch passes through the model by itself.
    """
    sizes = SIZES if kind == "plain" else NORM_SIZES
    data = training(draw, kind, sizes, options={"accumulate": accumulate, "epochs": epochs})
    require_weights(student, reference, expect, data)


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize("accumulate", [1, 2])
def test_clipping(student, reference, draw, expect, accumulate):
    """A gradient whose norm over all parameters exceeds max_norm is scaled down to it; a smaller one stays."""
    for max_norm in (0.15, 1e3):
        options = {"accumulate": accumulate, "max_norm": max_norm, "epochs": 2}
        data = training(draw, "plain", SIZES, rate=0.4, options=options)
        require_weights(student, reference, expect, data | {"split": True})


@pytest.mark.cell("test_fit")
def test_schedule(student, reference, draw, expect):
    """scheduler.step() is called once for each epoch, at its end."""
    data = training(draw, "plain", SIZES, options={"epochs": 3, "accumulate": 2})
    require_weights(student, reference, expect, data | {"gamma": 0.5})
    data |= {"gamma": 0.5, "with_rates": True}
    got, wanted = fitted(student, expect, data), reference.run(fit_results, **data)
    expect.close(got["rates"], wanted["rates"], "lr after the last epoch")


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize("evaluating", [True, False])
def test_mode_and_leftovers(student, reference, draw, expect, evaluating):
    """The model learns in training mode, whatever mode it came in, and gradients from before have no influence."""
    data = training(draw, "norm", (3, 2, 4), options={"epochs": 2})
    left = {name: draw.normal(value.shape, dtype="float32") for name, value in data["weights"].items()}
    require_weights(student, reference, expect, data | {"leftover": left, "evaluating": evaluating})


@pytest.mark.cell("test_fit", weight=1.5, search="single")
@pytest.mark.parametrize("max_norm", [0.3, 1e3])
def test_whole_training(student, reference, draw, expect, max_norm):
    """Everything at once: groups of batches, clipping, a schedule, a model with normalization, what came before."""
    options = {"epochs": 3, "accumulate": 3, "max_norm": max_norm}
    data = training(draw, "norm", NORM_SIZES, momentum=0.7, options=options)
    left = {name: draw.normal(value.shape, dtype="float32") for name, value in data["weights"].items()}
    data |= {"leftover": left, "evaluating": True, "gamma": 0.5, "split": True}
    require_history(expect, *require_weights(student, reference, expect, data))


@pytest.mark.cell("test_fit")
@pytest.mark.parametrize(("epochs", "accumulate"), [(3, 3), (1, 1), (3, 1)])
def test_history(student, reference, draw, expect, epochs, accumulate):
    """The result holds one float for each epoch: the mean loss over all its rows, as they were learned from."""
    data = training(draw, "plain", SIZES, options={"epochs": epochs, "accumulate": accumulate})
    # The smallest batch has by far the largest loss: a mean of means is then far from the mean over all rows.
    x, y = data["batches"][1]
    data["batches"][1] = (x, 3 * y + 4)
    require_history(expect, fitted(student, expect, data), reference.run(fit_results, **data))


def require_history(expect, got, wanted):
    held = [loss for loss in got["history"] if getattr(loss, "requires_grad", False)]
    sentence = "the losses that fit returns still require a gradient: each holds the whole computation behind it."
    expect.true(not held, sentence, kind="graph", fault="fit-history-holds-graphs")
    tensors = [loss for loss in got["history"] if getattr(loss, "framework", "")]
    sentence = "the losses that fit returns are tensors, not Python floats."
    expect.true(not tensors, sentence, kind="type", fault="fit-history-holds-tensors")
    plain = all(isinstance(loss, float) for loss in got["history"])
    kinds = ", ".join(sorted({type(loss).__name__ for loss in got["history"]}))
    expect.true(plain, f"the result should hold Python floats; it holds {kinds}.", kind="type")
    expect.close(list(got["history"]), wanted["history"], "the result", rtol=1e-4, atol=1e-5)


def require_weights(student, reference, expect, data):
    got, wanted = fitted(student, expect, data), reference.run(fit_results, **data)
    options = data["options"]
    groups = -(-len(data["batches"]) // options.get("accumulate", 1))
    start = {name: data["weights"].get(name, np.zeros(1)) for name in wanted["weights"]}
    if data.get("memory"):
        start |= {name: data["weights"][name] - np.float32(data["rate"]) * data["memory"][name] for name in start}
    for name, value in wanted["weights"].items():
        if name.endswith("running_var"):
            start[name] = np.ones_like(value)
        elif name.endswith("running_mean"):
            start[name] = np.zeros_like(value)
    expect.trajectory(got["weights"], wanted["weights"], start, steps=groups * options.get("epochs", 1))
    return got, wanted


def fitted(student, expect, data):
    got = student.run(fit_results, **data)
    history = got["history"]
    kind = "an array or tensor" if hasattr(history, "dtype") else type(history).__name__
    many = len(history) if type(history) in (list, tuple) else kind
    epochs = data["options"].get("epochs", 1)
    sentence = f"fit should return a list with {epochs} number{'s' * (epochs > 1)}; it returned {many}."
    expect.true(type(history) in (list, tuple), sentence, kind="type")
    return got


def training(draw, kind, sizes, *, rate=0.2, momentum=0.0, loss="mse", options=None, dtype="float32"):
    """Arguments of `fit_results`."""
    data = {"kind": kind, "weights": network(draw, kind, dtype), "rate": rate, "momentum": momentum}
    batches = [rows(draw, n, dtype, classes=3 if loss == "smoothed" else None) for n in sizes]
    return data | {"batches": batches, "options": options or {}, "loss": loss}


# --- shared ---------------------------------------------------------------------------------------------------------


def network(draw, kind, dtype):
    """Weights of `build_network`: three inputs, four hidden units, three outputs."""
    weights = {"0.weight": draw.normal((4, 3), 0.7, dtype), "0.bias": draw.normal((4,), 0.3, dtype)}
    last = "2"
    if kind == "norm":
        # A bias before a normalization has no influence, so there is none.
        del weights["0.bias"]
        weights |= {"1.weight": draw.uniform((4,), 0.5, 1.5, dtype), "1.bias": draw.normal((4,), 0.3, dtype)}
        last = "3"
    return weights | {f"{last}.weight": draw.normal((3, 4), 0.7, dtype), f"{last}.bias": draw.normal((3,), 0.3, dtype)}


def rows(draw, n, dtype, classes=None):
    """A batch: x, and three targets or a class label for each row."""
    x = draw.normal((n, 3), dtype=dtype)
    return x, draw.labels(n, classes) if classes else draw.normal((n, 3), 1.5, dtype)


def listed(names):
    return ", ".join(str(name) for name in names) or "nothing"


def shapes(parameters):
    return listed(f"{name} of shape {tuple(shape)}" for name, shape in parameters.items())
