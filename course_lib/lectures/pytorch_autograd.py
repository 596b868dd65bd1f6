"""Checks for the exercises of lecture 06 and of the extra on checking a backward pass, and their solutions.

Each check names the first mistake that it finds. The solutions are those that are folded in the lecture, word for word.
`lectures` loads this module when a notebook asks for it, so torch may be imported here: one solution is a class that is
derived from one of torch's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F

from course_lib import virtual_cuda
from course_lib.exercises import attempt_or_solution

__all__ = [
    "check_MyLinear",
    "check_count_uses",
    "check_make_parameters",
    "check_newton",
    "check_run_backward",
    "check_train",
]

# The solutions are written as a reader writes them: without types, and without itertools.pairwise.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# ruff: noqa: RUF007


def make_parameters(sizes, seed=0, device="cpu"):
    """Weights and biases of fully connected layers, ready for training.

    sizes: numbers of units, such as [64, 32, 10] for 64 inputs, 32 hidden units and 10 logits.
    Returns a list [W1, b1, W2, b2, ...] of float64 leaves on `device`; W: (n_in, n_out), b: (n_out,).
    """
    generator = torch.Generator().manual_seed(seed)
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True):
        W = torch.randn(n_in, n_out, generator=generator, dtype=torch.float64) * (2 / n_in) ** 0.5
        b = torch.zeros(n_out, dtype=torch.float64)
        params.append(W.to(device).requires_grad_())
        params.append(b.to(device).requires_grad_())
    return params


def count_uses(result):
    """Every node of the graph that was recorded for `result`.

    Returns a dict: node -> how often it stands in another node's next_functions; result.grad_fn -> 0.
    """
    uses = {result.grad_fn: 0}
    to_visit = [result.grad_fn]
    while to_visit:
        node = to_visit.pop()
        for source, _ in node.next_functions:
            if source is None:
                continue
            if source not in uses:
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
        upstream = arrived[node]
        if hasattr(node, "variable"):
            leaf = node.variable
            grad = upstream.sum_to_size(leaf.shape)
            leaf.grad = grad if leaf.grad is None else leaf.grad + grad
            continue
        for (source, _), grad in zip(node.next_functions, vjp(node, upstream), strict=True):
            if source is None:
                continue
            arrived[source] = arrived[source] + grad if source in arrived else grad
            missing[source] -= 1
            if missing[source] == 0:
                ready.append(source)


def train(model, params, images, labels, batches, lr=0.5, clear=True):
    """Mini-batch gradient descent on the cross-entropy; changes `params` in place.

    model: takes params and images, (N, 64), and returns logits, (N, 10). labels: (N,).
    batches: for each step, a tensor with the numbers of its rows. clear: whether to clear the gradients.
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


class MyLinear(torch.autograd.Function):
    """x @ w + b, with x: (N, n_in), w: (n_in, n_out), b: (n_out,)."""

    @staticmethod
    def forward(ctx, x, w, b):
        """Returns x @ w + b, (N, n_out)."""
        ctx.save_for_backward(x, w)
        return x @ w + b

    @staticmethod
    def backward(ctx, grad_output):
        """grad_output: (N, n_out). Returns the gradients for x, w and b."""
        x, w = ctx.saved_tensors
        grad_x = grad_output @ w.T
        grad_w = x.T @ grad_output
        grad_b = grad_output.sum(0)
        return grad_x, grad_w, grad_b


def network(params: Any, images: Any) -> Any:
    """Logits (N, 10) of the lecture's two-layer network."""
    W1, b1, W2, b2 = params
    return (images @ W1 + b1).relu() @ W2 + b2


def vjp(node: Any, upstream: Any) -> tuple[Any, ...]:
    """The gradient that a node sends back to each of its inputs, None for an input that wants none."""
    with torch.no_grad():
        grads = node(upstream)
    return grads if isinstance(grads, tuple) else (grads,)


def check_make_parameters(attempt: Any) -> Any:
    """`make_parameters(sizes, seed=0, device="cpu")` returns [W1, b1, W2, b2, ...], leaves that require gradients."""
    make: Any = attempt

    def params(*sizes: int, **options: Any) -> list[Any]:
        return list(make(list(sizes), **options))

    def spread(n_in: int) -> float:
        return float(params(n_in, 300)[0].detach().std() * (n_in / 2) ** 0.5)

    def on_gpu() -> list[tuple[str, bool, Any]]:
        """device, is_leaf and numbers of each parameter on a GPU, the virtual one if there is no other"""
        with virtual_cuda.session(quiet=True):
            return [(p.device.type, p.is_leaf, p.tolist()) for p in params(5, 4, 3, device="cuda")]

    def leaves_the_global_generator_alone() -> bool:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(12345)
            before = torch.get_rng_state()
            make([5, 4, 3])
            return torch.equal(torch.get_rng_state(), before)

    return attempt_or_solution(
        "make_parameters", attempt, make_parameters,
        (lambda: make([5, 4, 3]) is not None, "Your function returns None. Is there a `return`?"),
        (lambda: isinstance(make([5, 4, 3]), (list, tuple)) and len(make([5, 4, 3])) == 4,
         "For [5, 4, 3] there are two layers, so the list holds four tensors: W1, b1, W2, b2."),
        (lambda: [tuple(p.shape) for p in params(5, 4, 3)] == [(5, 4), (4,), (4, 3), (3,)],
         "For [5, 4, 3] the shapes are (5, 4), (4,), (4, 3), (3,): W is (n_in, n_out), b is (n_out,)."),
        (lambda: all(p.dtype is torch.float64 for p in params(5, 4, 3)),
         "One of the tensors is not float64. PyTorch's default is float32; pass dtype=torch.float64."),
        (lambda: all(p.requires_grad for p in params(5, 4, 3)),
         "One of the tensors does not require gradients."),
        (lambda: all(p.is_leaf for p in params(5, 4, 3)),
         "All require gradients, but one of them is not a leaf: it is the result of a recorded operation, so backward "
         "would not fill its .grad. Call requires_grad_() last, on the finished numbers."),
        (lambda: all(bool((b == 0).all()) for b in params(5, 4, 3)[1::2]), "The biases should start at 0."),
        (lambda: torch.equal(params(5, 4)[0], params(5, 4)[0]),
         "Two calls with the same seed give different weights. Pass generator=... to torch.randn."),
        (lambda: not torch.equal(params(5, 4, seed=1)[0], params(5, 4, seed=2)[0]),
         "Different seeds give the same weights. Does your generator use `seed`?"),
        (lambda: not torch.equal(params(5, 5, 5)[0], params(5, 5, 5)[2]),
         "Both layers get the same weights. Make the generator once, before the loop."),
        (lambda: abs(spread(200) - 1) < 0.1 and abs(spread(800) - 1) < 0.1,
         "The standard deviation of W should be the square root of 2 / n_in."),
        (lambda: not _raises(RuntimeError, on_gpu, "device type for generator"),
         "Your generator is on the CPU, so draw there, without device=..., and move the numbers with .to(device)."),
        (lambda: all(place == "cuda" for place, *_ in on_gpu()), "With device=\"cuda\", a tensor is on the CPU."),
        (lambda: all(is_leaf for _, is_leaf, _ in on_gpu()),
         "With device=\"cuda\", .to(device) makes a copy, and the copy of a tensor that requires gradients is the "
         "result of a recorded operation. Move the tensor first and call requires_grad_() after that."),
        (lambda: [values for *_, values in on_gpu()] == [p.tolist() for p in params(5, 4, 3)],
         "With device=\"cuda\", the same seed gives other numbers. Draw on the CPU and move them with .to(device)."),
        (leaves_the_global_generator_alone,
         "Right, but your function changes the random numbers of the whole program, because it seeds or uses PyTorch's "
         "global generator. Draw from one of your own: torch.Generator().manual_seed(seed)."),
    )  # fmt: skip


def check_count_uses(attempt: Any) -> Any:
    """`count_uses(result)` returns a dict from each node behind `result` to the number of uses of its tensor."""
    count: Any = attempt

    def kinds(result: Any) -> list[tuple[str, int]]:
        return sorted((type(node).__name__, uses) for node, uses in count(result).items())

    def of_sum() -> Any:
        x, y, z = (torch.ones(2, requires_grad=True) for _ in range(3))
        return (x * y + z).sum()

    def squares() -> Any:
        x = torch.ones(2, requires_grad=True)
        return (x * x).sum()

    def through_one_product() -> Any:
        a = 2 * torch.ones(2, requires_grad=True)
        return (a.exp() + a.sin()).sum()

    def with_data() -> Any:
        return (torch.ones(2) * torch.ones(2, requires_grad=True)).sum()

    def deep() -> Any:
        x = torch.ones(2, requires_grad=True)
        for _ in range(3000):
            x = x + 1
        return x.sum()

    return attempt_or_solution(
        "count_uses", attempt, count_uses,
        (lambda: not _raises(AttributeError, lambda: count(of_sum()), "'tuple' object has no attribute"),
         "An entry of next_functions is a pair. Its first element is the node: for source, number in ..."),
        (lambda: count(of_sum()) is not None, "Your function returns None. Is there a `return`?"),
        (lambda: isinstance(count(of_sum()), dict), "Return a dict: node -> number of uses."),
        (lambda: not _raises(AttributeError, lambda: count(with_data()), "NoneType") and None not in count(with_data()),
         "An input that requires no gradient appears as None in next_functions. Skip it."),
        (lambda: all(hasattr(node, "next_functions") for node in count(of_sum())),
         "A key of your dict is no node. An entry of next_functions is a pair; its first element is the node."),
        (lambda: (result := of_sum()).grad_fn in count(result),
         "result.grad_fn is missing. It is a node of the graph, too, and no other node names it: its count is 0."),
        (lambda: len(kinds(of_sum())) == 6,
         "For (x * y + z).sum() there are six nodes: sum, add, mul and one for each of the three leaves. "
         "Visit the next_functions of every node that you find."),
        (lambda: (result := of_sum()) is not None and count(result)[result.grad_fn] == 0,
         "No other node names result.grad_fn as a source, so its count is 0."),
        (lambda: ("AccumulateGrad", 2) in kinds(squares()),
         "In (x * x).sum() the node of x stands twice in next_functions, because x is used twice. Count each time, "
         "also for a node that you know already."),
        (lambda: ("AccumulateGrad", 1) in kinds(through_one_product()),
         "In a = 2 * x; a.exp() + a.sin(), x is used only once, though two ways lead to a. Go through the "
         "next_functions of each node only once."),
        (lambda: kinds(through_one_product()) == [("AccumulateGrad", 1), ("AddBackward0", 1), ("ExpBackward0", 1),
                                                  ("MulBackward0", 2), ("SinBackward0", 1), ("SumBackward0", 0)],
         "For a = 2 * x; (a.exp() + a.sin()).sum(), the product a is used twice, the result not at all and everything "
         "else once."),
        (lambda: not _raises(RecursionError, lambda: count(deep())) and len(count(deep())) == 3002,
         "A graph of 3000 operations is deeper than Python's recursion limit. Keep a list of nodes to visit instead of "
         "calling the function from itself."),
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

    def calls() -> int:
        """of `vjp`, for a chain in which each value is used twice: nine are enough"""
        names = getattr(run, "__globals__", {})
        counted = mock.Mock(side_effect=names.get("vjp", vjp))
        x = leaf(1.0)
        result = x
        for _ in range(8):
            result = result + result
        with mock.patch.dict(names, vjp=counted):
            run(result.sum())
        return counted.call_count

    def leaf_called() -> bool:
        """whether `vjp` is called on the node of a leaf"""
        names = getattr(run, "__globals__", {})
        counted = mock.Mock(side_effect=names.get("vjp", vjp))
        with mock.patch.dict(names, vjp=counted):
            run(square(leaf(1.0, 2.0)))
        return any(hasattr(call.args[0], "variable") for call in counted.call_args_list if call.args)

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
        (lambda: not _raises((TypeError, AttributeError), lambda: grads(product, *three), "'NoneType'"),
         "Before the first gradient arrives, a leaf's .grad is None, and nothing can be added to None."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "unsupported operation"),
         "You called the node of a leaf, which adds to .grad by itself. Update the leaf, and go on to the next node."),
        (lambda: not _raises(RuntimeError, lambda: grads(product, *three), "type"),
         "The gradient 1 that the pass starts with needs the same dtype as the result: torch.ones_like(result)."),
        (lambda: not _raises(TypeError, lambda: grads(product, *three), "is not a Variable"),
         "A node takes a tensor, not a Python number. Start the pass with torch.ones_like(result)."),
        (lambda: all(grad is not None for grad in grads(product, *three)),
         "After run_backward, a leaf's .grad is still None. Either its node never had its turn (when is a node "
         "ready?), or nothing was written: what arrives at a node with an attribute `variable` goes into "
         "node.variable.grad."),
        (lambda: torch.equal(grads(product, *three)[2], torch.ones(2, dtype=torch.float64)),
         "In (x * y + z).sum() the gradient of z is 1 everywhere. The pass starts with the gradient 1 at the result."),
        (lambda: agrees(product, *three),
         "In (x * y + z).sum() the gradients of x and y are y and x. Which node gets which element of vjp's tuple?"),
        (lambda: not _raises((AttributeError, TypeError, KeyError), lambda: grads(with_data, leaf(1.0, 2.0))),
         "An input that requires no gradient appears as None in next_functions, and vjp gives None for it. Skip it."),
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
        (lambda: not leaf_called(),
         "You called the node of a leaf, which adds to .grad by itself. Update the leaf, and go on to the next node."),
        (lambda: calls() <= 9,
         "The gradients are right, but you visit nodes more than once: a chain of results that are used twice would "
         "take twice as long with each link. Wait until all uses have delivered."),
        (lambda: not _raises(RuntimeError, lambda: grads(with_bias, leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)),
                             "size"),
         "A leaf was broadcast, so the gradient that arrives has more rows than the leaf. Sum it over them: "
         "grad.sum_to_size(leaf.shape)."),
        (lambda: agrees(with_bias, leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0)),
         "The gradient of a leaf that was broadcast is off: sum over the places that it was stretched to."),
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

    return attempt_or_solution(
        "train", attempt, train,
        (lambda: not in_place_error(),
         "PyTorch refuses to change a leaf in place while it records. Put the update inside `with torch.no_grad():`."),
        (lambda: not _raises(AttributeError, lambda: losses(first), "zero_"),
         "In the first step .grad is None, and None has no zero_(). Set param.grad = None instead."),
        (lambda: not _raises(TypeError, lambda: losses(first), "NoneType"),
         "In the update a gradient is None, already in the first step. Call loss.backward() after clearing and before "
         "the update."),
        (lambda: not makes_results(),
         "A gradient is None in the second step: `param = param - ...` makes a new tensor. Use -= inside no_grad."),
        (lambda: losses(first, second) is not None, "Your function returns None. Is there a `return`?"),
        (lambda: isinstance(losses(first, second), list) and len(losses(first, second)) == 2,
         "Return a list with one loss for each batch."),
        (lambda: not any(torch.is_tensor(loss) for loss in losses(first, second)),
         "Your list holds tensors, and each of them keeps its graph. Store loss.item()."),
        (lambda: all(isinstance(loss, (int, float)) for loss in losses(first, second)),
         "An entry of your list is not a Python number. item is a method: loss.item()."),
        (lambda: abs(losses(first)[0] - F.cross_entropy(network(fresh(), images[first]), labels[first]).item()) < 1e-9,
         "The first loss is not the cross-entropy of the model on images[rows] and labels[rows], before the update."),
        (lambda: not alike(after(first), fresh()),
         "After a step the parameters are what they were before. Change the tensors in `params` themselves."),
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
        (lambda: method(bowl, 0.5, 0) is not None, "Your function returns None. Is there a `return`?"),
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


def check_MyLinear(attempt: Any) -> Any:
    """`MyLinear.apply(x, w, b)` is x @ w + b, with a backward pass of its own."""
    function: Any = attempt
    generator = torch.Generator().manual_seed(0)
    x, w, b = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((4, 3), (3, 2), (2,)))

    def grads(arriving: Any) -> list[Any]:
        inputs = [tensor.clone().requires_grad_() for tensor in (x, w, b)]
        function.apply(*inputs).backward(arriving)
        return [tensor.grad for tensor in inputs]

    def arriving(factor: float) -> Any:
        return factor * torch.arange(8, dtype=torch.float64).reshape(4, 2)

    def gradcheck(*wanted: bool, check: Any = torch.autograd.gradcheck) -> bool:
        pairs = zip((x, w, b), wanted, strict=True)
        return bool(check(function.apply, [t.clone().requires_grad_(want) for t, want in pairs], raise_exception=False))

    def only_for(place: int) -> bool:
        return gradcheck(*(place == k for k in range(3)))

    def own_shape() -> bool:
        """of the gradient for b as `backward` itself returns it"""
        kept: list[Any] = []
        ctx = SimpleNamespace(save_for_backward=lambda *tensors: kept.extend(tensors), needs_input_grad=(True,) * 3)
        function.forward(ctx, x, w, b)
        ctx.saved_tensors = tuple(kept)
        return bool(function.backward(ctx, arriving(1.0))[2].shape == b.shape)

    def notices() -> bool:
        inputs = [tensor.clone().requires_grad_() for tensor in (x, w, b)]
        result = function.apply(*inputs)
        with torch.no_grad():
            inputs[1] += 1
        return _raises(RuntimeError, result.sum().backward, "modified by an inplace operation")

    return attempt_or_solution(
        "MyLinear", attempt, MyLinear,
        (lambda: function.apply(x, w, b) is not None, "forward returns None. Is there a `return`?"),
        (lambda: torch.allclose(function.apply(x, w, b), x @ w + b), "forward should return x @ w + b."),
        (lambda: not _raises(RuntimeError, lambda: grads(arriving(1.0)), "incorrect number of gradients"),
         "backward should return three values, one for each input of forward."),
        (lambda: not _raises(RuntimeError, lambda: grads(arriving(1.0)), "invalid gradient"),
         "A gradient has the wrong shape. Each has the shape of its input: x (N, n_in), w (n_in, n_out), b (n_out,). "
         "And in which order does forward take them?"),
        (lambda: all(grad is not None for grad in grads(arriving(1.0))),
         "backward returns None for an input that wants a gradient."),
        (lambda: all(torch.allclose(two, 2 * one)
                     for one, two in zip(grads(arriving(1.0)), grads(arriving(2.0)), strict=True)),
         "Twice the upstream gradient should give twice the result. Does each of your gradients use grad_output?"),
        (lambda: only_for(0),
         "gradcheck: the gradient of x is off. Which product of grad_output, (N, n_out), and w has the shape of x?"),
        (lambda: only_for(1),
         "gradcheck: the gradient of w is off. Which product of x and grad_output, (N, n_out), has the shape of w?"),
        (lambda: only_for(2), "gradcheck: the gradient of b is off. b is added to every row, so sum over the rows."),
        (lambda: gradcheck(True, True, True), "gradcheck: the gradients are right one by one, but not together."),
        (notices,
         "If w is changed in place before the backward pass, your gradient is wrong and nobody notices. Keep the "
         "tensors with ctx.save_for_backward, which remembers their versions."),
        (lambda: gradcheck(True, True, True, check=torch.autograd.gradgradcheck),
         "The second derivative is off. Compute from the tensors in ctx.saved_tensors, with PyTorch's operations."),
        (own_shape,
         "backward returns a gradient for b that has the shape of the output. PyTorch happens to sum it for you, but a "
         "gradient should have the shape of its input, (n_out,): b is added to every row, so sum over the rows."),
    )  # fmt: skip


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
