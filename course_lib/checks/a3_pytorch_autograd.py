"""The visible checks of assignment a3: what a right answer must satisfy, told without the answer.

Truths used: the numbers worked out in the notebook, finite differences of the formulas that the notebook states and of
the student's own losses, and laws (nobody's `.grad` changes, a graph is where it should be). All inputs are fixed, so
that a student who runs a check twice reads the same sentence twice.

`laid_out` and `mixed` are also what the hidden checks build tensors and a function with; neither knows a right answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from course_lib.checks.calling import parts
from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import check, fail, require
from course_lib.compare import compare, compare_form

Function = Callable[..., Any]
Arrays = dict[str, np.ndarray]

# How near a gradient must be to a finite difference of a formula, in float64.
RTOL, ATOL = 1e-5, 1e-7


def laid_out(values: Any, layout: str = "plain") -> torch.Tensor:
    """A tensor of these values and their dtype: `plain`, a `transposed` view, or `strided`, every second column."""
    tensor = torch.tensor(values)
    if layout == "transposed" and tensor.ndim > 1:
        axes = tuple(reversed(range(tensor.ndim)))
        return tensor.permute(axes).contiguous().permute(axes)
    if layout != "plain" and tensor.ndim:
        wide = torch.full((*tensor.shape[:-1], 2 * tensor.shape[-1]), torch.nan, dtype=tensor.dtype)
        wide[..., ::2] = tensor
        return wide[..., ::2]
    return tensor


def mixed(inputs: torch.Tensor, weights: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """The sine of weights @ inputs, as a tensor of `shape` that is not contiguous if it has several axes."""
    flat = torch.sin(weights @ inputs.reshape(-1))
    return flat.reshape(tuple(reversed(shape))).permute(tuple(reversed(range(len(shape)))))


def _double(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _numbers(name: str, value: Any, dtype: torch.dtype | None = torch.float64) -> np.ndarray:
    """The numbers of a tensor, once it is one and has this dtype (None: any)."""
    if value is None:
        fail(f"{name} is None; it should be a tensor.", "Is there a `return`, and does it return a gradient?")
    if not isinstance(value, torch.Tensor):
        fail(f"{name} is a {type(value).__name__}; it should be a tensor.")
    if dtype is not None and value.dtype != dtype:
        hint = "Results have the dtype of what comes in. Look for `.float()`, `torch.tensor(...)` and NumPy."
        fail(f"The result for {name} is {value.dtype}; it should be {dtype}.", hint)
    return np.asarray(value.detach().numpy())


def _unchanged(name: str, before: torch.Tensor, after: torch.Tensor) -> None:
    if not torch.equal(before, after):
        hint = "Operations that end in an underscore, and `+=`, change the tensor they are called on."
        fail(f"Your code changed the values of {name}.", hint)


def _untouched(name: str, tensor: torch.Tensor, requires_grad: bool, grad: torch.Tensor | None) -> None:
    """Fail if `requires_grad` or `.grad` of a tensor is not what it was."""
    if tensor.requires_grad != requires_grad:
        hint = "`requires_grad_()` changes the tensor it is called on. `detach()` gives you one of your own."
        fail(f"{name} had requires_grad {requires_grad} before the call and has {tensor.requires_grad} now.", hint)
    same = tensor.grad is None if grad is None else tensor.grad is not None and torch.equal(tensor.grad, grad)
    if not same:
        hint = "backward() goes into `.grad` of every leaf that it reaches. `torch.autograd.grad` goes into none."
        fail(f"`.grad` of {name} is different after the call.", hint)


def _without_graph(name: str, value: Any) -> None:
    if isinstance(value, torch.Tensor) and value.requires_grad:
        fail(
            f"{name} requires gradients: it carries its graph.", "Was create_graph needed? `detach()` cuts a graph off."
        )


# --- 1. manual_gradients --------------------------------------------------------------------------------------------

_BY_HAND = ("loss", "grad_x", "grad_w", "grad_b")
_NEURON = {
    "x": np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]),
    "w": np.array([0.8, -0.6, 0.4]),
    "b": np.array([[0.3], [-0.7]]),
}
_SQUARE_NEURON = {**_NEURON, "x": _NEURON["x"][:, :2], "w": _NEURON["w"][:2]}
_COLUMN = {**_NEURON, "x": _NEURON["x"][:, :1], "w": _NEURON["w"][:1]}
_BY_HAND_HINTS = {
    "grad_w shape": "One entry of w is used in all N rows. What do these uses add up to, and which axis goes?",
    "grad_b shape": "One entry of b is used in all D columns. What do these uses add up to? b has shape (N, 1), also "
    "after a sum.",
    "shape": "A gradient has the shape of the tensor that it belongs to.",
    "factor": "The loss is the mean of N * D squares: which factors does the slope of that have? And the uses of one "
    "entry of w or b add up.",
    "sign": "Raise one entry by 0.001. Does the loss grow or fall?",
    "": "Go back step by step: from the loss to y, through tanh to z, from z to x, w and b. Which slope does each step "
    "multiply by, and what does it sum over?",
}


@check("the worked example comes out")
def manual_example(manual_gradients: Function) -> None:
    example = {"x": np.array([[1.0, 2.0]]), "w": np.array([0.5, 0.5]), "b": np.array([[-0.5]])}
    loss, *_ = _by_hand(manual_gradients, example)
    hints = {"factor": "The loss is the mean over all N * D entries.", "": "Follow the example on paper: z, then y."}
    require(compare("loss", loss, _mean_square(**example)), hints)


@check("gradients of x, w and b agree with finite differences")
def manual_gradients_measured(manual_gradients: Function) -> None:
    for inputs in (_SQUARE_NEURON, _NEURON, _COLUMN):
        got = dict(zip(_BY_HAND, _by_hand(manual_gradients, inputs), strict=True))
        require(compare("loss", got["loss"], _mean_square(**inputs)), _BY_HAND_HINTS)
        for name, value in inputs.items():
            wanted = slopes(_along(_mean_square, inputs, name), value)
            found = compare(f"grad_{name}", got[f"grad_{name}"], wanted, rtol=RTOL, atol=ATOL)
            require(found, _BY_HAND_HINTS, source="finite differences give")


@check("gradients are right where tanh is rounded to 1")
def manual_gradients_of_saturated_entries(manual_gradients: Function) -> None:
    for dtype in (np.float32, np.float64):
        inputs = {"x": np.full((1, 1), 5, dtype), "w": np.full(1, 2, dtype), "b": np.zeros((1, 1), dtype)}
        _, *got = _by_hand(manual_gradients, inputs)
        # z is 10, the slope of tanh 8.2446145e-9, and the loss y ** 2 of a y that is 1 but for 2e-9.
        for name, value, factor in zip(_BY_HAND[1:], got, (4.0, 10.0, 2.0), strict=True):
            found = compare(name, value, np.full(value.shape, factor * 8.2446145e-9), rtol=1e-3, atol=0)
            require(found, {"": "Which form of the slope subtracts two nearly equal numbers?"})


@check("it works inside torch.inference_mode(), where autograd records nothing")
def manual_without_autograd(manual_gradients: Function) -> None:
    outside = _by_hand(manual_gradients, _NEURON)
    hint = "Inside inference_mode there is no graph to go back through. Write each gradient as a formula of tensors."
    try:
        with torch.inference_mode():
            inside = _by_hand(manual_gradients, _NEURON)
    except RuntimeError as error:
        fail(f"Inside inference_mode your code raises: {str(error)[:80]}.", hint)
    require(compare("the result", inside, outside, names=_BY_HAND), {"": hint}, source="outside it is")


@check("transposed tensors and float32 work, and nothing that you are given changes")
def manual_layouts(manual_gradients: Function) -> None:
    wanted = _by_hand(manual_gradients, _NEURON)
    for layout in ("transposed", "strided"):
        got = _by_hand(manual_gradients, _NEURON, layout)
        hint = "view() and `.data` assignments depend on how a tensor lies in memory; reshape() does not."
        require(compare("the result", got, wanted, names=_BY_HAND), {"": hint}, source="for contiguous tensors it is")
    small = {name: value.astype(np.float32) for name, value in _NEURON.items()}
    _by_hand(manual_gradients, small)


def _by_hand(manual_gradients: Function, inputs: Arrays, layout: str = "plain") -> tuple[Any, ...]:
    given = {name: laid_out(value, layout) for name, value in inputs.items()}
    returned = parts("manual_gradients(x, w, b)", manual_gradients(**given), _BY_HAND)
    for name, tensor in given.items():
        _unchanged(name, torch.tensor(inputs[name]), tensor)
    kind = given["x"].dtype
    loss = _numbers("loss", returned[0], kind) if isinstance(returned[0], torch.Tensor) else returned[0]
    return loss, *(_numbers(name, value, kind) for name, value in zip(_BY_HAND[1:], returned[1:], strict=True))


def _mean_square(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean(np.tanh(x * w + b) ** 2))


def _along(f: Callable[..., float], inputs: Mapping[str, Any], name: str) -> Callable[[np.ndarray], float]:
    """`f` as a function of one of its inputs."""
    return lambda moved: f(**{**inputs, name: moved})


# --- 2. gradients ---------------------------------------------------------------------------------------------------

_A, _B = np.array([1.0, 2.0]), np.array([[5.0, -1.0], [0.5, 2.0]])
_GRADIENT_HINTS = {
    "none": "A tensor that f does not use has slope 0 everywhere: zeros of its shape.",
    "length": "One gradient for each of the tensors, in their order.",
    "shape": "A gradient has the shape of its tensor.",
    "zero": "Is the value of f still joined to the tensors when its gradient is asked for?",
    "factor": "Is something added up in `.grad` that was there before?",
    "": "Is something added up in `.grad` that was there before? Do the gradients stand in the order of the tensors?",
}


@check("gradients agree with finite differences, for leaves, results and transposed tensors")
def gradients_measured(gradients: Function) -> None:
    def f(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (torch.sin(a) * b).sum() + (b**2).sum()

    def value(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.sum(np.sin(a) * b) + np.sum(b**2))

    leaf, filled = torch.tensor(_A).requires_grad_(), torch.tensor(_A).requires_grad_()
    filled.grad = torch.ones_like(filled)
    cases = {
        "plain tensors": [torch.tensor(_A), torch.tensor(_B)],
        "a leaf and a transposed tensor": [leaf, laid_out(_B, "transposed")],
        "a leaf whose .grad is filled": [filled, torch.tensor(_B)],
        "the result of another operation": [leaf * 1, torch.tensor(_B)],
    }
    for case, tensors in cases.items():
        got = _gradients(gradients, f, tensors)
        for number, name in enumerate("ab"):
            wanted = slopes(_along(value, {"a": _A, "b": _B}, name), (_A, _B)[number])
            found = compare(f"for {case}, the gradient of {name}", got[number], wanted, rtol=RTOL, atol=ATOL)
            require(found, _GRADIENT_HINTS, source="finite differences give")


@check("a tensor that f does not use has a gradient of zeros")
def gradients_of_unused(gradients: Function) -> None:
    tensors = [torch.tensor(_A), _double([[5.0]])]
    got = gradients(lambda a, b: 3 * (a**2).sum(), tensors)
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        fail("gradients should return a tuple with one gradient for each tensor.", _GRADIENT_HINTS["length"])
    for name, value, wanted in (("a", got[0], np.array([6.0, 12.0])), ("b", got[1], np.zeros((1, 1)))):
        if value is None:
            fail(f"the gradient of {name} is None.", _GRADIENT_HINTS["none"])
        require(compare(f"the gradient of {name}", _numbers(name, value), wanted), _GRADIENT_HINTS)


@check("nobody's requires_grad and .grad change, and the gradients carry no graph")
def gradients_leave_no_trace(gradients: Function) -> None:
    plain, leaf, weight = torch.tensor(_A), torch.tensor(_A).requires_grad_(), _double([2.0, -1.0]).requires_grad_()
    filled = torch.tensor(_A).requires_grad_()
    filled.grad = torch.ones_like(filled)
    got = gradients(lambda a, b, c: (weight * a * b * c).sum() ** 2, [plain, leaf, filled])
    _untouched("a given tensor", plain, False, None)
    _untouched("a given tensor", leaf, True, None)
    _untouched("a given tensor", filled, True, torch.ones(2, dtype=torch.float64))
    _untouched("a tensor that f uses without being given it", weight, True, None)
    for value in got:
        _without_graph("A gradient", value)


def _gradients(gradients: Function, f: Function, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
    before = [tensor.detach().clone() for tensor in tensors]
    returned = gradients(f, tensors)
    names = [f"gradient {number}" for number in range(len(tensors))]
    found = parts("gradients(f, tensors)", returned, names)
    for old, tensor in zip(before, tensors, strict=True):
        _unchanged("a given tensor", old, tensor.detach())
    return tuple(_numbers(name, value) for name, value in zip(names, found, strict=True))


# --- 3. vjp and jacobian --------------------------------------------------------------------------------------------

_JACOBIAN_HINTS = {
    "none": "Is there a `return`?",
    "transposed": "The first axes belong to f(x), the last ones to x.",
    "shape": "The shape is that of f(x), followed by that of x.",
    "zero": "Do you keep the gradient of each round, or one tensor that is set to zero later?",
    "factor": "v weighs the outputs of the sum of v * y. Is yours a mean?",
    "": "Each row belongs to one output alone. Is something added up over the loop, stored as the same tensor again "
    "and again, or put in order by reshape where axes should be swapped?",
}
_VJP_HINTS = {
    **_JACOBIAN_HINTS,
    "shape": "The product has the shape of x.",
    "": "v says how much each output counts: where does it enter?",
}


def _three_of_two(x: Any) -> torch.Tensor:
    return torch.stack([x[0] * x[1], x[0] + x[1], x[1] ** 2])


@check("the product of the worked example is [13, 612]")
def vjp_example(vjp: Function) -> None:
    y, grad = _vjp(vjp, _three_of_two, np.array([2.0, 3.0]), np.array([1.0, 10.0, 100.0]))
    require(compare("y", y, np.array([6.0, 5.0, 9.0])), {"": "y is f(x)."})
    require(compare("grad", grad, np.array([13.0, 612.0])), _VJP_HINTS)


@check("products agree with finite differences of sum(v * f(x))")
def vjp_measured(vjp: Function) -> None:
    for x_shape, y_shape, layout in (((3,), (3,), "plain"), ((2, 3), (3, 2), "transposed"), ((2, 3), (4,), "strided")):
        x, f = _mix(x_shape, y_shape)
        v = np.linspace(-1.0, 2.0, int(np.prod(y_shape))).reshape(y_shape)
        _, grad = _vjp(vjp, f, x, v, layout)
        wanted = slopes(lambda moved, f=f, v=v: float(np.sum(v * f(torch.tensor(moved)).numpy())), x)  # type: ignore[misc]
        found = compare(f"grad for x of shape {x_shape}", grad, wanted, rtol=RTOL, atol=ATOL)
        require(found, _VJP_HINTS, source="finite differences give")


@check("the Jacobian of the worked example is [[3, 2], [1, 1], [0, 6]]")
def jacobian_example(jacobian: Function) -> None:
    got = _numbers("jacobian(f, x)", jacobian(_three_of_two, _double([2.0, 3.0])))
    require(compare("jacobian(f, x)", got, np.array([[3.0, 2.0], [1.0, 1.0], [0.0, 6.0]])), _JACOBIAN_HINTS)


@check("Jacobians of any shape agree with finite differences")
def jacobian_of_any_shape(jacobian: Function) -> None:
    for x_shape, y_shape, layout in (((3,), (3,), "plain"), ((2, 2), (2, 2), "plain"), ((2, 3), (3, 2), "transposed")):
        x, f = _mix(x_shape, y_shape)
        got = _numbers("jacobian(f, x)", jacobian(f, laid_out(x, layout)))
        wanted = np.empty((*y_shape, *x_shape))
        for index in np.ndindex(*y_shape):
            wanted[index] = slopes(lambda moved, f=f, i=index: float(f(torch.tensor(moved))[i]), x)  # type: ignore[misc]
        name = f"jacobian(f, x) for x of shape {x_shape} and f(x) of shape {y_shape}"
        require(compare(name, got, wanted, rtol=RTOL, atol=ATOL), _JACOBIAN_HINTS, source="finite differences give")


@check("requires_grad and .grad of x stay as they are, and the results carry no graph")
def jacobian_leaves_no_trace(vjp: Function, jacobian: Function) -> None:
    x, f = _mix((3,), (2,))
    for requires_grad, grad in ((False, None), (True, None), (True, torch.ones(3, dtype=torch.float64))):
        given = torch.tensor(x).requires_grad_(requires_grad)
        given.grad = None if grad is None else grad.clone()
        for name, value in zip(("y", "grad"), vjp(f, given, _double([1.0, -2.0])), strict=True):
            _without_graph(name, value)
        _untouched("x", given, requires_grad, grad)
        _without_graph("jacobian(f, x)", jacobian(f, given))
        _untouched("x", given, requires_grad, grad)
    weight = _double(2.0).requires_grad_()
    _without_graph("jacobian(f, x) for an f with a weight", jacobian(lambda x: weight * x**2, torch.tensor(x)))


def _vjp(vjp: Function, f: Function, x: np.ndarray, v: np.ndarray, layout: str = "plain") -> tuple[Any, ...]:
    y, grad = parts("vjp(f, x, v)", vjp(f, laid_out(x, layout), laid_out(v, layout)), ("y", "grad"))
    return _numbers("y", y), _numbers("grad", grad)


def _mix(x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> tuple[np.ndarray, Function]:
    """An x, and a function of it in which every output depends on every input."""
    n, m = int(np.prod(x_shape)), int(np.prod(y_shape))
    weights = torch.sin(torch.arange(m * n, dtype=torch.float64) + 1).reshape(m, n)
    return np.linspace(-1.0, 1.5, n).reshape(x_shape), lambda inputs: mixed(inputs, weights, y_shape)


# --- 4. Squareplus --------------------------------------------------------------------------------------------------

_POINTS = np.array([[1.5, -1.5, 0.25], [-3.0, 0.0, 2.0]])
_COMING = np.array([[10.0, 100.0, -1.0], [2.0, 0.5, -4.0]])
_OPERATION_HINTS = {
    "none": "Does backward return something?",
    "shape": "Each gradient has the shape of the tensor that it belongs to.",
    "zero": "Is the gradient computed from the saved tensors, with operations that autograd can see?",
    "sign": "The slopes are positive wherever y grows.",
    "factor": "Compare your formulas with the equations, factor by factor.",
    "": "The gradient that goes out is the gradient that comes in times the slope. Compare your formula with the "
    "equation, and look at which saved tensor is which.",
}
_SECOND_HINT = (
    "backward must start from the saved tensors and compute with PyTorch operations. A slope that was computed in "
    "forward, detached, or marked as differentiable once has no way back."
)
_SAVED_HINT = "Attributes of ctx are out of PyTorch's sight. What tensors does forward hand over, and by which call?"


@check("values and slopes of the worked example come out")
def squareplus_example(Squareplus: Any) -> None:
    x = _double([1.5, -1.5]).requires_grad_()
    y = Squareplus.apply(x)
    hints = {"factor": "Look at the first equation.", "": "Look at the first equation."}
    require(compare("y", _numbers("y", y), np.array([2.0, 0.5])), hints)
    _unchanged("x", _double([1.5, -1.5]), x.detach())
    (grad,) = torch.autograd.grad(y, x, _double([10.0, 100.0]))
    require(compare("the gradient", _numbers("the gradient", grad), np.array([8.0, 20.0])), _OPERATION_HINTS)


@check("gradients agree with finite differences, whatever comes in, and each use has its own x")
def squareplus_gradient(Squareplus: Any) -> None:
    for layout in ("plain", "transposed", "strided"):
        x = laid_out(_POINTS, layout).requires_grad_()
        y = Squareplus.apply(x)
        Squareplus.apply(torch.tensor(2 * _POINTS).requires_grad_())
        (grad,) = torch.autograd.grad(y, x, torch.tensor(_COMING))
        wanted = slopes(lambda moved: float(np.sum(_COMING * (moved + np.sqrt(moved**2 + 4)) / 2)), _POINTS)
        found = compare("the gradient", _numbers("the gradient", grad), wanted, rtol=RTOL, atol=ATOL)
        require(found, _OPERATION_HINTS, source="finite differences give")
    _numbers("y for float32", Squareplus.apply(torch.ones(2)), torch.float32)


@check("the gradient can be differentiated again: 0.128 at x = 1.5")
def squareplus_twice(Squareplus: Any) -> None:
    x, coming = _double([1.5, -1.5]).requires_grad_(), _double([1.0, 10.0]).requires_grad_()
    second = _differentiated_twice(Squareplus.apply(x), [x], coming, [_double([1.0, 1.0])])
    for name, got, wanted in zip(("x", "what came in"), second, ([0.128, 1.28], [0.8, 0.2]), strict=True):
        name = f"the derivative of the gradient with respect to {name}"
        require(compare(name, got, np.array(wanted)), {"": _SECOND_HINT, "factor": _SECOND_HINT})


@check("a change of x or y before the backward pass does no silent harm")
def squareplus_saved(Squareplus: Any) -> None:
    for which in ("x", "y"):
        x = _double([1.5, -1.5]).requires_grad_() * 1
        y = Squareplus.apply(x)
        grads = _after_change(x if which == "x" else y, y, [x], _double([10.0, 100.0]))
        if grads is not None and not np.allclose(grads[0], [8.0, 20.0]):
            fail(
                f"After {which} was changed in place, the gradient is {grads[0]}; for the old values it is [8, 20].",
                _SAVED_HINT,
            )


@check('both passes run on the device "meta", where tensors have no numbers')
def squareplus_without_numbers(Squareplus: Any) -> None:
    def both_passes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = Squareplus.apply(x)
        return y, torch.autograd.grad(y, x, torch.ones_like(y))[0]

    # What fails here too, an untouched cell above all, has nothing to do with numbers.
    both_passes(torch.ones(2, 3, requires_grad=True))
    x = torch.empty(2, 3, device="meta", requires_grad=True)
    hint = (
        "Either something reads numbers out of the tensor, as NumPy, item(), float(), tolist() or an `if` on a value "
        "do, or a tensor is made on the CPU, as torch.ones(x.shape) is."
    )
    try:
        y, grad = both_passes(x)
    except (RuntimeError, TypeError) as error:
        fail(f'On the device "meta" your code raises: {str(error)[:80]}.', hint)
    if y.shape != x.shape or grad.shape != x.shape or y.device.type != "meta":
        fail(f"There y has shape {tuple(y.shape)} and is on {y.device}; it should be like x, (2, 3) on meta.", hint)


def _differentiated_twice(
    y: torch.Tensor, inputs: list[torch.Tensor], coming: torch.Tensor, directions: list[torch.Tensor]
) -> list[np.ndarray]:
    """Gradients of the gradients' products with `directions`, with respect to inputs and `coming`."""
    first = torch.autograd.grad(y, inputs, coming, create_graph=True)
    if not all(value.requires_grad for value in first):
        fail("The gradient has no graph: it cannot be differentiated again.", _SECOND_HINT)
    try:
        found = torch.autograd.grad(first, [*inputs, coming], directions, materialize_grads=True)
    except RuntimeError as error:
        fail(f"Differentiating the gradient raises: {str(error)[:80]}.", _SECOND_HINT)
    return [_numbers("the second derivative", value) for value in found]


def _after_change(
    changed: torch.Tensor, y: torch.Tensor, inputs: list[torch.Tensor], coming: torch.Tensor
) -> list[np.ndarray] | None:
    """The gradients after an in-place change, or None if PyTorch noticed it."""
    try:
        with torch.no_grad():
            changed.mul_(3.0)
        return [value.detach().numpy() for value in torch.autograd.grad(y, inputs, coming)]
    except RuntimeError as error:
        if "inplace" not in str(error):
            raise
        return None


# --- 5. PowerScale --------------------------------------------------------------------------------------------------

_SCALES: list[tuple[tuple[int, ...], tuple[int, ...], float]] = [
    ((2, 3), (2, 3), 3),
    ((2, 3), (3,), 2),
    ((3, 3), (3, 1), 3),
    ((3,), (2, 3), -1),
    ((2, 1), (1, 3), 0.5),
]


@check("the worked example comes out")
def power_scale_example(PowerScale: Any) -> None:
    a, b = _double([[1.0, 2.0], [3.0, 4.0]]).requires_grad_(), _double([1.0, 2.0]).requires_grad_()
    y = PowerScale.apply(a, b, 2)
    require(compare("y", _numbers("y", y), np.array([[1.0, 8.0], [3.0, 16.0]])), {"": "y = a * b ** power."})
    y.sum().backward()
    for name, tensor, wanted in (("a", a, [[1.0, 4.0], [1.0, 4.0]]), ("b", b, [8.0, 24.0])):
        got = _numbers(f"the gradient for {name}", tensor.grad)
        require(compare(f"the gradient for {name}", got, np.array(wanted)), _OPERATION_HINTS)


@check("both gradients agree with finite differences, however a and b are broadcast")
def power_scale_gradients(PowerScale: Any) -> None:
    for a_shape, b_shape, power in _SCALES:
        for layout in ("plain", "transposed"):
            inputs, coming = _scaled(a_shape, b_shape, power)
            inputs["a"].flat[-1] = 0.0  # only b is promised to be positive
            _require_scaled(PowerScale, inputs, coming, ("a", "b"), layout)


@check("the gradient is right if only a or only b requires one")
def power_scale_one_of_two(PowerScale: Any) -> None:
    for name in ("a", "b"):
        for a_shape, b_shape, power in _SCALES[:2]:
            inputs, coming = _scaled(a_shape, b_shape, power)
            _require_scaled(PowerScale, inputs, coming, (name,))


@check("the gradients can be differentiated again")
def power_scale_twice(PowerScale: Any) -> None:
    inputs, coming = _scaled((2,), (2,), 3)
    tensors = [torch.tensor(inputs[name]).requires_grad_() for name in ("a", "b")]
    given = torch.tensor(coming).requires_grad_()
    ones = torch.ones(2, dtype=torch.float64)
    second = _differentiated_twice(PowerScale.apply(*tensors, 3), tensors, given, [ones, ones])

    def total(a: np.ndarray, b: np.ndarray, coming: np.ndarray) -> float:
        """The sum of both gradients: coming * b ** 3 and coming * a * 3 * b ** 2."""
        return float(np.sum(coming * (b**3 + 3 * a * b**2)))

    at = {"a": inputs["a"], "b": inputs["b"], "coming": coming}
    for name, got in zip(at, second, strict=True):
        what = f"the derivative of the gradients with respect to {name if name != 'coming' else 'what came in'}"
        found = compare(what, got, slopes(_along(total, at, name), at[name]), rtol=RTOL, atol=ATOL)
        require(found, {"": _SECOND_HINT}, source="finite differences give")


@check("a change of a or b before the backward pass does no silent harm")
def power_scale_saved(PowerScale: Any) -> None:
    for which in (0, 1):
        inputs, coming = _scaled((2, 3), (3,), 2)
        given = [torch.tensor(inputs[name]).requires_grad_() * 1 for name in ("a", "b")]
        y = PowerScale.apply(*given, 2)
        grads = _after_change(given[which], y, given, torch.tensor(coming))
        for name, grad in zip(("a", "b"), grads or (), strict=False):
            if compare(
                "", grad, slopes(_along(_weighted, {**inputs, "coming": coming}, name), inputs[name]), atol=1e-6
            ):
                changed = "ab"[which]
                fail(
                    f"After {changed} was changed in place, the gradient for {name} is wrong for the old values.",
                    _SAVED_HINT,
                )


def _require_scaled(
    PowerScale: Any, inputs: dict[str, Any], coming: np.ndarray, wanted: tuple[str, ...], layout: str = "plain"
) -> None:
    tensors = {name: laid_out(inputs[name], layout).requires_grad_(name in wanted) for name in ("a", "b")}
    y = PowerScale.apply(tensors["a"], tensors["b"], inputs["power"])
    grads = torch.autograd.grad(y, [tensors[name] for name in wanted], torch.tensor(coming), allow_unused=True)
    shapes = f"a of shape {tensors['a'].shape} and b of shape {tensors['b'].shape}".replace("torch.Size", "")
    for name, grad in zip(wanted, grads, strict=True):
        what = f"the gradient for {name}"
        if grad is None:
            hint = "needs_input_grad has one entry for each argument of forward, in their order."
            fail(f"{what} does not arrive where {' and '.join(wanted)} requires one.", hint)
        right = slopes(_along(_weighted, {**inputs, "coming": coming}, name), inputs[name])
        found = compare(what, _numbers(what, grad), right, rtol=RTOL, atol=ATOL)
        require(found, _OPERATION_HINTS, source=f"for {shapes} finite differences give")


def _scaled(a_shape: tuple[int, ...], b_shape: tuple[int, ...], power: float) -> tuple[dict[str, Any], np.ndarray]:
    a = np.linspace(-1.0, 2.0, int(np.prod(a_shape))).reshape(a_shape)
    b = np.linspace(0.7, 1.6, int(np.prod(b_shape))).reshape(b_shape)
    shape = np.broadcast_shapes(a_shape, b_shape)
    return {"a": a, "b": b, "power": power}, np.linspace(-1.5, 2.5, int(np.prod(shape))).reshape(shape)


def _weighted(a: np.ndarray, b: np.ndarray, power: float, coming: np.ndarray) -> float:
    return float(np.sum(coming * a * b**power))


# --- 6. penalized_loss ----------------------------------------------------------------------------------------------

_ROWS, _TARGETS = np.array([[0.5, -1.0], [1.5, 0.25], [-0.5, 2.0]]), np.array([1.0, -0.5, 0.25])
_WEIGHTS = np.array([0.8, -1.2])
_LOSS_HINTS = {
    "type": "The loss is a tensor with one number.",
    "shape": "The loss is one number.",
    "factor": "Both terms are means over the rows; the second is a sum over the columns.",
    "": "Print both terms. The first is the mean squared error. In the second, the slopes are those of each single "
    "prediction, squared, summed over the columns and averaged over the rows.",
}


def _curved(weights: torch.Tensor) -> Function:
    """A model with the slope 2 * weights * x."""
    return lambda rows: (rows**2) @ weights


@check("the worked example costs 3, and a curved model costs what it should")
def penalized_example(penalized_loss: Function) -> None:
    w = _double([3.0, 4.0]).requires_grad_()
    loss = penalized_loss(lambda rows: rows @ w, _double([[1.0, 0.0], [0.0, 1.0]]), _double([2.0, 4.0]), 0.1)
    require(compare("the loss of the example", _loss_of(loss), 3.0), _LOSS_HINTS)
    for strength in (0, 0.5, 2.0):
        loss = penalized_loss(_curved(torch.tensor(_WEIGHTS)), torch.tensor(_ROWS), torch.tensor(_TARGETS), strength)
        error = np.mean(((_ROWS**2) @ _WEIGHTS - _TARGETS) ** 2)
        wanted = error + strength * np.mean(np.sum((2 * _ROWS * _WEIGHTS) ** 2, axis=1))
        require(compare(f"the loss for strength {strength}", _loss_of(loss), float(wanted)), _LOSS_HINTS)


@check("backward() gives the parameters the gradient of both terms")
def penalized_gradient(penalized_loss: Function) -> None:
    w = torch.tensor(_WEIGHTS).requires_grad_()
    loss = penalized_loss(_curved(w), torch.tensor(_ROWS), torch.tensor(_TARGETS), 0.5)
    _loss_of(loss)
    if not loss.requires_grad:
        fail("The loss carries no graph, so nobody can train with it.", "item(), float() and detach() cut a graph off.")
    loss.backward()
    got = _numbers("the gradient", w.grad)

    def value(moved: np.ndarray) -> float:
        return _loss_of(penalized_loss(_curved(torch.tensor(moved)), torch.tensor(_ROWS), torch.tensor(_TARGETS), 0.5))

    hint = (
        "Compare with strength 0. If the gradient is the same, the penalty is a constant for autograd: what does "
        "create_graph do, and is anything detached? If it is too large, was something in `.grad` before?"
    )
    found = compare("the gradient of the loss", got, slopes(value, _WEIGHTS), rtol=RTOL, atol=ATOL)
    require(found, {"": hint, "factor": hint}, source="finite differences of your loss give")


@check("x does not require gradients afterwards, and no .grad has changed")
def penalized_leaves_no_trace(penalized_loss: Function) -> None:
    w, x, t = torch.tensor(_WEIGHTS).requires_grad_(), torch.tensor(_ROWS), torch.tensor(_TARGETS)
    penalized_loss(_curved(w), x, t, 0.5)
    _untouched("x", x, False, None)
    _untouched("t", t, False, None)
    _untouched("a parameter of f", w, True, None)
    _unchanged("x", torch.tensor(_ROWS), x)


def _loss_of(loss: Any) -> float:
    return float(_numbers("the loss", loss)) if getattr(loss, "ndim", 0) == 0 else _numbers("the loss", loss)  # type: ignore[return-value]


# --- 7. train -------------------------------------------------------------------------------------------------------

_RATE = 0.2
_X = np.array([[1.0, -0.5], [-1.5, 0.75], [0.5, 1.25], [2.0, -1.0]])
_T = np.array([2.0, -1.0, 0.5, -2.5])
_PARAMS = {
    "W1": np.array([[0.6, -0.8, 0.3], [-0.5, 0.9, 0.7]]),
    "b1": np.array([0.1, -0.2, 0.3]),
    "W2": np.array([[0.7], [-0.6], [0.9]]),
    "b2": np.array([0.2]),
}
_TRAIN_HINTS = {
    "keys": "Return a dict with the keys W1, b1, W2, b2.",
    "zero": "This parameter did not move. Does the step reach it, does its gradient arrive and is the new value stored "
    "in the dict? Is the gradient set to zero before the step uses it?",
    "sign": "The gradient points uphill.",
    "factor": "A step is the learning rate times the gradient of the mean loss. How often does backward() run, and is "
    "the loss a mean?",
    "": "Are the shapes of prediction and target the same? (N, 1) minus (N,) is (N, N).",
}


@check("the first loss is right, and the first step goes against its gradient")
def train_first_step(train: Function) -> None:
    batch = [np.array([1, 3, 0])]
    zeros = {name: np.zeros_like(value) for name, value in _PARAMS.items()}
    _, losses = _train(train, zeros, batch)
    hint = "With all parameters 0 the prediction is 0, so the loss is the mean of t ** 2 over the batch."
    hints = {**_TRAIN_HINTS, "": hint, "factor": hint}
    require(compare("losses[0] with all parameters 0", losses[0], float(np.mean(_T[batch[0]] ** 2))), hints)
    after, losses = _train(train, _PARAMS, batch)
    hints = {**_TRAIN_HINTS, "factor": "The loss is the mean over the rows of the batch."}
    require(compare("losses[0]", losses[0], _batch_loss(_X[batch[0]], _T[batch[0]], **_PARAMS)), hints)
    for name, value in _PARAMS.items():

        def first_loss(moved: np.ndarray, name: str = name) -> float:
            return _train(train, {**_PARAMS, name: moved}, batch)[1][0]

        wanted = -_RATE * slopes(first_loss, value)
        found = compare(f'the step of params["{name}"]', after[name] - value, wanted, rtol=RTOL, atol=ATOL)
        require(found, _TRAIN_HINTS, source="minus learning rate times gradient is")


@check("the parameters that come back are leaves that require gradients, and losses carry no graph")
def train_returns_leaves(train: Function) -> None:
    # Some of the given tensors require gradients: a copy that remembers it is no leaf.
    given = {name: torch.tensor(value).requires_grad_(name[0] == "W") for name, value in _PARAMS.items()}
    returned = train(torch.tensor(_X), torch.tensor(_T), given, _RATE, [torch.arange(4)])
    after, losses = parts("train(x, t, params, learning_rate, batches)", returned, ("params", "losses"))
    for name, value in after.items():
        if not value.is_leaf:
            hint = "Each step was recorded as a part of the network. How is autograd told not to watch?"
            fail(f'params["{name}"] is no leaf.', hint)
        if not value.requires_grad:
            hint = "What is computed under no_grad does not require gradients, nor does a copy of what did not."
            fail(f'params["{name}"] does not require gradients.', hint)
    if any(isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses):
        hint = "Whoever keeps the loss keeps its graph, with all values of that step. Which method gives the number?"
        fail("A loss in your list carries its graph.", hint)


@check("a step uses the rows and the targets of its batch and no others")
def train_uses_its_batch(train: Function) -> None:
    rows = np.array([3, 0, 2])
    after, losses = _train(train, _PARAMS, [rows])
    alone, alone_losses = _train(train, _PARAMS, [np.arange(3)], _X[rows], _T[rows])
    hint = "`x[batch]` are the rows of a batch. Which targets go with them?"
    source = "with the other rows taken away it is"
    require(compare("losses", losses, alone_losses), {"": hint, "factor": hint}, source=source)
    require(compare("params", after, alone), {"": hint, "factor": hint}, source=source)


@check("three batches are one step and then another and then another")
def train_goes_on(train: Function) -> None:
    batches = [np.array([2, 0, 3]), np.array([1]), np.array([3, 1])]
    together, losses = _train(train, _PARAMS, batches)
    params, one_by_one = _PARAMS, []
    for batch in batches:
        params, first = _train(train, params, [batch])
        one_by_one += first
    hint = "A step uses the gradients of its own batch: backward() adds to what is in `.grad` already."
    if compare("", losses[1], one_by_one[1]):
        hint = "Your second loss is wrong too, though only the first step comes before it. Which parameters and which "
        hint += "number of rows does it belong to?"
    require(compare("params", together, params), {"": hint, "factor": hint}, source="one after the other it is")
    hint = "One loss for each batch, before the step that uses it."
    found = compare("losses", np.array(losses), np.array(one_by_one))
    require(found, {"": hint, "factor": hint}, source="one after the other it is")


@check("the params you are given, their requires_grad and their .grad are as before, and play no part")
def train_leaves_params(train: Function) -> None:
    wanted, _ = _train(train, _PARAMS, [np.arange(4), np.arange(2)])
    given = {name: torch.tensor(value).requires_grad_() for name, value in _PARAMS.items()}
    for value in given.values():
        value.grad = torch.ones_like(value)
    batches = [torch.arange(4), torch.arange(2)]
    returned = train(torch.tensor(_X), torch.tensor(_T), given, _RATE, batches)
    after, _ = parts("train(x, t, params, learning_rate, batches)", returned, ("params", "losses"))
    hint = "Look at the lines before the loop: a new dict is not enough, and detach() shares its numbers."
    for name, value in given.items():
        if not np.array_equal(value.detach().numpy(), _PARAMS[name]):
            fail(f'params["{name}"] of the caller changed.', hint)
        _untouched(f'params["{name}"]', value, True, torch.ones_like(value))
    hint = "Were gradients that were there before your first backward() used in a step?"
    got = {name: value.detach().numpy() for name, value in after.items()}
    require(compare("params", got, wanted), {"": hint}, source="where .grad of the given params is empty, it is")


@check("a network of 8 hidden units learns a wave")
def train_learns_a_wave(train: Function) -> str:
    generator = torch.Generator().manual_seed(3)
    x = torch.linspace(-2, 2, 64, dtype=torch.float64)[:, None]
    t = torch.sin(2 * x[:, 0])
    params = {
        "W1": torch.randn(1, 8, generator=generator, dtype=torch.float64),
        "b1": torch.randn(8, generator=generator, dtype=torch.float64),
        "W2": torch.randn(8, 1, generator=generator, dtype=torch.float64) * 0.3,
        "b2": torch.zeros(1, dtype=torch.float64),
    }
    batches = [torch.randperm(64, generator=generator)[:16] for _ in range(400)]
    _, losses = train(x, t, params, 0.1, batches)
    first, last = float(np.mean([float(v) for v in losses[:10]])), float(np.mean([float(v) for v in losses[-10:]]))
    if not last < 0.1:
        fail(f"After 400 steps the loss is {last:.3f}; it should be below 0.1.", "The checks above say where to look.")
    return f": the loss went from {first:.2f} to {last:.3f}"


def _batch_loss(x: np.ndarray, t: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> float:
    """The loss as the exercise states it; one row at a time, so that no shapes can meet."""
    errors = [float(((np.tanh(row @ W1 + b1) @ W2) + b2)[0] - target) for row, target in zip(x, t, strict=True)]
    return float(np.mean(np.square(errors)))


def _train(
    train: Function, params: Arrays, batches: Sequence[np.ndarray], x: np.ndarray = _X, t: np.ndarray = _T
) -> tuple[Arrays, list[float]]:
    """`train` on tensors of its own, and what it returned as arrays and floats, once its form is right."""
    given = {name: torch.tensor(value) for name, value in params.items()}
    returned = train(torch.tensor(x), torch.tensor(t), given, _RATE, [torch.tensor(batch) for batch in batches])
    after, losses = parts("train(x, t, params, learning_rate, batches)", returned, ("params", "losses"))
    if not isinstance(after, dict):
        fail(f"params is a {type(after).__name__}; it should be a dict of tensors.", _TRAIN_HINTS["keys"])
    arrays = {name: _numbers(f'params["{name}"]', value) for name, value in after.items()}
    require(compare_form("params", arrays, dict(params)), {**_TRAIN_HINTS, "shape": "A parameter keeps its shape."})
    if not hasattr(losses, "__len__") or len(losses) != len(batches):
        found = f"{len(losses)} numbers" if hasattr(losses, "__len__") else f"a {type(losses).__name__}"
        fail(f"losses is {found} for {len(batches)} batches.", "A list with one number for each batch, in order.")
    if shapes := [tuple(loss.shape) for loss in losses if getattr(loss, "shape", ()) != ()]:
        fail(f"A loss has shape {shapes[0]}; it should be one number.", "A Python float, or a tensor of shape ().")
    return arrays, [float(loss) for loss in losses]
