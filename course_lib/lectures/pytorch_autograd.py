"""Checks for the exercises of lecture 06 and of the extra on checking a backward pass, and their solutions.

Each check names the first mistake that it finds. The solutions are those that are folded in the lecture, word for word.
`lectures` loads this module when a notebook asks for it, so torch may be imported here: one solution is a class that is
derived from one of torch's.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

__all__ = [
    "check_PReLU",
    "check_Ternary",
    "check_chain_gradient",
    "check_gradients",
    "check_newton",
    "check_run_backward",
    "check_train",
    "vjp",
]

# The solutions are written as a reader writes them: without types.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"


def gradients(model, params, images, labels):
    """Let autograd fill the .grad of each tensor in `params`, and return these gradients as a list.

    model: takes params and images, (N, 64), and returns logits, (N, 10). labels: (N,). The loss is the cross-entropy.
    """
    for param in params:
        param.requires_grad_()
    loss = F.cross_entropy(model(params, images), labels)
    loss.backward()
    return [param.grad for param in params]


def chain_gradient(result):
    """The gradient of `result`, a tensor with one entry, for the leaf at the beginning of a chain of operations."""
    node = result.grad_fn
    grad = torch.ones_like(result)
    while not hasattr(node, "variable"):
        node, grad = vjp(node, grad)[0]
    return grad


def make_parameters(sizes, seed=0, device="cpu"):
    """Weights and biases of fully connected layers, ready for training.

    sizes: numbers of units, such as [64, 32, 10] for 64 inputs, 32 hidden units and 10 logits.
    Returns a list [W1, b1, W2, b2, ...] of float64 leaves on `device`; W: (n_in, n_out), b: (n_out,).
    """
    generator = torch.Generator().manual_seed(seed)
    params = []
    for n_in, n_out in pairwise(sizes):
        W = torch.randn(n_in, n_out, generator=generator, dtype=torch.float64) * (2 / n_in) ** 0.5
        b = torch.zeros(n_out, dtype=torch.float64)
        params.append(W.to(device).requires_grad_())
        params.append(b.to(device).requires_grad_())
    return params


def count_uses(result):
    """A dict: each node of the graph of `result` -> how often it is a source of other nodes; result.grad_fn -> 0."""
    uses = {result.grad_fn: 0}
    to_visit = [result.grad_fn]
    while to_visit:
        node = to_visit.pop()
        for source, _ in node.next_functions:
            if source is None:  # an input that requires no gradient, such as data
                continue
            if source not in uses:  # met for the first time
                uses[source] = 0
                to_visit.append(source)
            uses[source] += 1
    return uses


def run_backward(result):
    """Do what result.backward() does: add to each leaf's .grad the gradient of `result`, a tensor with one entry."""
    missing = count_uses(result)
    arrived = {result.grad_fn: torch.ones_like(result)}
    ready = [result.grad_fn]
    while ready:
        node = ready.pop()
        upstream = arrived.pop(node)
        if hasattr(node, "variable"):
            leaf = node.variable
            leaf.grad = upstream if leaf.grad is None else leaf.grad + upstream
            continue
        for source, grad in vjp(node, upstream):
            if source in arrived:
                arrived[source] = arrived[source] + grad
            else:
                arrived[source] = grad
            missing[source] -= 1
            if missing[source] == 0:
                ready.append(source)


def train(model, params, images, labels, batches, lr=0.5, clear=True):
    """Mini-batch gradient descent on the cross-entropy; changes `params` in place.

    model: takes params and images, (N, 64), and returns logits, (N, 10). labels: (N,).
    batches: for each step, a tensor with the row indices of its batch. clear: whether to clear the gradients.
    Returns a list with one Python float for each step: the loss on its batch before the update.
    """
    losses = []
    for rows in batches:
        loss = F.cross_entropy(model(params, images[rows]), labels[rows])
        if clear:
            for param in params:
                param.grad = None
        loss.backward()
        with torch.no_grad():
            for param in params:
                param -= lr * param.grad
        losses.append(loss.item())
    return losses


def newton(f, start, steps):
    """Newton's method for a minimum of f.

    f: takes and returns a tensor with one entry. start: a number. Returns a Python float.
    """
    t = torch.tensor(start, dtype=torch.float64)
    for _ in range(steps):
        t = t.detach().requires_grad_()
        [slope] = torch.autograd.grad(f(t), t, create_graph=True)
        [curvature] = torch.autograd.grad(slope, t)
        t = t - slope / curvature
    return t.item()


class PReLU(torch.autograd.Function):
    """x where x > 0, and a * x elsewhere."""

    @staticmethod
    def forward(ctx, x, a):
        """x: a tensor of any shape. a: a tensor of shape (), so a single number. Returns a tensor of x's shape."""
        ctx.save_for_backward(x, a)
        return torch.where(x > 0, x, a * x)

    @staticmethod
    def backward(ctx, grad_output):
        """grad_output: x's shape. Returns two gradients: for x, of x's shape, and for a, of shape ()."""
        x, a = ctx.saved_tensors
        local_x = torch.where(x > 0, 1.0, a)
        local_a = torch.where(x > 0, 0.0, x)
        grad_x = grad_output * local_x
        grad_a = (grad_output * local_a).sum()
        return grad_x, grad_a


class Ternary(torch.autograd.Function):
    """Each element of w becomes -size, 0 or size, the nearest; the gradient goes straight through."""

    @staticmethod
    def forward(ctx, w, size):
        """w: a tensor, size: a positive number. Returns a new tensor of w's shape and dtype."""
        ctx.save_for_backward(w)
        ctx.size = size
        return (w / size).round().clamp(-1, 1) * size

    @staticmethod
    def backward(ctx, grad_output):
        """grad_output: w's shape. Returns the gradient for w, and None for size."""
        (w,) = ctx.saved_tensors
        grad_w = grad_output * (w.abs() <= ctx.size)
        return grad_w, None


def network(params: Any, images: Any) -> Any:
    """Logits (N, 10) of the lecture's two-layer network."""
    W1, b1, W2, b2 = params
    return (images @ W1 + b1).relu() @ W2 + b2


def vjp(node: Any, upstream: Any) -> list[tuple[Any, Any]]:
    """What a node of the graph sends back when it receives the gradient `upstream`.

    Returns a list of pairs (source, gradient), one for each input that requires a gradient, in their order.
    """
    with torch.no_grad():  # do not record this
        grads = node(upstream)
    if not isinstance(grads, tuple):
        grads = (grads,)
    pairs = []
    for (source, number), grad in zip(node.next_functions, grads, strict=True):
        if source is not None:  # None: this input requires no gradient
            shape = source._input_metadata[number].shape  # of this input; private, so only for exploring
            pairs.append((source, grad.sum_to_size(shape)))  # sums what was broadcast
    return pairs


def check_gradients(attempt: Any) -> Any:
    """`gradients(model, params, images, labels)` fills `.grad` and returns the gradients."""
    found: Any = attempt
    generator = torch.Generator().manual_seed(0)
    data = torch.rand(12, 64, generator=generator, dtype=torch.float64)
    labels = torch.arange(12) % 10

    def plain() -> list[Any]:
        return [param.detach() for param in make_parameters([64, 8, 10], seed=3)]

    def call(model: Any = network, params: Any = None) -> Any:
        return found(model, plain() if params is None else params, data.clone(), labels)

    def right(loss: Callable[[Any], Any]) -> list[Any]:
        params = [param.requires_grad_() for param in plain()]
        return list(torch.autograd.grad(loss(network(params, data)), params))

    def alike(ours: Any, theirs: Any) -> bool:
        return all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(ours, theirs, strict=True))

    def uses_model() -> bool:
        model = mock.Mock(side_effect=network)
        call(model)
        return model.called

    def fills_grad() -> bool:
        params = plain()
        returned = call(params=params)
        return all(p.grad is not None for p in params) and alike([p.grad for p in params], returned)

    return attempt_or_solution(
        "gradients", attempt, gradients,
        (lambda: not _raises(RuntimeError, call, "does not require grad"),
         "The tensor on which you call backward does not depend on any tensor that requires a gradient. Call "
         "param.requires_grad_(), with its parentheses, for each parameter before you compute the loss."),
        (lambda: not _raises(RuntimeError, call, "scalar outputs"),
         "You call backward on a tensor with several entries. Call it on the loss, F.cross_entropy(logits, labels), "
         "which is one number."),
        (lambda: not _raises(NotImplementedError, call, "not implemented for 'Long'"),
         "F.cross_entropy takes the logits first, and then the labels."),
        (lambda: not _raises(RuntimeError, call, "target with class probabilities"),
         "F.cross_entropy takes the labels as they are, as integers: not one-hot."),
        (uses_model,
         "Your function never calls `model`, but perhaps `network`. Use the model that it is given: "
         "model(params, images)."),
        (lambda: not _raises(ValueError, call, "values to unpack")
         and not _raises(ValueError, lambda: call(lambda params, images: images @ params[0],
                                                  [torch.ones(64, 10, dtype=torch.float64)]), "values to unpack"),
         "A model may have any number of parameters. Loop over params instead of unpacking them."),
        (lambda: call() is not None,
         "Your function returns None. Is there a `return`, and does it return the gradients of the parameters? The "
         ".grad of the loss is None, and so is the result of loss.backward()."),
        (lambda: isinstance(call(), (list, tuple)) and len(call()) == 4,
         "Return a list with one gradient for each parameter."),
        (lambda: all(grad is not None for grad in call()),
         "An entry of your list is None. A parameter's .grad is None until backward() has run, and it stays None "
         "without requires_grad_(), or if the loss does not depend on the parameter. (The call loss.backward() itself "
         "returns None, too.)"),
        (lambda: all(torch.is_tensor(grad) for grad in call()), "An entry of your list is not a tensor."),
        (lambda: not (lambda params: any(ours is theirs for ours in call(params=params) for theirs in params))(plain()),
         "You return a parameter itself. Its gradient is param.grad."),
        (lambda: all(grad.shape == param.shape for grad, param in zip(call(), plain(), strict=True)),
         "A gradient does not have the shape of its parameter. Use the `params` that the function is given, and keep "
         "their order."),
        (lambda: not alike(call(), right(lambda logits: F.cross_entropy(logits.softmax(1), labels))),
         "You apply softmax to the logits, but softmax is part of `F.cross_entropy`: give it the logits."),
        (lambda: not alike(call(), right(lambda logits: F.cross_entropy(logits, labels, reduction="sum"))),
         "These are the gradients of the sum over the examples. By default, F.cross_entropy takes the mean: use that."),
        (lambda: alike(call(), right(lambda logits: F.cross_entropy(logits, labels))),
         "These are not the gradients of F.cross_entropy(model(params, images), labels). Does the loss use the "
         "arguments of the function, all of `images` and `labels`?"),
        (fills_grad,
         "What you return is right, but it is not in the .grad of the tensors in `params`. Call requires_grad_() on "
         "these tensors themselves, and backward() on the loss."),
    )  # fmt: skip


def check_chain_gradient(attempt: Any) -> Any:
    """`chain_gradient(result)` is the gradient of the leaf at the beginning of a chain of operations."""
    gradient: Any = attempt

    def of(compute: Callable[[Any], Any], *values: float) -> Any:
        return gradient(compute(torch.tensor(values, dtype=torch.float64, requires_grad=True)))

    def right(compute: Callable[[Any], Any], *values: float) -> Any:
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(compute(x), x)[0]

    def agrees(compute: Callable[[Any], Any], *values: float) -> bool:
        found, expected = of(compute, *values), right(compute, *values)
        return torch.is_tensor(found) and found.shape == expected.shape and torch.allclose(found, expected)

    def three(x: Any) -> Any:
        return x.exp().sin().sum()

    def multiplied_again(*values: float) -> Any:
        """the product of all gradients on the way, where the last of them is the right one"""
        inner = torch.tensor(values, dtype=torch.float64).exp()
        return inner.cos() ** 2 * inner

    def fails(kinds: Any, piece: str) -> bool:
        return _raises(kinds, lambda: of(three, 0.5, 1.0), piece)

    def calls_the_leaf() -> bool:
        return _calls_a_leaf(gradient, lambda: of(three, 0.5, 1.0))

    def returns_what_the_leaf_keeps() -> bool:
        x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        x.grad = torch.zeros_like(x)
        return gradient(three(x)) is x.grad

    def is_its_own() -> bool:
        """whether it gets along without PyTorch's backward pass"""
        theirs = [mock.patch(f"torch.{name}") for name in ("Tensor.backward", "autograd.backward", "autograd.grad")]
        with theirs[0] as first, theirs[1] as second, theirs[2] as third:
            _raises(Exception, lambda: of(three, 0.5, 1.0))
            return not (first.called or second.called or third.called)

    return attempt_or_solution(
        "chain_gradient", attempt, chain_gradient,
        (lambda: _ends(gradient, lambda: of(three, 0.5, 1.0), lambda: of(lambda x: x.sum(), 0.5, 1.0)),
         "Your loop does not end. In each round `node` should become the next node, the first of the pair that `vjp` "
         "returns, until it is the leaf's node, which has an attribute `variable`."),
        (lambda: not fails(AttributeError, "has no attribute 'variable'"),
         "Only the node of the leaf has an attribute `variable`. To ask whether a node has it, use "
         'hasattr(node, "variable").'),
        (lambda: not fails(RuntimeError, "unsupported operation") and not (fails(IndexError, "") and calls_the_leaf())
         and not fails(AttributeError, "'NoneType' object has no attribute '_input_metadata'"),
         "You called the node of the leaf, which has no source. Stop there: it is the node that has an attribute "
         "`variable`. And call `vjp` on a node before you go on to its source, not after."),
        (lambda: not fails(IndexError, ""),
         "`vjp` returns a list of pairs. For a chain the list has a single entry, [0], which is the pair: "
         "node, grad = vjp(node, grad)[0]."),
        (lambda: not fails(TypeError, "is not a Variable") and not fails(AttributeError, "'sum_to_size'"),
         "A node takes a tensor, not a Python number (start with torch.ones_like(result)) and not the list that `vjp` "
         "returns (take the pair out of it)."),
        (lambda: not fails(TypeError, "'Tensor' object is not callable"),
         "You called a tensor as if it were a node. Start at result.grad_fn. In the pairs that `vjp` returns, the node "
         "comes first, then the gradient."),
        (lambda: not fails(ValueError, "values to unpack") and not fails((TypeError, AttributeError), "'tuple' object")
         and not fails((TypeError, AttributeError), "'list' object"),
         "`vjp` returns a list of pairs, and `next_functions` holds pairs: take the pair apart. For a chain there is "
         "one: node, grad = vjp(node, grad)[0]."),
        (lambda: not returns_what_the_leaf_keeps(),
         "You return the .grad of the leaf, which nothing has filled. Return the gradient that has arrived at its "
         "node."),
        (lambda: of(three, 0.5, 1.0) is not None, NOTHING_RETURNED),
        (lambda: torch.is_tensor(of(three, 0.5, 1.0)), "Return the gradient, a tensor, and nothing else."),
        (lambda: of(three, 0.5, 1.0).shape == (2,),
         "Your gradient does not have the shape of the leaf. Does the loop go on until it meets the leaf's node?"),
        (lambda: of(three, 0.5, 1.0).tolist() != [0.5, 1.0],
         "You return the leaf itself. Return the gradient that has arrived at its node."),
        (lambda: not torch.allclose(of(three, 0.5, 1.0), torch.ones(2, dtype=torch.float64)),
         "In x.exp().sin().sum() you return 1 for each entry. The gradient that `vjp` returns is the upstream gradient "
         "of the next node."),
        (lambda: not torch.allclose(of(three, 0.5, 1.0), right(three, 0.5, 1.0) * three(torch.tensor([0.5, 1.0]))),
         "The gradient is too large by the factor `result`. Start with 1: the slope of the result with respect to "
         "itself."),
        (lambda: not torch.allclose(of(three, 0.5, 1.0), torch.tensor([0.5, 1.0], dtype=torch.float64).exp().cos()),
         "In x.exp().sin().sum() you stopped too early: the rule of exp is missing."),
        (lambda: not torch.allclose(of(three, 0.5, 1.0), multiplied_again(0.5, 1.0)),
         "You multiply each gradient by the upstream gradient, but `vjp` has done so already. What it returns is the "
         "upstream gradient of the next node."),
        (lambda: not torch.allclose(of(three, 0.5, 1.0), torch.tensor([0.5, 1.0], dtype=torch.float64).exp()),
         "In x.exp().sin().sum() your result is the slope of exp alone, because its upstream gradient was 1. Give each "
         "node the gradient that `vjp` returned for the node before it."),
        (lambda: agrees(three, 0.5, 1.0), "In x.exp().sin().sum() the gradient is cos(exp(x)) * exp(x)."),
        (lambda: _raises(Exception, lambda: of(lambda x: x.sum(), 0.5, 1.0))
         or of(lambda x: x.sum(), 0.5, 1.0).dtype is torch.float64,
         "The gradient of a float64 tensor comes out as float32, because torch.tensor(1.0) is. Start with "
         "torch.ones_like(result), which has the dtype of the result."),
        (lambda: not _raises(Exception, lambda: of(lambda x: x.sum(), 0.5, 1.0)) and agrees(lambda x: x.sum(), 0.5, 1.0)
         and agrees(lambda x: x.sin().exp().exp().tanh().sum(), 0.5, 1.0),
         "It is right for x.exp().sin().sum(), but not for a chain of another length."),
        (lambda: agrees(lambda x: (2 * x).sum(), 0.5, 1.0)
         and agrees(lambda x: (x + torch.ones(4, 2)).sin().sum(), 1.0, 2.0),
         "It fails for (2 * x).sum() or where x is broadcast. Use the pairs that `vjp` returns."),
        (is_its_own,
         "The gradient is right, but PyTorch's own backward pass computed it. Go from node to node, and call `vjp`."),
    )  # fmt: skip


def check_run_backward(attempt: Any) -> Any:
    """`run_backward(result)` adds to the leaves' `.grad` what `result.backward()` adds."""
    run: Any = attempt

    def leaf(*values: float) -> Any:
        return torch.tensor(values, dtype=torch.float64, requires_grad=True)

    def grads(compute: Callable[..., Any], *leaves: Any, backward: Any = None) -> list[Any]:
        for tensor in leaves:
            tensor.grad = None
        (run if backward is None else backward)(compute(*leaves))
        return [tensor.grad for tensor in leaves]

    def agrees(compute: Callable[..., Any], *leaves: Any) -> bool:
        right = grads(compute, *leaves, backward=torch.Tensor.backward)
        mine = grads(compute, *leaves)
        return all(m is not None and torch.allclose(m, r) for m, r in zip(mine, right, strict=True))

    def product(x: Any, y: Any, z: Any) -> Any:
        return (x * y + z).sum()

    def square(x: Any) -> Any:
        return (x * x).sum()

    def short_way_first(x: Any) -> Any:
        a = x * x
        return (a + a.exp().sin()).sum()

    def long_way_first(x: Any) -> Any:
        a = x * x
        return (a.exp().sin() + a).sum()

    def with_data(x: Any) -> Any:
        return (torch.ones(2, dtype=torch.float64) * x).sum()

    def with_bias(w: Any, b: Any) -> Any:
        return (((torch.ones(4, 3, dtype=torch.float64) * w) + b) ** 2).sum()

    def with_penalty(b: Any) -> Any:
        return ((torch.ones(4, 3, dtype=torch.float64) + b) ** 2).sum() + (b * b).sum()

    def centered(x: Any) -> Any:
        return ((x - x.mean()) ** 3).sum()

    def scaled(x: Any) -> Any:
        return (x * x.sum()).sum()

    def is_its_own() -> bool:
        """whether `run` gets along without PyTorch's backward pass"""
        theirs = [mock.patch(f"torch.{name}") for name in ("Tensor.backward", "autograd.backward", "autograd.grad")]
        with theirs[0] as first, theirs[1] as second, theirs[2] as third:
            _raises(Exception, lambda: run(square(leaf(1.0, 2.0))))
            return not (first.called or second.called or third.called)

    def calls() -> int:
        """of `vjp`, for chains in which each value is used twice: seventeen are enough"""
        names = getattr(run, "__globals__", {})
        found = []
        for sine_first in (False, True):
            counted = mock.Mock(side_effect=names.get("vjp", vjp))
            result = leaf(1.0)
            for _ in range(8):
                result = result.sin() + result if sine_first else result + result.sin()
            with mock.patch.dict(names, vjp=counted):
                run(result.sum())
            found.append(counted.call_count)
        return max(found)

    def leaf_called() -> bool:
        return _calls_a_leaf(run, lambda: grads(product, *three))

    def twice_a_sum() -> bool:
        """the two leaves of a sum get the same tensor"""
        x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
        for _ in range(2):
            run(((x + y) ** 2).sum())
        return all(tensor.grad is not None and tensor.grad.tolist() == [16, 24] for tensor in (x, y))

    def twice() -> bool:
        x = leaf(1.0, 2.0)
        for _ in range(2):
            run(square(x))
        return x.grad is not None and x.grad.tolist() == [4, 8]

    three = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0, 6.0)
    return attempt_or_solution(
        "run_backward", attempt, run_backward,
        (lambda: _ends(run, lambda: grads(product, *three), lambda: grads(square, leaf(1.0, 2.0)),
                       lambda: grads(short_way_first, leaf(0.5, 1.0)), lambda: grads(with_data, leaf(1.0, 2.0))),
         "Your loop does not end. Take a node out of `ready` when it has its turn (`ready.pop()`), and let it become "
         "ready only once: when its count in `missing` reaches 0."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "Boolean value of Tensor")
         and not _raises(RuntimeError, twice, "Boolean value of Tensor"),
         "A gradient has several entries, so it is neither true nor false. Ask whether leaf.grad is None."),
        (lambda: not _raises((TypeError, AttributeError), lambda: grads(product, *three), "'NoneType'"),
         "Before the first gradient arrives, a leaf's .grad is None, and nothing can be added to None."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "unsupported operation"),
         "You called the node of a leaf, which adds to .grad by itself. Update the leaf, and go on to the next node."),
        (lambda: not _raises(AttributeError, lambda: grads(product, *three), "'AccumulateGrad' object"),
         "The node of a leaf is not the leaf, and has no gradient itself. Its leaf is node.variable: update "
         "node.variable.grad."),
        (lambda: not _raises(KeyError, lambda: grads(product, *three)),
         "A dict has no entry for a node at which nothing has arrived. Three places to look at: the pass starts with "
         "the gradient 1 at result.grad_fn, the first gradient that arrives at a node has nothing to be added to, and "
         "only a ready node has its turn."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "type"),
         "The gradient 1 that the pass starts with needs the same dtype as the result: torch.ones_like(result)."),
        (lambda: not _raises(TypeError, lambda: grads(product, *three), "is not a Variable")
         and not _raises(AttributeError, lambda: grads(product, *three), "'sum_to_size'"),
         "A node takes a tensor, not a Python number. Start the pass with torch.ones_like(result)."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "assign a gradient of size"),
         "What arrived at a leaf does not have its shape. Take the gradients from the pairs of `vjp(node, upstream)`: "
         "a node itself returns a tuple only if it has several inputs, and does not sum where an input was broadcast."),
        (lambda: all(grad is not None for grad in grads(product, *three)),
         "After run_backward, a leaf's .grad is still None. Either its node never had its turn (when is a node ready? "
         "Does the loop go on after the first leaf?), or nothing was written: what arrives at a node with an attribute "
         "`variable` goes into node.variable.grad."),
        (lambda: not leaf_called(),
         "You called the node of a leaf, which adds to .grad by itself. Update the leaf, and go on to the next node."),
        (lambda: torch.equal(grads(product, *three)[2], torch.ones(2, dtype=torch.float64)),
         "In (x * y + z).sum() the gradient of z is 1 everywhere. The pass starts with the gradient 1 at the result."),
        (lambda: agrees(product, *three),
         "In (x * y + z).sum() the gradients of x and y are y and x. Deliver each gradient to its own source."),
        (lambda: not _raises((AttributeError, KeyError), lambda: grads(with_data, leaf(1.0, 2.0)))
         and agrees(with_data, leaf(1.0, 2.0)),
         "It is off where an input is data. `vjp` leaves out inputs that require no gradient: use its pairs."),
        (lambda: not _raises(KeyError, lambda: grads(square, leaf(1.0, 2.0))),
         "In (x * x).sum() a node has its turn a second time, when nothing more has arrived. It is ready only once: "
         "when all uses have delivered."),
        (lambda: grads(square, leaf(1.0, 2.0))[0].tolist() != [1, 2],
         "In (x * x).sum() each use of x sends a gradient, and you kept only one of them. Add them up."),
        (lambda: grads(square, leaf(1.0, 2.0))[0].tolist() not in ([3, 6], [4, 8]),
         "In (x * x).sum() you updated x twice, once for each of its uses, and at least once with the sum. A node has "
         "its turn only once: when all uses have delivered."),
        (lambda: agrees(square, leaf(1.0, 2.0)),
         "In (x * x).sum() the gradient of x is 2 * x. x receives one gradient from each of its two uses."),
        (lambda: not _raises(RuntimeError, lambda: grads(short_way_first, leaf(0.5, 1.0)), "unsupported operation")
         and not _raises(RuntimeError, lambda: grads(long_way_first, leaf(0.5, 1.0)), "unsupported operation"),
         "`+=` changes a tensor in place, and another node may have received the same tensor: a sum sends one to both "
         "of its inputs. Make a new one: arrived[source] = arrived[source] + grad."),
        (lambda: agrees(short_way_first, leaf(0.5, 1.0)) and agrees(long_way_first, leaf(0.5, 1.0)),
         "A gradient is off where a result is used several times. Go on from a node only when all uses have delivered, "
         "and with the sum."),
        (is_its_own,
         "The gradients are right, but PyTorch's own backward pass computed them. Write the pass yourself: go from "
         "node to node, and call `vjp` on each."),
        (lambda: calls() <= 17,
         "The gradients are right, but you visit nodes more than once: a chain of results that are used twice would "
         "take twice as long with each link. Wait until all uses have delivered."),
        (lambda: not _raises(RuntimeError, lambda: grads(with_bias, leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)), "size")
         and agrees(with_bias, leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)) and agrees(with_penalty, leaf(1.0, 2.0, 3.0))
         and agrees(centered, leaf(1.0, 2.0, 4.0)) and agrees(scaled, leaf(1.0, 2.0, 4.0)),
         "A gradient is off where the result of an operation was broadcast, or a leaf. `vjp` sums each gradient to the "
         "shape of its input. Do you call it on every node that is not a leaf's?"),
        (twice, "backward adds to what is in .grad already. Yours does not: a second pass should give the sum."),
        (twice_a_sum,
         "In x + y both leaves receive the same tensor. A second pass that changes it in place (`leaf.grad += grad`) "
         "changes the gradients of both. Make a new one: leaf.grad = leaf.grad + grad."),
    )  # fmt: skip


def check_train(attempt: Any) -> Any:
    """`train(model, params, images, labels, batches, lr=0.5, clear=True)` changes `params` and returns the losses."""
    trained: Any = attempt
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(12, 64, generator=generator, dtype=torch.float64)
    labels = torch.arange(12) % 10
    first, second = torch.tensor([0, 1, 2, 3]), torch.tensor([5, 6, 7, 7, 8])

    def fresh() -> list[Any]:
        return list(make_parameters([64, 8, 10], seed=3))

    def after(*batches: Any, by: Any = None, stale: bool = False, **options: Any) -> list[Any]:
        params = fresh()
        for param in params if stale else ():
            param.grad = torch.ones_like(param)
        (by or trained)(network, params, images, labels, list(batches), **options)
        return list(params)

    def alike(ours: list[Any], theirs: list[Any]) -> bool:
        return all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(ours, theirs, strict=True))

    def moves_like(*batches: Any, **options: Any) -> bool:
        return alike(after(*batches, **options), after(*batches, by=train, **options))

    def uphill() -> bool:
        return alike(after(first, lr=0.5), after(first, by=train, lr=-0.5))

    def losses(*batches: Any) -> Any:
        return trained(network, fresh(), images, labels, list(batches))

    def in_place_error() -> bool:
        return _raises(RuntimeError, lambda: losses(first), "leaf Variable that requires grad")

    def makes_results() -> bool:
        return _raises(TypeError, lambda: losses(first, first), "NoneType")

    def no_graph(*batches: Any) -> bool:
        return _raises(RuntimeError, lambda: losses(*batches), "does not require grad")

    def uses_model() -> bool:
        model = mock.Mock(side_effect=network)
        trained(model, fresh(), images, labels, [first])
        return model.called

    def behind_autograds_back() -> bool:
        """whether a parameter changed without a change of its version"""
        params = fresh()
        before = [(param, param._version) for param in params]
        trained(network, params, images, labels, [first])
        return any(param._version == version for param, version in before)

    return attempt_or_solution(
        "train", attempt, train,
        (lambda: not in_place_error(),
         "PyTorch refuses to change a leaf in place while it records. Put the update inside `with torch.no_grad():`."),
        (lambda: not _raises(TypeError, lambda: losses(first), "context manager"),
         "torch.no_grad needs its parentheses: `with torch.no_grad():`."),
        (lambda: not _raises(AttributeError, lambda: losses(first), "zero_"),
         "In the first step .grad is None, and None has no zero_(). Set param.grad = None instead."),
        (lambda: not _raises(TypeError, lambda: losses(first), "NoneType"),
         "In the update a gradient is None, already in the first step. Call loss.backward() after clearing and before "
         "the update."),
        (lambda: not no_graph(first),
         "backward finds no graph, because the forward pass was not recorded. Only the update belongs inside "
         "`torch.no_grad()`, and the loss must not be detached before backward."),
        (lambda: not no_graph(first, first),
         "The first step works, but the second finds no graph: inside no_grad, `param - ...` is a new tensor that "
         "requires no gradient. Change the parameter itself: `param -= ...`."),
        (lambda: not makes_results(),
         "A gradient is None in the second step: `param = param - ...` makes a new tensor. Use -= inside no_grad."),
        (lambda: _raises(IndexError, lambda: losses(first)) or not _raises(IndexError, lambda: losses(first, second)),
         "The first step works, the second asks for rows that do not exist. Did you overwrite `images` or `labels` "
         "with the first batch? Give the batch names of its own."),
        (lambda: losses(first, second) is not None, NOTHING_RETURNED),
        (lambda: isinstance(losses(first, second), list) and len(losses(first, second)) == 2,
         "Return a list with one loss for each batch. (Does the `return` stand after the loop, not in it?)"),
        (lambda: not any(torch.is_tensor(loss) and loss.requires_grad for loss in losses(first, second)),
         "Your list holds tensors, and each of them keeps its graph. Append loss.item()."),
        (lambda: not any(torch.is_tensor(loss) for loss in losses(first, second)),
         "Your list holds tensors. They are without a graph, but plain numbers were asked for: append loss.item()."),
        (lambda: all(isinstance(loss, (int, float)) for loss in losses(first, second)),
         "An entry of your list is not a Python number. item is a method: loss.item()."),
        (uses_model,
         "Your function never calls `model`, but perhaps the network of section 1. It should train the network that it "
         "is given: model(params, images[rows])."),
        (lambda: abs(losses(first)[0] - F.cross_entropy(network(fresh(), images[first]), labels[first]).item()) < 1e-9,
         "The first loss is not the cross-entropy of the model on images[rows] and labels[rows], before the update."),
        (lambda: not alike(after(first), fresh()),
         "After a step the parameters are what they were before. Change the tensors in `params` themselves (`param -= "
         "...`), by gradients that are not cleared between `backward` and the update."),
        (lambda: not uphill(), "The parameters moved uphill. Subtract lr times the gradient."),
        (lambda: moves_like(first) and moves_like(first, lr=0.1),
         "After one step each parameter should have moved by -lr times its gradient, from the loss of this batch."),
        (lambda: all(p.is_leaf and p.requires_grad for p in after(first)),
         "After a step a parameter is no longer a leaf that requires gradients."),
        (lambda: not alike(after(first, second), after(first, second, by=train, clear=False)),
         "The second step uses the sum of both gradients. With clear=True, set each .grad to None in every step."),
        (lambda: moves_like(first, second), "The first step is right, the second is not. Does it use its own rows?"),
        (lambda: alike(after(first, stale=True), after(first, by=train)),
         "A gradient that was in .grad before the call counts in the first step. Clear before backward, not after."),
        (lambda: moves_like(first, second, clear=False),
         "With clear=False the gradients should add up from step to step. Is there an `if clear:`?"),
        (lambda: not behind_autograds_back(),
         "The numbers are right, but a change through `.data` is hidden from autograd, which then cannot warn you when "
         "a saved value is overwritten (see the end). Write `param -= ...` inside torch.no_grad()."),
    )  # fmt: skip


def check_newton(attempt: Any) -> Any:
    """`newton(f, start, steps)` returns the number that Newton's method reaches."""
    method: Any = attempt

    def bowl(t: Any) -> Any:
        return torch.cosh(t - 1)

    def parabola(t: Any) -> Any:
        return 2 * (t - 3) ** 2

    def basin(t: Any) -> Any:
        return torch.exp(t) - 2 * t

    def number(found: Any) -> float:
        return float(found.detach() if torch.is_tensor(found) else found)

    def at(value: float, f: Any = parabola, start: float = 0.0, steps: int = 1) -> bool:
        return abs(number(method(f, start, steps)) - value) < 1e-6

    def fresh_leaves() -> bool:
        seen: list[bool] = []

        def watched(t: Any) -> Any:
            seen.append(t.is_leaf)
            return bowl(t)

        method(watched, 0.5, 3)
        return all(seen)

    def no_graph() -> bool:
        return _raises(RuntimeError, lambda: method(parabola, 0.0, 1), "does not have a grad_fn")

    return attempt_or_solution(
        "newton", attempt, newton,
        (lambda: method(bowl, 0.5, 0) is not None, NOTHING_RETURNED),
        (lambda: not no_graph(),
         "The first derivative came out without a graph, so it cannot be differentiated. Which argument of "
         "torch.autograd.grad records the backward pass?"),
        (lambda: not _raises(TypeError, lambda: method(parabola, 0.0, 1), "tuple"),
         "torch.autograd.grad returns a tuple, even for one input. Unpack it: [slope] = ..."),
        (lambda: at(0.5, bowl, 0.5, 0), "With no steps, return the start."),
        (lambda: not at(12), "You subtracted f'. Divide it by f'' first."),
        (lambda: not at(-3), "You went uphill: subtract the step."),
        (lambda: not at(1 / 3), "You divided f'' by f'. It is the other way round."),
        (lambda: at(3), "On 2 * (t - 3)**2, one step from 0 leads to 3."),
        (lambda: at(1, bowl, 0.5, 5), "The first step is right. On cosh(t - 1), five steps from 0.5 lead to 1."),
        (lambda: abs(number(method(basin, 0.5, 6)) - 0.6931471805599453) < 1e-12,
         "Right, but only in float32: which dtype has your tensor?"),
        (lambda: isinstance(method(bowl, 0.5, 1), float), "Return a Python number, not a tensor: `.item()`."),
        (fresh_leaves,
         "The number is right, but from the second step on, f receives the result of the step before, so the graph "
         "holds all steps. Begin each step with a fresh leaf: t.detach().requires_grad_()."),
    )  # fmt: skip


def check_PReLU(attempt: Any) -> Any:
    """`PReLU.apply(x, a)` is x where x > 0, else a * x; its `backward` returns the gradients for x and for a."""
    function: Any = attempt
    values = torch.tensor([-3.0, -2.0, -0.5, 0.5, 1.0, 4.0], dtype=torch.float64)
    arriving = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], dtype=torch.float64)
    negative = values < 0
    a = 0.25

    def returned(upstream: Any = arriving, x: Any = values) -> Any:
        """what `backward` returns, before PyTorch sums it to the shape of the input"""
        x, slope = x.clone().requires_grad_(), torch.tensor(a, dtype=torch.float64, requires_grad=True)
        node = function.apply(x, slope).grad_fn
        with torch.no_grad():
            return node.apply(upstream)

    def for_x() -> Any:
        return returned()[0]

    def for_a() -> float:
        return float(returned()[1].sum())

    def twice(which: int) -> bool:
        return torch.allclose(returned(2 * arriving)[which], 2 * returned()[which])

    def shares(local: Any) -> float:
        """the gradient for a if this were its local gradient"""
        return float((arriving * local).sum())

    def swapped() -> bool:
        first, second = returned()
        return bool(second.shape == values.shape and torch.allclose(second[~negative], arriving[~negative])
                    and not torch.allclose(first.expand_as(values)[~negative], arriving[~negative]))  # fmt: skip

    right_a = shares(values * negative)
    return attempt_or_solution(
        "PReLU", attempt, PReLU,
        (lambda: not _raises((AttributeError, TypeError), returned, "'tuple'")
         and not _raises(ValueError, returned, "to unpack")
         and not _raises(AttributeError, returned, "'PReLUBackward' object"),
         "ctx.saved_tensors is a tuple of two tensors. Take it apart: x, a = ctx.saved_tensors."),
        (lambda: not _raises(RuntimeError, returned, "must match"),
         "The shapes of two tensors do not match. Does backward take both from ctx (x, a = ctx.saved_tensors)? "
         "Otherwise it finds the x and the a of cells above."),
        (lambda: not _raises(RuntimeError, returned, "Boolean value of Tensor"),
         "`x > 0` has an answer for each entry of x, so `if` cannot choose. torch.where chooses for each entry."),
        (lambda: returned() is not None, "backward returns None. Is there a `return`?"),
        (lambda: isinstance(returned(), tuple) and len(returned()) == 2,
         "backward should return two values, separated by a comma: the gradient for x and the gradient for a."),
        (lambda: returned()[1] is not None, "a is learned, so it needs a gradient, not None."),
        (lambda: all(map(torch.is_tensor, returned())), "Both gradients should be tensors."),
        (lambda: not swapped(),
         "The two gradients seem to be swapped. forward takes x first, so return the gradient for x first."),
        (lambda: for_x().shape == values.shape,
         "The gradient for x should have the shape of x. Sum only the other one."),
        (lambda: twice(0),
         "Twice the upstream gradient should give twice the gradient for x. Multiply its local gradient by "
         "grad_output."),
        (lambda: torch.allclose(for_x()[~negative], arriving[~negative]),
         "Where x > 0, the result is x itself, so x should receive grad_output unchanged."),
        (lambda: bool((for_x()[negative] != 0).any()),
         "Where x < 0, x receives 0, as with ReLU. But here the result is a * x: what is its slope with respect to x?"),
        (lambda: torch.allclose(for_x()[negative], a * arriving[negative]),
         "Where x < 0, the result is a * x, so x should receive a * grad_output."),
        (lambda: twice(1),
         "The gradient for x is right. For a, twice the upstream gradient should give twice the gradient: multiply "
         "the local gradient by grad_output before the sum."),
        (lambda: abs(for_a() - shares(values)) > 1e-9,
         "The gradient for x is right. That for a also counts the entries with x > 0, whose result does not depend on "
         "a."),
        (lambda: abs(for_a() - shares(values * ~negative)) > 1e-9,
         "The gradient for x is right. That for a counts the entries with x > 0, whose result does not depend on a, "
         "and leaves out the others."),
        (lambda: min(abs(for_a() - right_a / count) for count in (3, 6)) > 1e-9,
         "The gradient for x is right. That for a is a mean, but every entry adds its full share: sum."),
        (lambda: abs(for_a() - float(arriving.sum() * values[negative].sum())) > 1e-9,
         "The gradient for x is right. That for a is the product of two sums. Multiply entry by entry, and add up the "
         "products."),
        (lambda: abs(for_a() - right_a) < 1e-9,
         "The gradient for x is right, that for a is not. Where x < 0, the result is a * x, so its local gradient for "
         "a is x; elsewhere it is 0."),
        (lambda: returned()[1].shape == () and returned(arriving.reshape(2, 3), values.reshape(2, 3))[1].shape == (),
         "The entries of your gradient for a have the right sum, but a is a single number, of shape (), and so is its "
         "gradient. Add all entries up with .sum(). (PyTorch would do this for you here.)"),
    )  # fmt: skip


def check_Ternary(attempt: Any) -> Any:
    """`Ternary.apply(w, size)` rounds w to -size, 0 or size; its gradient goes straight through, but not outside."""
    function: Any = attempt
    values = torch.tensor([-0.7, -0.4, -0.2, -0.1, 0.1, 0.2, 0.4, 0.7], dtype=torch.float64)
    inside = values.abs() < 0.3
    arriving = torch.arange(1.0, 9.0, dtype=torch.float64)

    def forward(size: float = 0.3) -> Any:
        return function.apply(values.clone(), size)

    def grad(upstream: Any = arriving, change: float = 0.0, size: float = 0.3) -> Any:
        w = values.clone().requires_grad_()
        result = function.apply(w, size)
        if change:
            with torch.no_grad():
                w += change
        result.backward(upstream)
        return w.grad

    def rounded(size: float) -> Any:
        return (values / size).round().clamp(-1, 1) * size

    def keeps_w() -> bool:
        w = values.clone()
        function.apply(w, 0.3)
        return torch.equal(w, values)

    def notices() -> bool:
        """a change of w after the forward pass, or is not harmed by it"""
        if _raises(RuntimeError, lambda: grad(change=1.0), "modified by an inplace operation"):
            return True
        return torch.equal(grad(change=1.0), grad())

    return attempt_or_solution(
        "Ternary", attempt, Ternary,
        (lambda: forward() is not None, "forward returns None. Is there a `return`?"),
        (keeps_w,
         "forward changes w itself, and the weights would lose their digits for good. Compute a new tensor."),
        (lambda: forward().abs().max() < 0.31 or forward().abs().max() > 0.9,
         "For w = 0.7 and size = 0.3, forward returns 0.6, but only -0.3, 0 and 0.3 are allowed. Clamp w / size to -1 "
         "and 1."),
        (lambda: not bool((forward().abs().sort().values[-4:] == 1).all()),
         "forward returns -1, 0 and 1. Multiply by size."),
        (lambda: torch.allclose(forward().double(), rounded(0.3)),
         "forward should return the nearest of -size, 0 and size. With size = 0.3, 0.1 becomes 0 and 0.2 becomes 0.3."),
        (lambda: torch.allclose(forward(0.5).double(), rounded(0.5)), "Does forward use `size`? With 0.5 it is off."),
        (lambda: forward().dtype is torch.float64, "The result should have the dtype of w."),
        (lambda: not _raises((AttributeError, TypeError), grad, "'tuple'"),
         "ctx.saved_tensors is a tuple, even for one tensor. Take it apart: (w,) = ctx.saved_tensors."),
        (lambda: not _raises(RuntimeError, grad, "incorrect number of gradients"),
         "backward should return two values, one for each input of forward: the gradient for w, and None for size."),
        (lambda: not _raises(RuntimeError, grad, "was not a Variable"),
         "size is a number, so its gradient is None. In which order does forward take its inputs?"),
        (lambda: grad() is not None, "backward returns None for w."),
        (lambda: bool((grad() != 0).any()),
         "The gradient is 0 everywhere, as with PyTorch's rounding. Start from grad_output."),
        (lambda: torch.allclose(grad(2 * arriving), 2 * grad()),
         "Twice the upstream gradient should give twice the result. Does your gradient use grad_output?"),
        (lambda: torch.allclose(grad()[inside], arriving[inside]),
         "Where w lies between -size and size, the upstream gradient should go through unchanged. Compare w itself, "
         "which is not rounded, to size, and multiply grad_output by nothing but this mask."),
        (lambda: not bool((grad()[~inside] == arriving[~inside]).all()),
         "Where w lies outside -size and size, the gradient should be 0. Is there a mask, and does it compare w, which "
         "is not rounded, to size?"),
        (lambda: not bool(grad()[0] != 0) or bool(grad()[-1] != 0),
         "A weight below -size should get the gradient 0, too. Compare w.abs() to size."),
        (lambda: torch.equal(grad()[~inside], torch.zeros(4, dtype=torch.float64)),
         "A weight outside -size and size still gets a gradient, such as 0.4 or 0.7 with size = 0.3. The mask should "
         "be true only where w.abs() <= size."),
        (lambda: grad(size=0.5)[1] != 0 and grad(size=0.5)[0] == 0,
         "With size = 0.5 the gradient of w = -0.4 should go through. Does the mask use ctx.size?"),
        (notices,
         "If w is changed in place before the backward pass, your gradient is wrong and nobody notices. Keep w with "
         "ctx.save_for_backward, which remembers its version."),
    )  # fmt: skip


def _ends(attempt: Any, *calls: Callable[[], Any], lines: int = 10_000) -> bool:
    """Whether each call ends, be it by an error, before functions of the attempt's module have run that many lines."""
    names = getattr(attempt, "__globals__", None)

    class Endless(BaseException):
        """not an Exception, so that no attempt catches it"""

    def ends(call: Callable[[], Any]) -> bool:
        left = lines

        def count(frame: Any, event: str, argument: Any) -> Any:
            nonlocal left
            if frame.f_globals is not names:
                return None
            left -= 1
            if left < 0:
                raise Endless
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            _raises(Exception, call)
        except Endless:
            return False
        finally:
            sys.settrace(before)
        return True

    return all(map(ends, calls))


def _calls_a_leaf(attempt: Any, call: Callable[[], Any]) -> bool:
    """Whether `attempt` calls `vjp` on the node of a leaf while `call` runs."""
    names = getattr(attempt, "__globals__", {})
    counted = mock.Mock(side_effect=names.get("vjp", vjp))
    with mock.patch.dict(names, vjp=counted):
        _raises(Exception, call)
    return any(hasattr(made.args[0], "variable") for made in counted.call_args_list if made.args)


def _raises(kind: Any, call: Callable[[], Any], piece: str = "") -> bool:
    """Whether `call` raises an error of this kind with `piece` in its message; warnings are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except kind as error:
            return piece in str(error)
        except Exception:
            return False
    return False
