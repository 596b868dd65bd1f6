"""The visible checks of assignment a4: what a right answer must satisfy, told without the answer.

Four kinds of truth are used: the numbers worked out in the notebook, PyTorch's own optimizers, finite differences, and
laws (a restored run repeats itself, one group of batches is one large batch). All inputs are fixed, so that a student
who runs a check twice reads the same sentence twice.

The first part drives optimizers and builds networks from arrays. The judge's probes use it too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare, compare_form
from course_lib.data import load_digits

Function = Callable[..., Any]
Arrays = dict[str, np.ndarray]
Batch = tuple[np.ndarray, np.ndarray]


# --- driving optimizers and networks ----------------------------------------------------------------------------------


def drive(
    build: Function,
    options: Mapping[str, Any],
    start: Mapping[str, np.ndarray],
    gradients: Sequence[Mapping[str, np.ndarray]],
    *,
    groups: Sequence[Mapping[str, Any]] | None = None,
    transposed: Sequence[str] = (),
    gamma: float | None = None,
    in_place: bool = False,
    reload_after: int | None = None,
    fresh: Mapping[str, Any] | None = None,
    by_closure: bool = False,
    kept: Sequence[int] = (),
) -> dict[str, list[Any]]:
    """Parameters and their gradients after each step of the optimizer `build(params, **options)`.

    gradients: for each step, name -> gradient; a parameter without one has `grad = None` in that step.
    groups: options by group, with the names of its parameters under "names". transposed: names of parameters that
        lie in memory column by column. gamma: a StepLR multiplies lr by it after each step. in_place: gradients are
        written into the same tensors at every step. reload_after: after so many steps a new optimizer for new
        parameters, built with `options` and `fresh`, loads the state of the old one. by_closure: the gradients are
        computed in a closure, and what each step returns is "returned". kept: steps before which nobody writes to
        `grad`, so that it is what the step before has left.
    """
    parameters = {name: _parameter(value, name in transposed) for name, value in start.items()}
    optimizer = build(_grouped(parameters, groups), **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=gamma) if gamma is not None else None
    found: dict[str, list[Any]] = {"parameters": [], "gradients": []}
    for k, given in enumerate(gradients):
        if k == reload_after:
            saved = copy.deepcopy(optimizer.state_dict())
            parameters = {name: _parameter(_numpy(p), name in transposed) for name, p in parameters.items()}
            optimizer = build(_grouped(parameters, groups), **{**options, **(fresh or {})})
            optimizer.load_state_dict(saved)
        for name, p in parameters.items():
            if k in kept:
                continue
            if name not in given:
                p.grad = None
            elif in_place and p.grad is not None:
                p.grad.copy_(torch.from_numpy(given[name]))
            else:
                p.grad = torch.from_numpy(given[name].copy())
            if by_closure and p.grad is not None:
                p.grad.zero_()
        if by_closure:
            found.setdefault("returned", []).append(optimizer.step(_loss(parameters, {} if k in kept else given)))
        else:
            optimizer.step()
        if schedule is not None:
            schedule.step()
        found["parameters"].append({name: _numpy(p) for name, p in parameters.items()})
        found["gradients"].append({name: _numpy(p.grad) for name, p in parameters.items() if p.grad is not None})
    return found


def _loss(parameters: Mapping[str, nn.Parameter], given: Mapping[str, np.ndarray]) -> Callable[[], torch.Tensor]:
    """A closure whose loss has the given gradients."""

    def closure() -> torch.Tensor:
        loss = sum(((torch.from_numpy(g) * parameters[name]).sum() for name, g in given.items()), torch.tensor(1.0))
        if given:
            loss.backward()  # type: ignore[no-untyped-call]
        return loss

    return closure


def _parameter(value: np.ndarray, transposed: bool) -> nn.Parameter:
    values = torch.from_numpy(np.array(value.T if transposed else value, order="C"))
    return nn.Parameter(values.T if transposed else values)


def _grouped(parameters: Mapping[str, nn.Parameter], groups: Sequence[Mapping[str, Any]] | None) -> Iterable[Any]:
    if groups is None:
        return (p for p in parameters.values())
    return [
        {"params": [parameters[name] for name in group["names"]]} | {k: v for k, v in group.items() if k != "names"}
        for group in groups
    ]


def build_network(kind: str, weights: Mapping[str, np.ndarray]) -> nn.Sequential:
    """A small network with the given weights, in their dtype: `plain`, or `norm` with a batch normalization."""
    (hidden, inputs), outputs = weights["0.weight"].shape, len(list(weights.values())[-1])
    first = [nn.Linear(inputs, hidden)] if kind == "plain" else [nn.Linear(inputs, hidden, bias=False)]
    norm = [] if kind == "plain" else [nn.BatchNorm1d(hidden)]
    model = nn.Sequential(*first, *norm, nn.Tanh(), nn.Linear(hidden, outputs))
    model.to(torch.from_numpy(weights["0.weight"]).dtype)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()}, strict=False)
    return model


def losses(name: str) -> nn.Module:
    """A loss that is a mean over the rows of a batch."""
    return nn.MSELoss() if name == "mse" else nn.CrossEntropyLoss(label_smoothing=0.1)


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: np.ndarray, y: np.ndarray) -> None:
    """One step of training with the squared error."""
    model.train()
    optimizer.zero_grad()
    losses("mse")(model(torch.from_numpy(x)), torch.from_numpy(y)).backward()
    optimizer.step()


def state_of(model: nn.Module) -> Arrays:
    """Copies of a model's parameters and buffers that hold floating-point numbers."""
    return {name: _numpy(value) for name, value in model.state_dict().items() if value.is_floating_point()}


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return np.array(tensor.detach().numpy(), order="C")


# --- 1. Affine ------------------------------------------------------------------------------------------------------

_AFFINE_HINTS = {
    "none": "Is there a `return` in forward?",
    "transposed": "weight has shape (out_features, in_features). Which of its axes meets the features of x?",
    "shape": "x may have any number of axes; only the last one changes its length.",
    "offset": "Is the bias added, once?",
    "dtype": "Something in forward brings in a dtype of its own.",
    "": "By hand, for the worked example: row [1, 2, 0] gives 1 + 2 + 10, row [0, -1, 3] gives -1 + 3 + 20.",
}


@check("weight and bias are the parameters of the layer, and all that it saves")
def affine_parameters(Affine: Function) -> None:
    layer = _built(Affine, "Affine", 3, 2)
    _require_names(layer, ["bias", "weight"], "Only an `nn.Parameter` that is an attribute of the module counts.")
    for name, shape in (("weight", (2, 3)), ("bias", (2,))):
        if tuple(getattr(layer, name).shape) != shape:
            hint = "Linear layers of PyTorch have one row of weights for each output."
            fail(f"{name} has shape {tuple(getattr(layer, name).shape)}; it should have {shape}.", hint)
    x = torch.ones(2, 3)
    if not torch.equal(layer(x), layer(x)):
        fail("Two calls with the same x give two results.", "Parameters are made once, in __init__.")


@check("the worked example gives [13, 22], also for a single row and for three axes")
def affine_example(Affine: Function) -> None:
    # A square layer first: there the transposed product has the right shape, and only the values tell.
    square = _built(Affine, "Affine", 2, 2).double()
    square.load_state_dict({"weight": torch.tensor([[1.0, 2.0], [0.0, 1.0]]), "bias": torch.zeros(2)})
    hints = {**_AFFINE_HINTS, "": _AFFINE_HINTS["transposed"]}
    _require_output("y of a square layer", square(torch.tensor([[1.0, 1.0]]).double()), np.array([[3.0, 1.0]]), hints)
    layer = _built(Affine, "Affine", 3, 2).double()
    layer.load_state_dict(
        {"weight": torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]), "bias": torch.tensor([10.0, 20.0])}
    )
    y = layer(torch.ones(3).double())
    _require_output("y", y, np.array([13.0, 22.0]), _AFFINE_HINTS)
    if y.dtype != torch.float64:
        fail(f"after .double() y is {y.dtype}.", _AFFINE_HINTS["dtype"])
    for shape in ((1, 3), (2, 2, 3)):
        name = f"y for x of shape {shape}"
        wanted = np.full((*shape[:-1], 2), [13.0, 22.0])
        _require_output(name, layer(torch.ones(shape).double()), wanted, _AFFINE_HINTS)


@check("with bias=False there is no bias")
def affine_without_bias(Affine: Function) -> None:
    layer = _built(Affine, "Affine", 3, 2, bias=False)
    _require_names(layer, ["weight"], "What should be different if `bias` is False?")
    if layer.bias is not None:
        fail("the attribute bias should be None.")
    _require_output("y for x = 0", layer(torch.zeros(2, 3)), np.zeros((2, 2), np.float32), _AFFINE_HINTS)


@check("each new layer starts with its own random numbers, from -1 / sqrt(in_features) to 1 / sqrt(in_features)")
def affine_start(Affine: Function) -> None:
    one, other = (_built(Affine, "Affine", 25, 100) for _ in range(2))
    for name in ("weight", "bias"):
        values = _numpy(getattr(one, name))
        if np.ptp(values) == 0:
            fail(f"all numbers of {name} are {values.flat[0]:g}.", "Equal units get equal gradients and stay equal.")
        if np.array_equal(values, _numpy(getattr(other, name))):
            fail(f"two new layers have the same {name}.", "Draw the numbers in __init__, and set no seed there.")
        largest = float(np.abs(values).max())
        if not 0.12 < largest <= 0.2001:
            hint = "`in_features` is 25 here, so the numbers lie evenly between -0.2 and 0.2."
            fail(f"the largest number of {name} has the size {largest:.3g}.", hint)
        if values.min() > 0 or values.max() < 0:
            sign = "positive" if values.min() > 0 else "negative"
            fail(f"all numbers of {name} are {sign}.", "Half of them are below 0, and half above.")


# --- 2. Standardize -------------------------------------------------------------------------------------------------

_STANDARDIZE_HINTS = {
    "none": "Is there a `return` in forward?",
    "zero": "Is y computed with the statistics of the right mode?",
    "shape": "Mean and variance have one value for each column.",
    "factor": "Two candidates: a division by N - 1 instead of N, or by the variance instead of its root.",
    "running_mean": "(1 - momentum) times the old value, plus momentum times the batch's.",
    "running_var": (
        "(1 - momentum) times the old value, plus momentum times the batch's variance: with a division by N."
    ),
    "": "Which mean and which variance belong to this mode?",
}
_COLUMNS = np.array([[1.0, 2.0], [3.0, 8.0], [2.0, -1.0], [6.0, 1.0]])


@check("the worked example: y is about [-1, 1], the running mean 0.2, and in evaluation 0.2 becomes 0")
def standardize_example(Standardize: Function) -> None:
    layer = _built(Standardize, "Standardize", 1).double()
    y = layer(torch.tensor([[1.0], [3.0]]).double())
    _require_output("y in training mode", y, np.array([[-1.0], [1.0]]), _STANDARDIZE_HINTS, rtol=1e-4, atol=1e-4)
    _require_output("running_mean", layer.running_mean, np.array([0.2]), _STANDARDIZE_HINTS)
    _require_output("running_var", layer.running_var, np.array([1.0]), _STANDARDIZE_HINTS)
    y = layer.eval()(torch.tensor([[0.2]]).double())
    _require_output("y in evaluation mode", y, np.array([[0.0]]), _STANDARDIZE_HINTS, atol=1e-6)


@check("the running statistics are buffers: saved, converted, and no parameters")
def standardize_buffers(Standardize: Function) -> None:
    layer = _built(Standardize, "Standardize", 2)
    names = [name for name, _ in layer.named_parameters()]
    if names:
        fail(f"{', '.join(names)} are parameters: an optimizer would train them.", "Look up `register_buffer`.")
    if sorted(layer.state_dict()) != ["running_mean", "running_var"]:
        found = ", ".join(layer.state_dict()) or "nothing"
        fail(f"state_dict() holds {found}; it should hold running_mean, running_var.", "Look up `register_buffer`.")
    layer.double()(torch.from_numpy(_COLUMNS).requires_grad_())
    for name in ("running_mean", "running_var"):
        buffer = getattr(layer, name)
        if buffer.dtype != torch.float64:
            fail(f"after .double() {name} is {buffer.dtype}.", "Does anything in your code name a dtype?")
        if buffer.requires_grad:
            hint = "The buffer remembers how it was computed from x, and so does every later one. Nobody asks for that."
            fail(f"after a call {name} requires a gradient.", hint)


@check("training uses the batch and moves the running statistics, evaluation uses them and leaves them alone")
def standardize_modes(Standardize: Function) -> None:
    layer = _built(Standardize, "Standardize", 2, momentum=0.25, eps=0.5).double()
    x = torch.from_numpy(_COLUMNS)
    y = layer(x)
    mean, var = _COLUMNS.mean(axis=0), _COLUMNS.var(axis=0)
    hints = {**_STANDARDIZE_HINTS, "": "eps is added to the variance, under the root. Do mean and variance run over N?"}
    _require_output("y in training mode", y, (_COLUMNS - mean) / np.sqrt(var + 0.5), hints)
    running = {"running_mean": 0.25 * mean, "running_var": 0.75 + 0.25 * var}
    for name, wanted in running.items():
        _require_output(name, getattr(layer, name), wanted, _STANDARDIZE_HINTS)
    layer.eval()
    wanted = (_COLUMNS[:1] - running["running_mean"]) / np.sqrt(running["running_var"] + 0.5)
    _require_output("y of one row in evaluation mode", layer(x[:1]), wanted, _STANDARDIZE_HINTS)
    for name, wanted in running.items():
        hints = {"": "In evaluation nothing is learned."}
        _require_output(f"{name} after the evaluation", getattr(layer, name), wanted, hints)


@check("in training mode the gradient of x agrees with finite differences")
def standardize_gradient(Standardize: Function) -> None:
    cotangent = np.array([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0], [1.0, 0.5]])

    def value(x: np.ndarray) -> float:
        y = _built(Standardize, "Standardize", 2).double()(torch.from_numpy(x))
        return float((y.detach().numpy() * cotangent).sum())

    layer = _built(Standardize, "Standardize", 2).double()
    for time in ("first", "second"):
        x = torch.from_numpy(_COLUMNS.copy()).requires_grad_()
        layer(x).backward(torch.from_numpy(cotangent))
        hint = "y depends on x also through mean and variance. Is one of them computed where autograd does not look?"
        assert x.grad is not None
        found = compare(
            f"the gradient of the {time} batch", _numpy(x.grad), slopes(value, _COLUMNS), rtol=1e-3, atol=1e-4
        )
        require(found, {"": hint, "zero": hint}, source="finite differences give")


# --- 3. ParallelBlock -----------------------------------------------------------------------------------------------

_PARALLEL_HINTS = {
    "none": "Is there a `return` in forward?",
    "shape": "Outputs are joined along the last axis, and x may have any number of axes.",
    "factor": "The result is a sum, not a mean. And each entry of the list works once.",
    "": "Each branch gets x itself, not what another branch returned; and each uses its own weights.",
}


@check("the worked example: the sum is [3, 6], the concatenation [2, 4, 1, 2]")
def parallel_example(ParallelBlock: Function) -> None:
    for mode, wanted in (("sum", [3.0, 6.0]), ("cat", [2.0, 4.0, 1.0, 2.0])):
        block = _built(ParallelBlock, "ParallelBlock", [_linear(2 * np.eye(2)), nn.Identity()], mode=mode)
        for x in ([1.0, 2.0], [[1.0, 2.0]], [[[1.0, 2.0]]]):
            name = f'y with mode="{mode}" for x = {x}'
            y = np.array(wanted).reshape(*np.shape(x)[:-1], len(wanted))
            _require_output(name, block(torch.tensor(x, dtype=torch.float64)), y, _PARALLEL_HINTS)
    three = [
        _linear(np.array([[1.0, 2.0], [0.0, 1.0]])),
        _linear(-np.eye(2)),
        _linear(np.array([[0.0, 5.0], [3.0, 0.0]])),
    ]
    twice = {"": "Is there a loop over something that holds each module once, as `children()`, sets and dicts do?"}
    for name, branches, wanted, hints in (
        ("y of three branches", three, [14.0, 3.0], _PARALLEL_HINTS),
        ("y of a block with the same module twice", [three[0], three[0]], [10.0, 4.0], twice),
    ):
        block = _built(ParallelBlock, "ParallelBlock", branches)
        _require_output(name, block(torch.tensor([1.0, 2.0]).double()), np.array(wanted), hints)


@check("the block finds its branches: their weights, their gradients, their mode")
def parallel_finds_its_branches(ParallelBlock: Function) -> None:
    branches = [_linear(np.eye(2)), _linear(2 * np.eye(2))]
    block = _built(ParallelBlock, "ParallelBlock", branches)
    names = sorted(block.state_dict())
    if names != ["branches.0.weight", "branches.1.weight"]:
        hint = "Is there an attribute `branches` of a kind that the module looks into?"
        fail(f"state_dict() holds {', '.join(names) or 'nothing'}.", hint)
    block(torch.ones(3, 2).double()).sum().backward()
    for number, branch in enumerate(branches):
        if branch.weight.grad is None:
            hint = "The block uses the modules that it is given, each of them, and lets the gradient through."
            fail(f"branch {number} got no gradient.", hint)
    block.eval()
    if any(branch.training for branch in branches):
        fail("block.eval() does not reach the branches.", "Is there a method of yours called `train` or `eval`?")


@check("another mode raises ValueError")
def parallel_modes(ParallelBlock: Function) -> None:
    try:
        ParallelBlock([nn.Identity()], mode="product")
    except ValueError:
        return
    fail('ParallelBlock([...], mode="product") raises nothing.', "`raise ValueError(...)` in __init__.")


@check("x stays as it was, also when a branch returns x itself")
def parallel_leaves_x(ParallelBlock: Function) -> None:
    for mode in ("sum", "cat"):
        block = _built(ParallelBlock, "ParallelBlock", [nn.Identity(), _linear(np.eye(2))], mode=mode)
        x = torch.tensor([1.0, 2.0], dtype=torch.float64)
        block(x)
        hint = "`+=` writes into the tensor on its left. Whose tensor is it if the first branch is nn.Identity()?"
        _require_output("x after the call", x, np.array([1.0, 2.0]), {"": hint, "factor": hint, "values": hint})


# --- 4 to 6. optimizers ---------------------------------------------------------------------------------------------

_START = {
    "matrix": np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.5]]),
    "column by column": np.array([[0.5, 1.0], [-1.0, 2.0], [1.5, -0.5]]),
    "number": np.array(2.0),
}
_GRADIENTS = [
    {
        "matrix": np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]) * (1 - 0.3 * k),
        "column by column": np.array([[1.0, -0.5], [0.25, 0.75], [-1.25, 0.5]]) + 0.2 * k,
        "number": np.array(-0.5 * (k - 1.5)),
    }
    for k in range(5)
]
_SETTINGS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.8},
        {"lr": 0.1, "momentum": 0.8, "nesterov": True},
        {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.3},
    ],
    "RMSProp": [{"lr": 0.1, "alpha": 0.75}, {"lr": 0.1, "alpha": 0.75, "eps": 0.25}, {}],
    "Adam": [{"lr": 0.1, "betas": (0.6, 0.9)}, {"lr": 0.1, "betas": (0.6, 0.9), "eps": 0.25}, {}],
    "decay": [{"lr": 0.1, "weight_decay": 0.5, "decoupled": flag} for flag in (False, True)],
}
_STEP_HINTS = {
    "SGD": {
        "lr": "The gradient points uphill, and the step is lr times it.",
        "momentum": "v is kept in self.state[p] between two steps: momentum times the old v, plus g.",
        "nesterov": "With nesterov the step is g + momentum * v, with the new v.",
        "weight_decay": "weight_decay * p is added to the gradient before everything else.",
    },
    "RMSProp": {
        "lr": (
            "The mean of the squares is kept in self.state[p]; it starts at 0. The root is taken of it, and g is not."
        ),
        "alpha": "alpha times the old v, plus (1 - alpha) times the square of g. v starts at 0.",
        "eps": "Is eps added after the root?",
    },
    "Adam": {
        "lr": "Follow the worked example: m, v, then both divided by 1 - beta ** t, where t is 1 in the first step.",
        "betas": "Which of m, v and t is kept between two steps? beta_1 belongs to m, beta_2 to v.",
        "eps": "eps is added to the root of v_hat: after the division by 1 - beta_2 ** t, and outside the root.",
        "weight_decay": "In which of the two ways does weight_decay change g, and which uses lr? Both come first.",
    },
}
_GROUP_HINT = "Options are read from the group at every step: `group[...]`, for each group of `self.param_groups`."
_LAYOUT_HINT = (
    "It has not moved. Its entries lie in memory column by column: of such a tensor `reshape(-1)`, for example, makes "
    "a copy, and what is written into a copy is lost."
)
_RELOAD_HINT = (
    "Everything that a step keeps for the next one stands in `self.state[p]`, and every option in the group. "
    "Attributes of the optimizer itself are not saved."
)


@check("the worked example: p is 0.8, then 0.42; with nesterov it is 0.62, with lr = -0.1 it is 1.2")
def sgd_example(SGD: Function) -> None:
    v_hint = {"": "v is 2 after the first step and 0.9 * 2 + 2 after the second."}
    _require_example(SGD, {"lr": 0.1, "momentum": 0.9}, [2.0, 2.0], [0.8, 0.42], v_hint)
    nesterov_hint = {"": _STEP_HINTS["SGD"]["nesterov"]}
    _require_example(SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, [2.0], [0.62], nesterov_hint)
    _require_example(SGD, {"lr": -0.1}, [2.0], [1.2], {"": _STEP_HINTS["SGD"]["lr"]})


@check("plain, with momentum, nesterov and weight_decay: equal to torch.optim.SGD for five steps")
def sgd_against_torch(SGD: Function) -> None:
    _require_like_torch("SGD", SGD, torch.optim.SGD, _SETTINGS["SGD"])


@check("groups with options of their own, a scheduler, and parameters without gradient")
def sgd_groups(SGD: Function) -> None:
    groups: list[dict[str, Any]] = [
        {"names": ["matrix"]},
        {"names": ["column by column"], "lr": 0.5, "momentum": 0.2, "weight_decay": 0.1},
        {"names": ["number"], "nesterov": True},
    ]
    _require_groups(SGD, torch.optim.SGD, {"lr": 0.1, "momentum": 0.8}, groups)


@check("p.grad stays as it is, and may be written anew without changing the velocity")
def sgd_leaves_gradients(SGD: Function) -> None:
    for decay in (0.3, 0.0):
        options = {"lr": 0.1, "momentum": 0.8, "weight_decay": decay}
        ours = drive(SGD, options, _START, _GRADIENTS, in_place=True)
        hint = "`g = p.grad` is the same tensor, not a copy, and operations that end in `_` write into it."
        found = compare("p.grad after the first step", ours["gradients"][0], _GRADIENTS[0])
        require(found, {"": hint, "factor": hint, "offset": hint})
        theirs = drive(torch.optim.SGD, options, _START, _GRADIENTS)
        hint = "Does your velocity share its memory with p.grad? Keep a tensor of its own in self.state[p]."
        _require_steps(ours, theirs, {"": hint})


@check("a closure is called once, with gradients enabled, and its loss is returned")
def sgd_closure(SGD: Function) -> None:
    _require_closure(SGD, torch.optim.SGD)


@check("a new optimizer that loads the state goes on where the old one was")
def sgd_goes_on_after_loading(SGD: Function) -> None:
    _require_reload(SGD, {"lr": 0.1, "momentum": 0.8})


@check("the worked example: gradients of 2 and of 200 both lead from 1 to 0.8")
def rmsprop_example(RMSProp: Function) -> None:
    for gradient in (2.0, 200.0):
        hints = {"": "v is (1 - 0.75) * g ** 2; the step is 0.1 * g / sqrt(v)."}
        _require_example(RMSProp, {"lr": 0.1, "alpha": 0.75, "eps": 0.0}, [gradient], [0.8], hints)


@check("with a small and a large eps: equal to torch.optim.RMSprop for five steps")
def rmsprop_against_torch(RMSProp: Function) -> None:
    _require_like_torch("RMSProp", RMSProp, torch.optim.RMSprop, _SETTINGS["RMSProp"])


@check("groups with options of their own, a scheduler, and parameters without gradient")
def rmsprop_groups(RMSProp: Function) -> None:
    groups: list[dict[str, Any]] = [
        {"names": ["matrix"], "alpha": 0.5},
        {"names": ["column by column"], "lr": 0.5},
        {"names": ["number"]},
    ]
    # A small eps: where it stands has shown in the check before, and the hints here speak of other things.
    _require_groups(RMSProp, torch.optim.RMSprop, {"lr": 0.1, "alpha": 0.75}, groups)


@check("a closure is called once, with gradients enabled, and its loss is returned")
def rmsprop_closure(RMSProp: Function) -> None:
    _require_closure(RMSProp, torch.optim.RMSprop)


@check("a new optimizer that loads the state goes on where the old one was")
def rmsprop_goes_on_after_loading(RMSProp: Function) -> None:
    _require_reload(RMSProp, {"lr": 0.1, "alpha": 0.75})


@check("the worked example: p is 0.9 after the first step")
def adam_example(Adam: Function) -> None:
    hints = {"not finite": "t is 1 in the first step.", "": "m_hat is 2 and v_hat is 4 in the first step."}
    _require_example(Adam, {"lr": 0.1, "eps": 0.0}, [2.0, 2.0], [0.9, 0.8], hints)


@check("with a small and a large eps: equal to torch.optim.Adam for five steps")
def adam_against_torch(Adam: Function) -> None:
    _require_like_torch("Adam", Adam, torch.optim.Adam, _SETTINGS["Adam"])


@check("weight_decay as in torch.optim.Adam, decoupled as in torch.optim.AdamW; p.grad stays as it is")
def adam_weight_decay(Adam: Function) -> None:
    for options in _SETTINGS["decay"]:
        theirs = torch.optim.AdamW if options["decoupled"] else torch.optim.Adam
        plain = {name: value for name, value in options.items() if name != "decoupled"}
        wanted = drive(theirs, plain, _START, _GRADIENTS, transposed=["column by column"])
        ours = drive(Adam, options, _START, _GRADIENTS, transposed=["column by column"])
        hint = "`g = p.grad` is the same tensor, not a copy, and operations that end in `_` write into it."
        found = compare("p.grad after the first step", ours["gradients"][0], _GRADIENTS[0])
        require(found, {"": hint, "factor": hint, "offset": hint})
        hint = f"With decoupled={options['decoupled']}: {_STEP_HINTS['Adam']['weight_decay']}"
        _require_steps(ours, wanted, {"": hint}, f" with decoupled={options['decoupled']}")


@check("groups with options of their own, a scheduler, and parameters that are left out of some steps")
def adam_groups(Adam: Function) -> None:
    groups: list[dict[str, Any]] = [
        {"names": ["matrix"], "betas": (0.5, 0.8)},
        {"names": ["column by column"], "lr": 0.5, "weight_decay": 0.2},
        {"names": ["number"]},
    ]
    hint = "t counts the steps of one parameter: it belongs to self.state[p], like m and v."
    _require_groups(Adam, torch.optim.Adam, {"lr": 0.1, "eps": 0.1}, groups, hint)


@check("a closure is called once, with gradients enabled, and its loss is returned")
def adam_closure(Adam: Function) -> None:
    _require_closure(Adam, torch.optim.Adam)


@check("a new optimizer that loads the state goes on where the old one was")
def adam_goes_on_after_loading(Adam: Function) -> None:
    _require_reload(Adam, {"lr": 0.1, "betas": (0.6, 0.9)})


def _optimizer(build: Function, params: Any, **options: Any) -> torch.optim.Optimizer:
    made = build(params, **options)
    if not isinstance(made, torch.optim.Optimizer):
        fail(f"{type(made).__name__} is no torch.optim.Optimizer.", "Derive your class from it.")
    return made


def _require_example(
    build: Function, options: dict[str, Any], gradients: list[float], wanted: list[float], hints: dict[str, str]
) -> None:
    """One parameter that starts at 1, and where it is after each step."""
    given = [{"p": np.array([g])} for g in gradients]
    got = drive(_checked(build), options, {"p": np.array([1.0])}, given)["parameters"]
    if got[0]["p"] == 1:
        fail("p is 1 after step 1, as before: it has not moved.", "Is p changed in place?")
    for k, value in enumerate(wanted):
        require(compare(f"p after step {k + 1}", got[k]["p"], np.array([value])), hints)


def _checked(build: Function) -> Function:
    return lambda params, **options: _optimizer(build, params, **options)


def _require_like_torch(name: str, build: Function, theirs: Function, settings: Sequence[dict[str, Any]]) -> None:
    """The same steps as PyTorch's optimizer. A setting that fails points at its last option."""
    for options in settings:
        # With its defaults an optimizer moves little; the defaults themselves are what is looked at.
        wanted = drive(theirs, options, _START, _GRADIENTS, transposed=["column by column"])
        ours = drive(_checked(build), options, _START, _GRADIENTS, transposed=["column by column"])
        last = list(options)[-1] if options else "lr"
        said = ", ".join(f"{key}={value}" for key, value in options.items()) or "its defaults"
        hint = _STEP_HINTS[name].get(last, "") if options else "Are the default values those of the exercise?"
        hints = {"not finite": "Is something divided by 0? t is 1 in the first step.", "": hint}
        if np.array_equal(ours["parameters"][0]["column by column"], _START["column by column"]):
            hints[f"column by column after step 1 with {said}"] = _LAYOUT_HINT
        _require_steps(ours, wanted, hints, f" with {said}")


def _require_groups(
    build: Function, theirs: Function, options: dict[str, Any], groups: list[dict[str, Any]], missing_hint: str = ""
) -> None:
    for how, hint in (
        ({"groups": groups}, _GROUP_HINT),
        ({"gamma": 0.5}, "A scheduler changes group['lr'] between two steps. Is the lr that you use the group's, now?"),
    ):
        wanted = drive(theirs, options, _START, _GRADIENTS, **how)
        _require_steps(drive(build, options, _START, _GRADIENTS, **how), wanted, {"": hint})
    sparse = [dict(given) for given in _GRADIENTS]
    del sparse[0]["matrix"], sparse[2]["matrix"]
    hint = missing_hint or "A parameter whose grad is None does not move, and its memory waits."
    wanted = drive(theirs, options, _START, sparse)
    _require_steps(drive(build, options, _START, sparse), wanted, {"": hint}, " when matrix lacks a gradient in some")


def _require_closure(build: Function, theirs: Function) -> None:
    kept: list[torch.Tensor] = []

    def stepped(made_by: Function) -> tuple[nn.Parameter, torch.optim.Optimizer, list[bool], Any]:
        p = nn.Parameter(torch.tensor([1.0, 2.0]))
        optimizer = _optimizer(made_by, [p], lr=0.1)
        calls: list[bool] = []

        def closure() -> torch.Tensor:
            calls.append(torch.is_grad_enabled())
            optimizer.zero_grad()
            loss = (p**2).sum()
            if loss.requires_grad:
                torch.autograd.backward(loss)
            kept[:] = [loss]
            return loss

        return p, optimizer, calls, optimizer.step(closure)  # type: ignore[arg-type]

    p, optimizer, calls, returned = stepped(build)
    if len(calls) != 1:
        fail(f"the closure was called {len(calls)} times; it should be called once.")
    if not calls[0]:
        fail(
            "gradients were disabled when the closure was called.", "`torch.enable_grad()` is the opposite of no_grad."
        )
    if returned is None or abs(float(torch.as_tensor(returned).detach()) - 5.0) > 1e-6:
        fail(f"step(closure) returned {returned}; it should return 5, what the closure returned.")
    if returned is not kept[0]:
        fail(f"step(closure) returned {returned}; it should return the very object that the closure returned.")
    hint = "The closure computes the gradients: call it before you use them."
    _require_output("p after the step", p, _numpy(stepped(theirs)[0]), {"": hint})
    if optimizer.step() is not None:
        fail("step() without a closure should return None.")


def _require_reload(build: Function, options: dict[str, Any]) -> None:
    wanted = drive(build, options, _START, _GRADIENTS)
    ours = drive(build, options, _START, _GRADIENTS, reload_after=2, fresh={"lr": 0.7})
    _require_steps(ours, wanted, {"": _RELOAD_HINT}, source="without the interruption it is")


def _require_steps(
    ours: dict[str, list[Arrays]],
    wanted: dict[str, list[Arrays]],
    hints: dict[str, str],
    said: str = "",
    source: str = "PyTorch gives",
) -> None:
    for k, right in enumerate(wanted["parameters"]):
        for name, value in right.items():
            # A step counter that is a float32 tensor rounds, and may.
            found = compare(
                f"{name} after step {k + 1}{said}", ours["parameters"][k][name], value, rtol=1e-4, atol=1e-5
            )
            require(found, hints, source=source)


# --- 7. snapshot and restore ----------------------------------------------------------------------------------------

_WEIGHTS = {
    "0.weight": np.array([[0.6, -0.8, 0.3], [-0.5, 0.9, 0.7], [0.8, 0.1, -0.6], [1.1, -0.4, 0.2]], np.float32),
    "0.bias": np.array([0.1, -0.2, 0.3, 0.0], np.float32),
    "2.weight": np.array([[0.7, -0.3, 0.2, 0.5], [-0.6, 0.4, 0.9, -0.1], [0.3, 0.8, -0.5, 0.6]], np.float32),
    "2.bias": np.array([0.2, -0.1, 0.05], np.float32),
}
_NORM_WEIGHTS = {
    "0.weight": _WEIGHTS["0.weight"],
    "1.weight": np.array([1.0, 0.8, 1.2, 0.9], np.float32),
    "1.bias": np.array([0.1, 0.0, -0.2, 0.3], np.float32),
    "3.weight": _WEIGHTS["2.weight"],
    "3.bias": _WEIGHTS["2.bias"],
}


def _batch(n: int, seed: int) -> Batch:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).astype(np.float32), rng.normal(scale=1.5, size=(n, 3)).astype(np.float32)


_BATCHES = [_batch(4, k) for k in range(4)]


@check("restore brings back parameters and buffers, and snapshot changes nothing")
def snapshot_brings_back(snapshot: Function, restore: Function) -> None:
    model, optimizer = _model_and_momentum(_NORM_WEIGHTS, "norm")
    before = state_of(model)
    saved = snapshot(model, optimizer)
    require(compare("the model after snapshot", state_of(model), before), {"": "snapshot only looks."})
    if not model.training:
        fail("After snapshot the model is in evaluation mode.", "snapshot only looks.")
    if saved is None:
        fail("snapshot returned None.", "Is there a `return`?")
    one_step(model, optimizer, *_BATCHES[0])
    restore(model, optimizer, saved)
    hint = "state_dict() hands out the model's own tensors. They change when the model is trained on."
    require(compare("the model after restore", state_of(model), before), {"": hint, "offset": hint})


@check("after restore training goes on as it did after snapshot")
def snapshot_goes_on(snapshot: Function, restore: Function) -> None:
    model, optimizer = _model_and_momentum(_WEIGHTS)
    one_step(model, optimizer, *_BATCHES[0])
    saved = snapshot(model, optimizer)
    first = _trained(model, optimizer)
    optimizer.param_groups[0]["lr"] = 0.5
    restore(model, optimizer, saved)
    hint = (
        "The optimizer has a memory (its velocity) and options (lr). Both were other ones at the time of the snapshot."
    )
    require(compare("the model", _trained(model, optimizer), first), {"": hint}, source="after snapshot it was")


@check("a snapshot can be restored twice, and into another model")
def snapshot_twice(snapshot: Function, restore: Function) -> None:
    model, optimizer = _model_and_momentum(_WEIGHTS)
    one_step(model, optimizer, *_BATCHES[0])
    saved = snapshot(model, optimizer)
    first = _trained(model, optimizer)
    hint = (
        "After the first restore, training went on. Whose tensors did it change? load_state_dict does not always copy."
    )
    for _ in range(2):
        restore(model, optimizer, saved)
        again = _trained(model, optimizer)
    require(compare("the model", again, first), {"": hint}, source="the first time it was")
    other, its_optimizer = _model_and_momentum({name: 0 * value for name, value in _WEIGHTS.items()})
    restore(other, its_optimizer, saved)
    hint = "restore changes the model and the optimizer that it is given, whichever they are."
    require(compare("the other model", _trained(other, its_optimizer), first), {"": hint})


def _model_and_momentum(weights: Arrays, kind: str = "plain") -> tuple[nn.Module, torch.optim.Optimizer]:
    model = build_network(kind, weights)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def _trained(model: nn.Module, optimizer: torch.optim.Optimizer) -> Arrays:
    for x, y in _BATCHES[1:]:
        one_step(model, optimizer, x, y)
    return state_of(model)


# --- 8. fit ---------------------------------------------------------------------------------------------------------

_RATE = 0.2
_UNEQUAL = [_batch(n, 10 + n) for n in (3, 1, 4, 2)]
_FIT_HINTS = {
    "zero": "Nothing has moved. Three things must happen to each group, in this order: gradients cleared, gradients "
    "computed, a step.",
    "sign": "The step goes uphill.",
    "factor": "The loss that loss_fn returns is a mean already.",
    "": "For each group: clear the gradients, compute them with loss_fn(model(x), y), make one optimizer.step().",
}


@check("one batch is one step along minus the gradient, and old gradients have no influence")
def fit_one_step(fit: Function) -> None:
    wanted = _by_hand([_UNEQUAL[:1]])
    _require_weights("the weights", _fitted(fit, _UNEQUAL[:1])[0], wanted, _FIT_HINTS)
    hint = "Gradients of an earlier computation were still in p.grad when fit was called."
    after, _ = _fitted(fit, _UNEQUAL[:1], leftover=True)
    _require_weights(
        "the weights, with old gradients in p.grad", after, wanted, {**_FIT_HINTS, "": hint, "factor": hint}
    )


@check("three batches are three steps, and two epochs are six")
def fit_goes_on(fit: Function) -> None:
    groups = [[batch] for batch in _UNEQUAL[:3]]
    hint = "Each step uses the gradient of its own batch alone, from where the last step ended."
    hints = {**_FIT_HINTS, "": hint, "factor": hint}
    _require_weights("the weights after three batches", _fitted(fit, _UNEQUAL[:3])[0], _by_hand(groups), hints)
    after, _ = _fitted(fit, _UNEQUAL[:3], epochs=2)
    hint = "How often is each batch used?"
    _require_weights("the weights after two epochs", after, _by_hand(groups * 2), {**hints, "": hint})


@check("with accumulate=3, batches of 3, 1 and 4 rows are one step as of 8 rows, and the fourth batch is another")
def fit_accumulates(fit: Function) -> None:
    hints = {
        "zero": "Is there a step after each group, also after a shorter last one?",
        "factor": "The gradient of a group is that of the mean over its rows, not a sum of means.",
        "": "Batches differ in size: a batch of 3 rows has three times the weight of a batch of 1. And gradients of a "
        "group add up: when are they cleared?",
    }
    after, _ = _fitted(fit, _UNEQUAL[:3], accumulate=3)
    _require_weights("the weights after one group", after, _by_hand([_UNEQUAL[:3]]), hints)
    after, _ = _fitted(fit, _UNEQUAL, accumulate=3)
    hints |= {"": "The last group is shorter here: it makes a step too, with the mean over its own rows."}
    _require_weights("the weights after two groups", after, _by_hand([_UNEQUAL[:3], _UNEQUAL[3:]]), hints)


@check("a gradient longer than max_norm is scaled down to it, a shorter one stays")
def fit_clips(fit: Function) -> None:
    hints = {
        100.0: "The gradient is shorter than that, and stays as it is. Do the checks above hold, which clip nothing?",
        0.1: "The bound holds for the norm of all gradients together, when they are complete and before the step.",
    }
    for bound, hint in hints.items():
        after, _ = _fitted(fit, _UNEQUAL[:2], accumulate=2, max_norm=bound)
        wanted = _by_hand([_UNEQUAL[:2]], max_norm=bound)
        _require_weights(f"the weights with max_norm={bound:g}", after, wanted, {"": hint, "factor": hint})


@check("the model learns in training mode, and the scheduler makes one step for each epoch")
def fit_mode_and_schedule(fit: Function) -> None:
    model = build_network("norm", _NORM_WEIGHTS)
    model.eval()
    pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in _BATCHES[:2]]
    fit(model, torch.optim.SGD(model.parameters(), lr=_RATE), losses("mse"), pairs)
    if not np.any(state_of(model)["1.running_mean"]):
        hint = "`model.train()` and `model.eval()` set the mode. Which one did the model come in?"
        fail("The running statistics of a BatchNorm layer in the model did not move.", hint)
    for epochs in (1, 3):
        model = build_network("plain", _WEIGHTS)
        optimizer = torch.optim.SGD(model.parameters(), lr=_RATE)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in _UNEQUAL]
        fit(model, optimizer, losses("mse"), pairs, epochs=epochs, scheduler=schedule)
        steps = round(float(np.log2(_RATE / optimizer.param_groups[0]["lr"])))
        if steps != epochs:
            fail(f"In {epochs} epoch{'s' * (epochs > 1)} of four batches the scheduler made {steps} steps.")
    after, _ = _fitted(fit, _UNEQUAL[:2], epochs=2, gamma=0.5)
    wanted = _by_hand([[batch] for batch in _UNEQUAL[:2]] * 2, rates=[_RATE, _RATE, _RATE / 2, _RATE / 2])
    _require_weights(
        "the weights", after, wanted, {"": ("The scheduler's turn is at the end of an epoch, after its steps.")}
    )


@check("the result holds the mean loss over all rows of each epoch, as plain numbers")
def fit_history(fit: Function) -> None:
    hints = {
        "length": "One number for each epoch.",
        "": (
            "Each row counts once: a batch of 4 rows counts four times as much as one of 1 row. And the loss of a "
            "batch is the one before its step."
        ),
    }
    start = build_network("plain", _WEIGHTS)
    rows = sum(len(x) for x, _ in _UNEQUAL)
    with torch.no_grad():
        at_start = [float(losses("mse")(start(torch.from_numpy(x)), torch.from_numpy(y))) * len(x) for x, y in _UNEQUAL]
    # All batches in one group: none of them is measured after a step.
    _, history = _fitted(fit, _UNEQUAL, accumulate=4)
    if any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in history):
        fail("The losses still require a gradient.", "A tensor with a graph keeps the whole computation alive.")
    if any(isinstance(loss, torch.Tensor) for loss in history):
        fail("The losses are tensors; Python floats are asked for.", "Which method of a tensor gives its number?")
    require(compare("the result", [float(loss) for loss in history], [sum(at_start) / rows]), hints)
    both = _fitted(fit, _UNEQUAL[:2], epochs=2)[1]
    model = build_network("plain", _WEIGHTS)
    optimizer = torch.optim.SGD(model.parameters(), lr=_RATE)
    pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in _UNEQUAL[:2]]
    separate = [fit(model, optimizer, losses("mse"), [pair])[0] for pair in pairs * 2]
    n, m = len(pairs[0][0]), len(pairs[1][0])
    wanted = [float(n * separate[k] + m * separate[k + 1]) / (n + m) for k in (0, 2)]
    require(compare("the result of two epochs", [float(loss) for loss in both], wanted, rtol=1e-4), hints)


@check("a network of your own parts reads held-out digits")
def fit_reads_digits(
    fit: Function, Adam: Function, Affine: Function, Standardize: Function, ParallelBlock: Function
) -> str:
    digits = load_digits()
    torch.manual_seed(3)
    branches = [nn.Sequential(Affine(64, 16), activation) for activation in (nn.Tanh(), nn.ReLU())]
    model = nn.Sequential(ParallelBlock(branches, mode="cat"), Standardize(32), Affine(32, 10))
    x = torch.from_numpy(digits.x_train.reshape(-1, 64)).float()
    labels = torch.from_numpy(digits.y_train).long()
    batches = [(x[rows], labels[rows]) for rows in torch.split(torch.randperm(len(x)), 32)]
    history = fit(model, Adam(model.parameters(), lr=0.01), nn.CrossEntropyLoss(), batches, epochs=3, max_norm=1.0)
    model.eval()
    with torch.no_grad():
        scores = model(torch.from_numpy(digits.x_test.reshape(-1, 64)).float())
    right = float(np.mean(scores.argmax(1).numpy() == digits.y_test))
    if right < 0.8:
        hint = "The checks of the exercises say which part to look at."
        fail(f"After {len(history)} epochs {right:.0%} of them are right; it should be at least 80%.", hint)
    return f": {right:.0%} of {len(scores)} are right; the loss went from {history[0]:.2f} to {history[-1]:.2f}"


def _fitted(
    fit: Function, batches: Sequence[Batch], *, leftover: bool = False, gamma: float | None = None, **options: Any
) -> tuple[Arrays, list[Any]]:
    """Weights after `fit` on a small network, and what it returned, once its form is right."""
    model = build_network("plain", _WEIGHTS)
    optimizer = torch.optim.SGD(model.parameters(), lr=_RATE)
    if leftover:
        for p in model.parameters():
            p.grad = torch.ones_like(p)
    if gamma is not None:
        options["scheduler"] = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=gamma)
    pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]
    history = fit(model, optimizer, losses("mse"), pairs, **options)
    if not isinstance(history, (list, tuple)):
        hint = "Is there a `return`?" if history is None else ""
        fail(f"fit returned {'None' if history is None else type(history).__name__}; it should return a list.", hint)
    if len(history) != options.get("epochs", 1):
        many = f"{len(history)} number{'s' * (len(history) != 1)}"
        fail(f"fit returned {many} for {options.get('epochs', 1)} epochs.", "One number for each epoch.")
    return state_of(model), list(history)


def _by_hand(
    groups: Sequence[Sequence[Batch]], *, max_norm: float | None = None, rates: Sequence[float] | None = None
) -> Arrays:
    """Where plain steps lead, one for each group, each with the gradient over all of its rows at once."""
    model = build_network("plain", _WEIGHTS)
    parameters = list(model.parameters())
    for number, group in enumerate(groups):
        x, y = (torch.from_numpy(np.concatenate(part)) for part in zip(*group, strict=True))
        gradients = torch.autograd.grad(losses("mse")(model(x), y), parameters)
        norm = float(torch.sqrt(sum((g**2).sum() for g in gradients)))  # type: ignore[arg-type]
        scale = min(1.0, max_norm / norm) if max_norm else 1.0
        with torch.no_grad():
            for p, g in zip(parameters, gradients, strict=True):
                p.sub_(g, alpha=(rates[number] if rates else _RATE) * scale)
    return state_of(model)


def _require_weights(name: str, got: Arrays, wanted: Arrays, hints: dict[str, str]) -> None:
    """Compared as ways from the start: a wrong step looks wrong there, and small in the weights."""
    ours = {key: got[key] - _WEIGHTS[key] for key in wanted}
    right = {key: wanted[key] - _WEIGHTS[key] for key in wanted}
    scale = max(float(np.abs(way).max()) for way in right.values())
    for key, way in right.items():
        found = compare(f"the change of {key} in {name}", ours[key], way, rtol=1e-3, atol=1e-4 * scale)
        require(found, hints)


# --- shared ---------------------------------------------------------------------------------------------------------


def _built(build: Function, name: str, *args: Any, **kwargs: Any) -> Any:
    made = build(*args, **kwargs)
    if not isinstance(made, nn.Module):
        fail(f"{name}(...) is {type(made).__name__}, and no nn.Module.")
    return made


def _linear(weight: np.ndarray) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False).double()
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weight))
    return layer


def _require_names(layer: nn.Module, wanted: list[str], hint: str) -> None:
    for what, names in (
        ("named_parameters() gives", sorted(name for name, _ in layer.named_parameters())),
        ("state_dict() holds", sorted(layer.state_dict())),
    ):
        if names != wanted:
            fail(f"{what} {', '.join(names) or 'nothing'}; it should be {', '.join(wanted)}.", hint)


def _require_output(
    name: str,
    got: object,
    wanted: np.ndarray,
    hints: Mapping[str, str],
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    if not isinstance(got, torch.Tensor):
        hint = "Is there a `return` in forward?" if got is None else ""
        fail(f"{name} is {'None' if got is None else type(got).__name__}; it should be a tensor.", hint)
    value = _numpy(got)
    require(compare_form(name, value, wanted), hints)
    require(compare(name, value, wanted, rtol=rtol, atol=atol), hints)
