"""Lecture 02: what its exercises ask for, what checks an attempt, three planted bugs, and a comparison with PyTorch.

The functions in the first part are the lecture's folded solutions, word for word; the lecture continues with them until
the reader's own are right. Each check tells one mistake from another before it says that something is wrong at all.
"""

# The solutions stand as the reader types them, without annotations.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from course_lib.exercises import attempt_or_solution

Array = Any
"""an array of numbers"""
Gradients = tuple[Array, ...]


def slope(loss, w, index, step=1e-5):
    """How fast the loss changes with the entry `w[index]`, a number.

    loss: a function without arguments; `loss()` computes the loss from the present entries of the array `w`.
    """
    before = loss()
    old = w[index]
    w[index] = old + step
    after = loss()
    w[index] = old
    return (after - before) / step


def neuron_backward(w, x, b, y):
    """The loss of one neuron for one example, and its gradients.

    All arguments and results are numbers. Returns loss, grad_w, grad_x, grad_b.
    """
    a = w * x
    s = a + b
    h = max(s, 0)
    e = h - y
    loss = e * e

    grad_loss = 1
    grad_e = e * grad_loss + e * grad_loss  # used twice, so two contributions
    grad_h = grad_e
    grad_s = grad_h if s > 0 else 0
    grad_a = grad_s
    grad_b = grad_s
    grad_w = x * grad_a
    grad_x = w * grad_a
    return loss, grad_w, grad_x, grad_b


def matmul_backward(grad_S, X, W):
    """The gradients of X and W, where S = X @ W.

    grad_S: (N, H), the upstream gradient. X: (N, D). W: (D, H). Returns grad_X (N, D) and grad_W (D, H).
    """
    grad_X = np.zeros(X.shape)
    grad_W = np.zeros(W.shape)
    for n in range(X.shape[0]):
        for d in range(X.shape[1]):
            for h in range(W.shape[1]):
                grad_X[n, d] += grad_S[n, h] * W[d, h]
                grad_W[d, h] += grad_S[n, h] * X[n, d]
    return grad_X, grad_W


def backward(x, y, W2, s, h, y_pred):
    """The gradients of the loss with respect to all four parameters.

    x: (N, D). y, y_pred: (N, C). W2: (H, C). s, h: (N, H).
    Returns grad_W1 (D, H), grad_b1 (H,), grad_W2 (H, C), grad_b2 (C,).
    """
    grad_y_pred = 2 * (y_pred - y) / len(y)  # (N, C)
    grad_W2 = h.T @ grad_y_pred  # (H, C)
    grad_b2 = grad_y_pred.sum(axis=0)  # (C,)
    grad_h = grad_y_pred @ W2.T  # (N, H)
    grad_s = grad_h * (s > 0)  # (N, H)
    grad_W1 = x.T @ grad_s  # (D, H)
    grad_b1 = grad_s.sum(axis=0)  # (H,)
    return grad_W1, grad_b1, grad_W2, grad_b2


def backward_rule(op, g, a, b=None):
    """The gradients of an operation's inputs, as a tuple with one array for each input.

    op: the name. g: the upstream gradient, shaped like the operation's output. a, b: the values of its inputs.
    """
    if op == "add":
        return g, g
    if op == "sub":
        return g, -g
    if op == "mul":
        return g * b, g * a
    if op == "matmul":
        return g @ b.T, a.T @ g
    if op == "relu":
        return (g * (a > 0),)
    if op == "sum":
        return (g * np.ones(a.shape),)
    raise ValueError(f"no backward rule for {op!r}")


def unbroadcast(grad, shape):
    """Sum over the axes that broadcasting added or stretched, so that the gradient has its input's shape."""
    grad = np.sum(grad, axis=tuple(range(np.ndim(grad) - len(shape))))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return np.sum(grad, axis=stretched, keepdims=True)


def backpropagate(tape, target):
    """Set `.grad` of every variable on the tape that `target`, a single number, depends on."""
    for record in tape.records:
        for variable in [*record.inputs, record.output]:
            variable.grad = None

    target.grad = np.ones(target.value.shape)
    for record in reversed(tape.records):
        g = record.output.grad
        if g is None:
            continue  # the target does not depend on this record
        values = [variable.value for variable in record.inputs]
        grads = backward_rule(record.op, g, *values)
        for variable, grad in zip(record.inputs, grads, strict=True):
            grad = unbroadcast(grad, variable.value.shape)
            if variable.grad is None:
                variable.grad = grad
            else:
                variable.grad = variable.grad + grad


def check_slope(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `slope` if it is right, else ours. A loss, an array and an index go in, a number comes out."""
    start = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 2.0]])
    factors = np.array([[2.0, -3.0, 0.5], [-1.0, 4.0, 0.25]])
    matrix_slopes = 2 * factors * start  # of sum(factors * w**2)

    def tried(index: tuple[int, ...] = (1, 1), row: int | None = None, **settings: float) -> tuple[Any, bool]:
        """The slope along an entry of the matrix, or of one of its rows, and whether all entries are what they were."""
        chosen: Any = slice(None) if row is None else row
        w = start[chosen].copy()
        got = attempt(lambda: float(np.sum(factors[chosen] * w**2)), w, index, **settings)
        return got, np.allclose(w, start[chosen], rtol=0, atol=1e-9)

    def near(got: Any, right: float) -> bool:
        return np.shape(got) == () and bool(np.isclose(got, right, rtol=1e-3, atol=1e-8))

    return attempt_or_solution(
        "slope", attempt, slope,
        (lambda: tried()[0] is not None and np.shape(tried()[0]) == (),
         "It should return one number: the change of the loss, divided by step."),
        (lambda: tried()[0] != 0,
         "The result is 0, so both calls of loss() gave the same number. The argument loss sees the array w itself: "
         "change its entry, not a copy, between the two calls."),
        (lambda: not near(tried()[0], matrix_slopes.sum()),
         "You increase all entries of w. Increase only w[index]."),
        (lambda: not near(tried()[0], -matrix_slopes[1, 1]),
         "The slope has the wrong sign. The change of the loss is its value after the step minus that before it."),
        (lambda: not near(tried()[0], matrix_slopes[1, 1] * 1e-5),
         "This is the change of the loss. Divide it by step."),
        (lambda: near(tried()[0], matrix_slopes[1, 1]),
         "The slope is not right. Call loss() before and after w[index] has grown by step; subtract, then divide."),
        (lambda: near(tried(step=1e-4)[0], matrix_slopes[1, 1]),
         "Right for a step of 1e-5, and wrong for another one. Use the argument step, in the change and the division."),
        (lambda: near(tried((0, 1))[0], matrix_slopes[0, 1]) and near(tried((2,), row=1)[0], matrix_slopes[1, 2]),
         "Right for one entry, and wrong for others. Use the argument index: w[index] works for any array."),
        (lambda: tried()[1],
         "The slope is right, but w is not what it was. Keep the old value of the entry, and put it back at the end."),
    )  # fmt: skip


def check_neuron_backward(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `neuron_backward` if it is right, else ours. Numbers go in, four numbers come out."""
    opened, closed = [(2.0, 3.0, -1.0, 1.0), (1.5, -2.0, 4.0, 0.25), (-1.0, -2.0, 3.0, 8.0)], (1.0, -3.0, 1.0, 2.0)
    right = [neuron_backward(*numbers) for numbers in opened]

    def everywhere(question: Callable[..., bool]) -> bool:
        """Whether `question(inputs, got, right)` is true of every open neuron."""
        return all(question(numbers, attempt(*numbers), truth) for numbers, truth in zip(opened, right, strict=True))

    return attempt_or_solution(
        "neuron_backward", attempt, neuron_backward,
        (lambda: everywhere(lambda _, got, truth: np.shape(got) == (4,)),
         "It should return four numbers: loss, grad_w, grad_x, grad_b. The loss comes from the forward pass."),
        (lambda: everywhere(lambda _, got, truth: _same(got[0], truth[0])),
         "The loss is not right. Check the five lines of the forward pass and the order of the results: the loss "
         "is the first of them, and for the neuron in the figure it is 16."),
        (lambda: not everywhere(lambda _, got, truth: _same(np.sort(got[1:]), np.sort(truth[1:]))
                                and not _same(got[3], truth[3])),
         "These are the right gradients in a different order. Return loss, grad_w, grad_x, grad_b."),
        (lambda: not everywhere(lambda _, got, truth: got[3] == 0),
         "grad_b is 0 even where s is positive. There s is the larger input of max, so the whole gradient goes to s."),
        (lambda: not everywhere(lambda _, got, truth: _same(got[3], truth[3] / 2)),
         "grad_b is half of what it should be. The last product uses e twice, so grad_e has two contributions."),
        (lambda: not everywhere(lambda _, got, truth: _same(got[3], -truth[3])),
         "grad_b has the wrong sign. In e = h - y the minus belongs to y; the local gradient of h is +1."),
        (lambda: everywhere(lambda _, got, truth: _same(got[3], truth[3])),
         "grad_b is wrong where s is positive. Walk back from the loss to e, h, s and b, and multiply at each "
         "operation the local gradient by the upstream gradient."),
        (lambda: not everywhere(lambda _, got, truth: _same(got[1:3], (truth[2], truth[1]))),
         "grad_w and grad_x are swapped. A product passes to each input the value of the other one, times upstream."),
        (lambda: not everywhere(lambda numbers, got, truth: _same(got[1], numbers[1])),
         "grad_w is the local gradient alone. Multiply it by the upstream gradient, grad_a."),
        (lambda: everywhere(lambda _, got, truth: _same(got[1], truth[1])),
         "grad_b is right and grad_w is not. Look at a = w * x: the local gradient of w, times grad_a."),
        (lambda: everywhere(lambda _, got, truth: _same(got[2], truth[2])),
         "grad_x is not right. Look at a = w * x: the local gradient of x, times grad_a."),
        (lambda: _same(attempt(*closed)[1:], (0, 0, 0)),
         "Right where s is positive, wrong where it is negative: there max picks the 0, and no gradient reaches s."),
        (lambda: _same(attempt(*closed)[0], neuron_backward(*closed)[0]),
         "The loss is wrong where s is negative: max(s, 0) is 0 there, and so is the output of the neuron, h."),
    )  # fmt: skip


def check_matmul_backward(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `matmul_backward` if it is right, else ours. Three arrays go in, two come out."""
    rng = np.random.default_rng(1)
    X, W, grad_S = rng.standard_normal((2, 3)), rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    right_X, right_W = grad_S @ W.T, X.T @ grad_S

    def got() -> Any:
        return attempt(grad_S.copy(), X.copy(), W.copy())

    return attempt_or_solution(
        "matmul_backward", attempt, matmul_backward,
        (lambda: _are(2, got()), "It should return two arrays: grad_X, grad_W."),
        (lambda: [np.shape(grad) for grad in got()] == [X.shape, W.shape],
         "A gradient has the shape of its array: grad_X that of X, (N, D), and grad_W that of W, (D, H)."),
        (lambda: all(np.any(grad[-1]) for grad in got()),
         "The last row of a gradient is still 0. Do the loops run to the end, and does return stand after them?"),
        (lambda: not _same(got()[0], grad_S[:, -1:] * W[:, -1]) and not _same(got()[1], np.outer(X[-1], grad_S[-1])),
         "Only the last contribution is left. An entry is used by several entries of S, so add them up with +=."),
        (lambda: not _same(got()[0], X * grad_S.sum(axis=1, keepdims=True)),
         "In grad_X you multiply by X. A product passes to X the value of the other factor."),
        (lambda: not _same(got()[1], W * grad_S.sum(axis=0)),
         "In grad_W you multiply by W. A product passes to W the value of the other factor."),
        (lambda: not _same(got()[0], np.tile(W.sum(axis=1), (2, 1))) and
                 not _same(got()[1], np.tile(X.sum(axis=0)[:, None], (1, 4))),
         "These are the local gradients, added up. Multiply each by its upstream gradient, an entry of grad_S."),
        (lambda: _same(got()[0], right_X),
         "grad_X is not right. X[n, d] takes part in S[n, h] for every h. Which entry of W is it multiplied by there?"),
        (lambda: _same(got()[1], right_W),
         "grad_W is not right. W[d, h] takes part in S[n, h] for every n. Which entry of X is it multiplied by there?"),
    )  # fmt: skip


def check_backward(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `backward` if it is right, else ours. Six arrays go in, four gradients come out."""
    rng = np.random.default_rng(2)
    N, D, H, C = 4, 3, 5, 7
    x, y, W1, W2 = (rng.standard_normal(shape) for shape in [(N, D), (N, C), (D, H), (H, C)])
    s = x @ W1 + rng.standard_normal(H)
    h = np.maximum(s, 0)
    y_pred = h @ W2 + rng.standard_normal(C)
    inputs = x, y, W2, s, h, y_pred
    right_W1, right_b1, right_W2, right_b2 = backward(*inputs)
    unmasked_W1 = no_relu_mask(*inputs)[0]
    grad_h = 2 * (y_pred - y) / N @ W2.T
    weighted_W1, rectified_W1 = x.T @ (grad_h * h), x.T @ np.maximum(grad_h, 0)

    def got() -> Any:
        return attempt(*(array.copy() for array in inputs))

    return attempt_or_solution(
        "backward", attempt, backward,
        (lambda: _are(4, got()), "It should return four arrays: grad_W1, grad_b1, grad_W2, grad_b2."),
        (lambda: (np.shape(got()[0]), np.shape(got()[2])) == ((D, H), (H, C)),
         "Each gradient has the shape of its array: grad_W1, the first result, (D, H); grad_W2, the third, (H, C)."),
        (lambda: (np.shape(got()[1]), np.shape(got()[3])) == ((H,), (C,)),
         "A bias of shape (H,) has a gradient of shape (H,). All N examples use it, so add up their contributions."),
        (lambda: not (_same(got()[2], right_W2) and _same(got()[3], right_b2 / N)),
         "grad_W2 is right and grad_b2 is N times too small. Sum over the examples: the loss has its 1/N already."),
        (lambda: not _same(got()[2], -right_W2),
         "grad_W2 has the wrong sign. The gradient of (y_pred - y) ** 2 with respect to y_pred is positive where "
         "y_pred is too large."),
        (lambda: not _same(got()[2], right_W2 * N) and not _same(got()[2], right_W2 * N / 2),
         "grad_W2 is too large by a factor that grows with N. The loss divides by len(y), so its gradient does, too."),
        (lambda: not _same(got()[2], right_W2 / 2),
         "grad_W2 is half of what it should be. The derivative of a square has a factor of 2."),
        (lambda: not _same(got()[2], right_W2 / C),
         "grad_W2 is C times too small. The loss divides by the number of examples, len(y), and not by y.size."),
        (lambda: _same(got()[2], right_W2),
         "grad_W2 is not right. First grad_y_pred, (N, C), from the loss; then W2 is a factor of h @ W2."),
        (lambda: _same(got()[3], right_b2),
         "grad_W2 is right and grad_b2 is not. It is a sum over the rows of grad_y_pred."),
        (lambda: not _same(got()[0], unmasked_W1),
         "The ReLU mask is missing on the way to grad_W1. Where s is negative, ReLU passes nothing back."),
        (lambda: not _same(got()[0], weighted_W1),
         "You multiply grad_h by the activations. The local gradient "
         "of ReLU is 1 where s is positive, and 0 elsewhere."),
        (lambda: not _same(got()[0], rectified_W1),
         "You ask whether grad_h is positive. The mask of ReLU comes from the forward pass: is s positive?"),
        (lambda: _same(got()[0], right_W1),
         "The second layer is right and grad_W1 is not. Go back through h @ W2, then ReLU, then x @ W1."),
        (lambda: not _same(got()[1], right_b1 / N),
         "grad_W1 is right and grad_b1 is N times too small. Sum over the examples: the loss has its 1/N already."),
        (lambda: _same(got()[1], right_b1),
         "grad_W1 is right and grad_b1 is not. It is a sum over the rows of grad_s, the gradient after the mask."),
        (lambda: attempt(*(given := [array.copy() for array in inputs])) and all(map(np.array_equal, given, inputs)),
         "The gradients are right, but your function changes one of its arguments, and the caller still needs these "
         "arrays. Write `y_pred - y` instead of `y_pred -= y`, and do not assign to entries of an argument."),
    )  # fmt: skip


def check_backward_rule(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `backward_rule` if it is right, else ours. Upstream gradient and inputs go in, a tuple comes out."""
    rng = np.random.default_rng(3)
    g, a, b = rng.standard_normal((3, 3, 4))
    matrix, upstream = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    three = np.array(3.0)

    def got(op: str, *arrays: Array) -> Any:
        """What the attempt gives, as a tuple; None if it is not one array for each input."""
        try:
            grads = attempt(op, *(array.copy() for array in arrays))
        except ValueError:  # two matrices that do not fit
            return None
        fits = isinstance(grads, (tuple, list)) and len(grads) == len(arrays) - 1
        return tuple(grads) if fits else None

    pair = "should return a tuple of two arrays, the gradients of a and of b."
    single = 'has one input, so its rule returns a tuple of one array: "return (grad,)", with the comma.'
    return attempt_or_solution(
        "backward_rule", attempt, backward_rule,
        (lambda: _all_same(got("add", g, a, b), (g, g)), '"add" was right: both inputs receive g.'),
        (lambda: got("sub", g, a, b) is not None, f'"sub" {pair}'),
        (lambda: _all_same(got("sub", g, a, b), (g, -g)),
         '"sub" is a - b. Its local gradients are +1 for a and -1 for b; multiply each by g.'),
        (lambda: got("mul", g, a, b) is not None, f'"mul" {pair}'),
        (lambda: not _all_same(got("mul", g, a, b), (g * a, g * b)),
         '"mul" gives each input its own value. It passes to each input the value of the other one, times g.'),
        (lambda: not _all_same(got("mul", g, a, b), (b, a)), '"mul" returns the local gradients. Multiply them by g.'),
        (lambda: _all_same(got("mul", g, a, b), (g * b, g * a)),
         '"mul" is not right. It passes to each input the value of the other one, times g.'),
        (lambda: [np.shape(grad) for grad in got("matmul", upstream, a, matrix) or ()] == [(3, 4), (4, 2)],
         '"matmul": for a of shape (3, 4), b of shape (4, 2) and g of shape (3, 2), return two gradients with the '
         "shapes of a and of b. Which products of g with a transposed input have these shapes?"),
        (lambda: _all_same(got("matmul", upstream, a, matrix), (upstream @ matrix.T, a.T @ upstream)),
         '"matmul" has the right shapes and wrong values. Compare with the two formulas of section 3.'),
        (lambda: got("relu", g, a) is not None, f'"relu" {single}'),
        (lambda: not _all_same(got("relu", g, a), (np.maximum(g, 0),)),
         '"relu" asks whether g is positive. The mask comes from the input of the forward pass, a.'),
        (lambda: not _all_same(got("relu", g, a), (1.0 * (a > 0),)),
         '"relu" returns the mask, which is the local gradient. Multiply it by g.'),
        (lambda: not _all_same(got("relu", g, a), (g * np.maximum(a, 0),)),
         '"relu" multiplies by the activation. The local gradient is 1 where a is positive, and 0 elsewhere.'),
        (lambda: _all_same(got("relu", g, a), (g * (a > 0),)),
         '"relu" is not right: g where a is positive, 0 elsewhere.'),
        (lambda: got("sum", three, a) is not None, f'"sum" {single}'),
        (lambda: np.shape(got("sum", three, a)[0]) == a.shape,
         '"sum": the gradient has the shape of a, although g is a single number. Every entry of a receives one.'),
        (lambda: not _all_same(got("sum", three, a), (np.ones(a.shape),)),
         '"sum" returns the local gradients, all 1. Multiply them by g, which need not be 1.'),
        (lambda: _all_same(got("sum", three, a), (3 * np.ones(a.shape),)),
         '"sum" is not right: every entry of a counts once in the sum.'),
    )  # fmt: skip


def check_backpropagate(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """The reader's `backpropagate` if it is right, else ours. It is tried on small tapes and must set `.grad`."""

    def after(make: Callable[[], _Small], passes: int = 1) -> _Small:
        small = make()
        for _ in range(passes):
            attempt(small.tape, small.target)
        return small

    def survives(make: Callable[[], _Small]) -> bool:
        try:
            after(make)
        except (TypeError, AttributeError):  # None in a product
            return False
        return True

    def chain() -> _Small:  # target = sum(u * v)
        u, v = _variable([1.0, 2.0, 3.0]), _variable([4.0, 5.0, 6.0])
        product, target = _variable(u.value * v.value), _variable(np.sum(u.value * v.value))
        return _Small(_tape(("mul", [u, v], product), ("sum", [product], target)), target, (u, v, product))

    def twice() -> _Small:  # target = sum(u * u)
        u = _variable([1.0, 2.0, 3.0])
        product, target = _variable(u.value**2), _variable(np.sum(u.value**2))
        return _Small(_tape(("mul", [u, u], product), ("sum", [product], target)), target, (u, product))

    def scaled() -> _Small:  # target = sum(u) * 3
        u, factor = _variable([1.0, 2.0]), _variable(3.0)
        total, target = _variable(3.0), _variable(9.0)
        return _Small(_tape(("sum", [u], total), ("mul", [total, factor], target)), target, (u, factor))

    def again() -> _Small:  # target = sum(u) * sum(u - v): two records use u
        u, v = _variable([1.0, 2.0, 3.0]), _variable([4.0, 4.0, 5.0])
        first, difference = _variable(6.0), _variable(u.value - v.value)
        second, target = _variable(-7.0), _variable(-42.0)
        records = [("sum", [u], first), ("sub", [u, v], difference), ("sum", [difference], second)]
        return _Small(_tape(*records, ("mul", [first, second], target)), target, (u, v))

    def biased() -> _Small:  # target = sum(u + v), v stretched over the rows of u
        u, v = _variable(np.ones((2, 3))), _variable([1.0, 2.0, 3.0])
        added, target = _variable(u.value + v.value), _variable(np.sum(u.value + v.value))
        return _Small(_tape(("add", [u, v], added), ("sum", [added], target)), target, (u, v))

    def unused() -> _Small:  # a record after the target that nothing needs
        small = chain()
        other, beside = _variable([1.0, 1.0, 1.0]), _variable(small.of[0].value)
        small.tape.records.append(SimpleNamespace(op="mul", inputs=[small.of[0], other], output=beside))
        return small._replace(of=(*small.of, other))

    return attempt_or_solution(
        "backpropagate", attempt, backpropagate,
        (lambda: _same(after(chain).target.grad, 1),
         "Begin at the end: the gradient of the target with respect to itself is 1, in the shape of its value."),
        (lambda: after(chain).of[2].grad is not None,
         "Only the target has a gradient. Each record passes the gradient of its output on to its inputs."),
        (lambda: after(chain).of[0].grad is not None,
         "The last operation passed its gradient on, but the one before it did not. Walk the tape from its end."),
        (lambda: _same(after(chain).of[0].grad, [4, 5, 6]) and _same(after(chain).of[1].grad, [1, 2, 3]),
         "For sum(u * v) the gradients are not right. Call backward_rule with the operation's name, the gradient of "
         "the record's output and the values of its inputs, in this order."),
        (lambda: _same(after(scaled).of[0].grad, [3, 3]),
         "For sum(u) * 3 the gradient of u is not 3. The upstream gradient of each record is that of its own output."),
        (lambda: not _same(after(twice).of[0].grad, [1, 2, 3]),
         "For sum(u * u) the gradient of u is half of what it should be: the second contribution replaces the first. "
         "Add to a gradient that is there already."),
        (lambda: _same(after(twice).of[0].grad, [2, 4, 6]), "For sum(u * u) the gradient of u is not right."),
        (lambda: _same(after(again).of[0].grad, [-1, -1, -1]) and _same(after(again).of[1].grad, [-6, -6, -6]),
         "Where two records use the same variable, its gradient is not right. Is something lost, or passed on early?"),
        (lambda: np.shape(after(biased).of[1].grad) == (3,),
         "A bias of shape (3,) that is added to two rows gets a gradient of another shape. Use unbroadcast."),
        (lambda: _same(after(biased).of[1].grad, [2, 2, 2]) and _same(after(biased).of[0].grad, np.ones((2, 3))),
         "For a bias that is added to two rows the gradient is not right. unbroadcast gets the input's shape."),
        (lambda: survives(unused),
         "The target does not depend on every record. Where the gradient of the output is None, skip the record."),
        (lambda: after(unused).of[0].grad is not None,
         "You end the loop at the first record to skip. Go on with the next one: continue, not break."),
        (lambda: after(unused).of[3].grad is None and _same(after(unused).of[0].grad, [4, 5, 6]),
         "A record that the target does not depend on changes gradients. Skip it: the gradient of its output is None."),
        (lambda: _same(after(twice, passes=2).of[0].grad, [2, 4, 6]),
         "A second call adds to the gradients of the first. Set all of them to None before you begin."),
    )  # fmt: skip


def no_relu_mask(x: Array, y: Array, W2: Array, s: Array, h: Array, y_pred: Array) -> Gradients:
    """`backward` with a bug: the gradient passes through ReLU as if ReLU were not there."""
    return backward(x, y, W2, np.ones(s.shape), h, y_pred)


def mean_bias_gradient(x: Array, y: Array, W2: Array, s: Array, h: Array, y_pred: Array) -> Gradients:
    """`backward` with a bug: the gradients of the biases are means over the examples where they should be sums."""
    grad_W1, grad_b1, grad_W2, grad_b2 = backward(x, y, W2, s, h, y_pred)
    return grad_W1, grad_b1 / len(y), grad_W2, grad_b2 / len(y)


def wrong_sign(x: Array, y: Array, W2: Array, s: Array, h: Array, y_pred: Array) -> Gradients:
    """`backward` with a bug: the gradient of W1 has the wrong sign."""
    grad_W1, grad_b1, grad_W2, grad_b2 = backward(x, y, W2, s, h, y_pred)
    return -grad_W1, grad_b1, grad_W2, grad_b2


class Agreement(NamedTuple):
    """What came out of a comparison with PyTorch."""

    compared: int
    """gradients that both engines have"""
    disagreements: int
    """of shape, or about whether the result depends on an input at all"""
    largest_error: float
    """relative, over all gradients compared"""


def compare_with_pytorch(
    Tape: Callable[[], Any], Variable: Callable[..., Any], backpropagate: Callable[..., None], *, programs: int = 200
) -> Agreement:
    """Run random programs on the tape and in PyTorch, and compare all gradients of their inputs.

    Each program has four inputs of shapes that broadcast, then ten random operations on random earlier results, and
    a sum. `tape.apply(op, *variables)` does one operation.
    """
    import torch

    compared, disagreements, largest = 0, 0, 0.0
    for seed in range(programs):
        choose = np.random.default_rng(seed)
        tape, ours, theirs = Tape(), [], []
        for shape in [(3, 4), (1, 4), (3, 1), ()]:
            value = np.asarray(choose.standard_normal(shape))
            ours.append(Variable(value, tape))
            theirs.append(torch.tensor(value, requires_grad=True))
        for _ in range(10):
            op = str(choose.choice(["add", "sub", "mul", "relu"]))
            chosen = choose.integers(len(ours), size=1 if op == "relu" else 2)
            ours.append(tape.apply(op, *(ours[index] for index in chosen)))
            theirs.append(getattr(torch, op)(*(theirs[index] for index in chosen)))
        backpropagate(tape, ours[-1].sum())
        theirs[-1].sum().backward()
        for variable, tensor in zip(ours[:4], theirs[:4], strict=True):
            if variable.grad is None or tensor.grad is None:
                disagreements += (variable.grad is None) != (tensor.grad is None)
                continue
            expected = tensor.grad.numpy()
            compared += 1
            disagreements += variable.grad.shape != expected.shape
            size = float(np.abs(expected).max())
            largest = max(largest, float(np.abs(variable.grad - expected).max()) / size if size else 0.0)
    return Agreement(compared, int(disagreements), largest)


class _Small(NamedTuple):
    """A tape, the number at its end, and the variables to look at."""

    tape: Any
    target: Any
    of: tuple[Any, ...]


class Variable(SimpleNamespace):
    """Stands for the lecture's own in a check, also in the messages of errors."""


def _variable(value: Any) -> Any:
    return Variable(value=np.asarray(value, dtype=float), grad=None)


def _tape(*records: tuple[str, Sequence[Any], Any]) -> Any:
    return SimpleNamespace(
        records=[SimpleNamespace(op=op, inputs=list(inputs), output=output) for op, inputs, output in records]
    )


def _are(count: int, got: Any) -> bool:
    """Whether a function returned so many results; None if its return is missing."""
    return isinstance(got, (tuple, list)) and len(got) == count


def _same(got: Any, right: Any) -> bool:
    """Equal up to rounding, float32 included; arrays of different shape, or None, are not."""
    if got is None or np.shape(got) != np.shape(right):
        return False
    return bool(np.allclose(np.asarray(got, dtype=float), right, rtol=1e-5, atol=1e-7))


def _all_same(got: Any, right: Sequence[Any]) -> bool:
    return got is not None and all(_same(one, other) for one, other in zip(got, right, strict=True))
