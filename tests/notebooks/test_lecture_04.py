"""Lecture 04 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The exercises are solved here, rightly and wrongly, and their checks watched.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.parametrize("ran", ["lectures/04_pytorch_autograd.ipynb"], indirect=True)

FACTS = {
    # 1 The same graph
    "three arrays of shape (3, 4) and `c = sum(x * y + z)`": (
        "x.shape == y.shape == z.shape == (3, 4) and torch.equal(c, (x * y + z).sum())"
    ),
    "The value is 6.717, as in lecture 02.": "round(c.item(), 3) == 6.717",
    "`torch.tensor` kept NumPy's float64": "x.dtype is c.dtype is torch.float64",
    "Before, it is `None`": "before is None",
    "it has the shape of `x`, one slope for each entry": "x.grad.shape == x.shape",
    "0.7610, 0.1217, 0.4439, 0.3337 for `x`, and 1.7641, 0.4002, 0.9787, 2.2409 for `y`": (
        "all(np.allclose(g[0], row, rtol=0, atol=5e-5) for g, row in zip(of_c, ("
        "[0.7610, 0.1217, 0.4439, 0.3337], [1.7641, 0.4002, 0.9787, 2.2409])))"
    ),
    "`grad_x` was `y`, `grad_y` was `x` and `grad_z` was one everywhere": (
        "torch.equal(of_c[0], y) and torch.equal(of_c[1], x) and bool((of_c[2] == 1).all())"
    ),
    "The difference is 0.0 three times: not only within 1e-12, but the same bits.": (
        "list(worst.values()) == [0.0, 0.0, 0.0]"
    ),
    "read from its end: sum, add, mul": (
        "names(history(c))[:3] == ['SumBackward0', 'AddBackward0', 'MulBackward0'] and len(history(c)) == 6"
    ),
    "The three `AccumulateGrad` stand for `z`, `x` and `y`.": (
        "all(node.variable is leaf for node, leaf in zip(history(c)[3:], (z, x, y)))"
    ),
    "Inputs carry their gradients (orange). The results in the middle carry none": (
        "[[v.grad is not None for v in (*r.inputs, r.output)] for r in plots.autograd.autograd_records(c)]"
        " == [[True, True, False], [False, True, False], [False, False]]"
    ),
    "The *addition* needs nothing": "all(not torch.is_tensor(getattr((x + z).grad_fn, n)) for n in kept(x + z))",
    "Each is needed for the gradient of the other.": "kept(x * y) == ['_saved_other', '_saved_self']",
    "There are operations that do keep their result": "kept(x.exp()) == ['_saved_result']",
    # 2 Weights and data
    "5 examples of 3 features, one weight for each feature, and one number that is always added, the *bias*": (
        "(data.shape, target.shape, weights.shape, bias.shape) == ((5, 3), (5,), (3,), ())"
    ),
    "So `scores` does, though `data` does not.": "scores.requires_grad and not data.requires_grad",
    "here, for `weights` and `bias` alone": (
        "[name for name, v in six.items() if v.is_leaf and v.grad is not None] == ['weights', 'bias']"
    ),
    "`data` is a leaf, too": "data.is_leaf and target.is_leaf and weights.is_leaf and not scores.is_leaf",
    "The product `@` has one arrow, from the weights.": (
        "[v.name for v in plots.autograd.autograd_records(data @ weights, data=data, weights=weights)[0].inputs]"
        " == ['weights']"
    ),
    "It keeps the *values* of `data`": "torch.equal((data @ weights).grad_fn._saved_self, data)",
    "It does not work out a gradient *for* `data`.": "data.grad is None and not (data @ weights).grad_fn._saved_vec",
    "twice the difference, divided by the 5 of the mean": "len(target) == 5",
    "The two last lines are equal": "np.allclose(scores.grad, 2 * (scores - target).detach() / 5, rtol=1e-12)",
    "`detach()` returns the same numbers without their history": (
        "torch.equal(scores.detach(), scores) and scores.detach().grad_fn is None"
    ),
    "multiplies them by 0.1": "torch.equal(scaled_after, scaled_before) and scaled_after[0].item() == np.float32(0.1)",
    "`scaled_after` is the *result* of a multiplication. The leaf is the tensor of ones": (
        "not scaled_after.is_leaf and scaled_after.grad_fn.next_functions[0][0].variable.tolist() == [1, 1, 1]"
    ),
    "first the numbers, then `requires_grad_()`": "scaled_before.is_leaf and scaled_before.grad is not None",
    "`torch.tensor([1, 2, 3], requires_grad=True)` raises an error; write `1.0`": (
        "'Only Tensors of floating point' in raised(lambda: torch.tensor([1, 2, 3], requires_grad=True))"
        " and raised(lambda: torch.tensor([1.0, 2, 3], requires_grad=True)) == ''"
    ),
    "They are then treated like data: not in the graph, no gradient, no cost.": (
        "frozen.requires_grad_(False) is frozen and len(history((frozen * x).sum())) == 3"
    ),
    # 3 backward adds up
    "64 examples of 1000 features, 100 hidden units with ReLU, 10 outputs": (
        "(N, D_in, H, D_out) == (64, 1000, 100, 10) and X.shape == (64, 1000) and Y.shape == (64, 10)"
    ),
    "The loss is 30.09, and both gradients agree with the hand-made ones far within 1e-12.": (
        "round(first_loss.item(), 2) == 30.09 and"
        " max(relative_error(g.numpy(), hand) for g, hand in zip(first_grads, by_hand_grads)) < 1e-14"
    ),
    "`X` and `Y` are absent and the weights are the only inputs": (
        "[n.variable.shape for n in history(first_loss) if hasattr(n, 'variable')] == [(100, 10), (1000, 100)]"
    ),
    "Double. `backward` *adds* to `.grad`.": "torch.equal(twice.grad, 2 * once) and not torch.equal(once, 0 * once)",
    "`chunk` cuts the 64 examples into 4 parts of 16.": "[len(part) for part in X.chunk(4)] == [16] * 4",
    "Four times too large: each part divided by its own 16, not by 64.": (
        "np.allclose(summed, 4 * whole, rtol=1e-12, atol=0)"
    ),
    "Dividing each loss by 4 makes the sum equal to the whole.": (
        "relative_error(gradient_in_parts(4, 4), gradient_in_parts(1)) < 1e-14"
    ),
    "`W1.grad = None` does it, and so does `W1.grad.zero_()`": (
        "[after_clearing(way) == once.tolist() for way in ('none', 'zero')] == [True, True]"
    ),
    "The first pass freed the saved values": "'a second time' in raised(backward_twice)",
    "`loss.backward(retain_graph=True)`": "raised(lambda: backward_twice(retain_graph=True)) == ''",
    "Ask for that of a matrix, and PyTorch refuses": "'only for scalar outputs' in raised((x * y + z).backward)",
    "`matrix.backward(v)`, with `v` of the same shape, takes the gradient of `sum(v * matrix)`": (
        "torch.equal(torch.autograd.grad(x * y, x, y)[0], torch.autograd.grad((y.detach() * (x * y)).sum(), x)[0])"
    ),
    "With ones for `v`, it is the gradient of the sum: the numbers of section 1.": "torch.equal(x.grad, of_c[0])",
    # 4 The update
    "The first way would overwrite the very place where the graph begins, so PyTorch refuses.": (
        "'leaf Variable that requires grad' in raised(lambda: twice.add_(1))"
    ),
    "`w` is now a *result*: it gets no `.grad`": "not w.is_leaf and w.grad_fn is not None",
    "After 100 updates it would drag 100.": "names(history(moved(100))).count('SubBackward0') == 100",
    "inside `with torch.no_grad():` nothing is recorded": "not inside.requires_grad and inside.grad_fn is None",
    "The loss fell from 30.09 to 13.62, though only `W1` moved.": (
        "round(cleared[0], 2) == 30.09 and round(inside.item(), 2) == 13.62"
        " and torch.equal(W2.detach(), torch.tensor(W2_np)) and not torch.equal(W1.detach(), torch.tensor(W1_np))"
    ),
    "The first update is the same in both": "cleared[:2] == not_cleared[:2] and cleared[2] < not_cleared[2]",
    "The cleared loop goes from 30 to below 0.00001. The other ends above 1, a million times higher.": (
        "round(cleared[0]) == 30 and cleared[-1] < 1e-5 and not_cleared[-1] > 1 and not_cleared[-1] > 1e6 * cleared[-1]"
    ),
    "No error, no explosion, a loss that falls": (
        "max(not_cleared) == not_cleared[0] and not_cleared[-1] < not_cleared[0] / 10"
    ),
    "The graph is recorded during the *forward* pass": "len(history(network_loss(W1, W2))) > 1",
    "autograd refuses to keep its results for a later backward pass": "'Inference tensors' in raised(use_inference)",
    # 5 Dynamic graphs
    "The norms are 5 and 1.": "abs(large.norm() - 5) < 1e-6 and abs(small.norm() - 1) < 1e-6",
    "One doubling and four: one function, two graphs.": (
        "[names(history(doubled(v))).count('MulBackward0') for v in (large, small)] == [1, 4]"
    ),
    "2 and 16: the product of the doublings that ran": (
        "(large.grad == 2).all().item() and (small.grad == 16).all().item()"
    ),
    "A slightly larger `small` still gives four doublings": (
        "names(history(doubled(small * 1.01))).count('MulBackward0') == 5"
    ),
    "At an input where the number of doublings changes, the function jumps": (
        "(doubled(small * 1.124) - doubled(small * 1.126)).item() > 10"
    ),
    "`b.grad` is `None`, not zero.": "b.grad is None and torch.equal(a.grad, v)",
    "`w -= rate * w.grad` fails on `None`": "'NoneType' in raised(lambda: rate * b.grad)",
    "Three elements give three answers: no, yes, yes.": "(v2 > 1).tolist() == [False, True, True]",
    "With one element it works": "gate(torch.tensor([2.0])).item() == 20",
    "PyTorch refuses to choose.": "'ambiguous' in raised(lambda: gate(v2))",
    "It returns them, one for each input, and leaves `.grad` alone.": "len(of_c) == 3 and v2.grad is None",
    "Three questions, three results, three gradients.": (
        "[torch.autograd.grad(torch.where(v2 > 1, v2 * 10, v2).sum(), v2)[0].tolist(),"
        " *(r.tolist() for r in meant.values())]"
        " == [[1, 10, 10], [0.5, 2, 3], [5, 20, 30], [0.5, 20, 30]]"
    ),
    "One loss has 9 nodes. How many has the sum of twenty losses?": "grown[-1] == 8 * 20 + 2",
    "The 9 nodes of one loss are seven operations and two leaves.": (
        "constant == [9] * 20 and names(history(network_loss(W1, W2))).count('AccumulateGrad') == 2"
    ),
    "The total has 10, then 18, then 26, and 162 after twenty: 8 more for each loss.": (
        "[*grown[:3], grown[-1]] == [10, 18, 26, 162] and set(np.diff(grown).tolist()) == {8} and len(grown) == 20"
    ),
    "`loss.item()` takes the number and leaves the graph.": "type(report_number) is float",
    # 6 Edits in place
    "a version number, which each edit in place raises": "versions() == [0, 1, 2]",
    "multiply by the result (the derivative of $e^t$ is $e^t$). So it saves the result": (
        "torch.allclose(torch.autograd.grad(t3.exp().sum(), t3)[0], t3.exp()) and saved(t3.exp().grad_fn) == ['result']"
    ),
    "The cure is to make a new tensor: `e = e + 1`.": "raised((t3.exp() + 1).sum().backward) == ''",
    "Those that saved their `result` fail; those that saved their inputs (`self`, `other`) do not mind.": (
        "[name for name, failed in fails.items() if failed] == ['exp', 'sigmoid', 'relu'] and len(fails) == 5 and"
        " all(('result' in saved(operation(t3).grad_fn)) == fails[name] for name, operation in operations.items())"
    ),
    "`.detach()` shares the same memory *and the version counter*": (
        "t3.detach().data_ptr() == t3.data_ptr()"
        " and counted(torch.Tensor.detach) == 1 and counted(lambda e: e.data) == 0"
    ),
    "`cos(x)` is computed from the saved `x`": "torch.allclose(sine_then_edit(), t3.detach().cos())",
    # 7 Hooks
    "This one cuts every entry down to 0.5": "hooked(clip=True).tolist() == [2 * 0.5 * at for at in (1, 2, 3)]",
    "The hook cut a gradient of 100 down to 0.5, and `t` received 200 times less.": (
        "hooked(clip=True).tolist() == [1, 2, 3] and hooked(clip=False).tolist() == [200, 400, 600]"
    ),
    "A chain of 20 layers with 100 units each": "gradient_sizes.__defaults__ == (20, 100)",
    "One hook per layer": "[len(size) for size in sizes.values()] == [20, 20]",
    "by a factor of about three: over the 19 steps, more than nine powers of ten": (
        "2.5 < (sizes['sigmoid'][-1] / sizes['sigmoid'][0]) ** (1 / 19) < 3.5 and"
        " sizes['sigmoid'][-1] > 1e9 * sizes['sigmoid'][0] and (np.diff(sizes['sigmoid']) > 0).all()"
    ),
    "Through ReLU it keeps its size within a factor of ten.": "max(sizes['ReLU']) < 10 * min(sizes['ReLU'])",
    # 8 Gradients of gradients
    "The slope 12 is right ($3t^2$ at 2).": "slope_of(lambda t: t**3, 2.0) == 12",
    'it "does not have a grad_fn"': "'does not have a grad_fn' in raised(lambda: torch.autograd.grad(*plain_slope()))",
    "The values 8, 12, 12, 6: $t^3$, $3t^2$, $6t$ and $6$ at $t = 2$.": (
        "[d.item() for d in derivatives] == [8, 12, 12, 6]"
    ),
    "The first derivative is largest in the middle, where tanh is steepest: it is 1 there, and almost 0 at the ends.": (
        "first.argmax().item() == 60 and first[60].item() == 1 and len(points) == 121 and first[0] < 0.01 > first[-1]"
    ),
    "The second derivative is 0 where the first is largest.": (
        "abs(second[60].item()) < 1e-12 and torch.allclose(first, 1 - value**2, rtol=0, atol=1e-12) and"
        " torch.allclose(second, -2 * value * (1 - value**2), rtol=0, atol=1e-12)"
    ),
    "the slope 3 does not depend on `t`, so it has no history": (
        "slope_of_line().item() == 3 and not slope_of_line().requires_grad"
    ),
    "C · 0.0</summary> No. On paper it is 0.": "slope_of(lambda t: 3 + 0 * t, 0.7) == 0",
    "A · 3.0</summary> No, that is the first derivative.": "slope_of_line().item() == 3",
    # 9 An operation of one's own
    "The same gradients, and our class stands in the graph under its own name, `MyReLUBackward`.": (
        "all(torch.equal(a, b) for a, b in zip(ours, theirs)) and"
        " 'MyReLUBackward' in names(history(network_with(MyReLU.apply, W1, W2)))"
    ),
    "a row for each input, a column for each output": "slopes_of_a_pair() == [[1, 0], [2, 3]]",
    "a large step is wrong because the function is not straight, a small one because of rounding": (
        "all(curve[0] > 10 * min(curve) < curve[-1] / 10 for name, curve in errors.items() if 'right' in name)"
    ),
    "for the input -1 the nudge finds slope 0, our rule says 1. For the input 2 both say 1": (
        "two.tolist() == [-1, 2] and torch.autograd.grad(ForgetfulReLU.apply(two).sum(), two)[0].tolist() == [1, 1]"
        " and torch.autograd.grad(MyReLU.apply(two).sum(), two)[0].tolist() == [0, 1]"
    ),
    'such a check "will likely fail", and it did: it measured 0.9537 where the slope is 1': (
        "'0.9537' in raised(lambda: torch.autograd.gradcheck(MyReLU.apply, single)) and bool(single[0, 0] > 0)"
    ),
    "a central difference sees half a slope, 0.5, where our rule says 0": (
        "slope_of(MyReLU.apply, 0.0) == 0 and (MyReLU.apply(torch.tensor(1e-6)) / 2e-6).item() == 0.5"
    ),
    "the step grows from 1e-10 to 1": "np.isclose(steps[0], 1e-10) and np.isclose(steps[-1], 1)",
    "its error stays above 0.5, whatever the step": "min(errors['forgetful rule, float64']) > 0.5",
    "below 1e-10 in float64, above 1e-5 in float32": (
        "min(errors['right rule, float64']) < 1e-10 and min(errors['right rule, float32']) > 1e-5"
    ),
    "`gradcheck` nudges by 1e-6 unless told otherwise.": (
        "__import__('inspect').signature(torch.autograd.gradcheck).parameters['eps'].default == 1e-6"
        " and np.isclose(steps[at_default], 1e-6)"
    ),
    "In float64 that is within a factor of ten of the floor. In float32 it is far up the left wall, with an error"
    " above 1 %.": (
        "errors['right rule, float64'][at_default] < 10 * min(errors['right rule, float64'])"
        " and errors['right rule, float32'][at_default] > 0.01"
    ),
    "`gradcheck` returned `True` for twelve random inputs.": "inputs.numel() == 12",
    "values above 10 differently was never asked": "inputs.abs().max().item() < 10",
    "Three: both for the second layer, whose `x` is the hidden layer, and one for the first.": (
        "computed[:3] == ['grad_x', 'grad_w', 'grad_w']"
    ),
    "as much as the whole forward pass of that layer: 6,400,000 multiplications": (
        "N * H * D_in == N * D_in * H == 6_400_000"
    ),
    "The true value is 1.5155; ours is 1.7552, because the term $-t \\sin t$ is missing": (
        "(round(second_derivative(torch.sin), 4), round(second_derivative(NumpySine.apply), 4)) == (1.5155, 1.7552)"
        " and abs(second_derivative(torch.sin) - (2 * np.cos(0.5) - 0.5 * np.sin(0.5))) < 1e-14"
        " and abs(second_derivative(NumpySine.apply) - 2 * np.cos(0.5)) < 1e-14"
    ),
    "`gradgradcheck` is the check for this, and it refuses.": (
        "raised(lambda: torch.autograd.gradgradcheck(NumpySine.apply, inputs)).startswith('GradcheckError')"
    ),
    "A saved input comes back *with its history*": "abs(second_derivative(RightSine.apply) - 1.5155) < 1e-4",
    # 10 On a GPU
    "The same function, the same loss to ten digits.": "abs(on_both()[1] / on_both()[0] - 1) < 1e-10",
    '`.to("cpu")` has nothing to do and returns the tensor itself': "stays.is_leaf and x.to('cpu') is x",
    "A copy is a *result*": "(stays.is_leaf, copied.is_leaf, made_there.is_leaf) == (True, False, True)",
    "A gradient has the device, the dtype and the shape of its tensor": "gradient_place('cuda') == [True, True, True]",
    "on the way back the gradient is carried to the GPU again": "gradient_place('cpu') == [True, True, True]",
    # 11 Exercises
    "Try 1, 2 and 3 steps on `bowl` below: each step about triples the number of right digits.": (
        "all(2.5 < after / before < 4 for before, after in zip(digits[:-1], digits[1:]))"
    ),
    "`torch.where(u > 0, u.sqrt(), 0.0)`. Print its gradient at `u = 0`": (
        "slope_of(torch.sqrt, 0.0) == float('inf') and"
        " np.isnan(slope_of(lambda u: torch.where(u > 0, u.sqrt(), 0.0), 0.0)) and"
        " [slope_of(lambda u: torch.where(u > 0, torch.where(u > 0, u, 1.0).sqrt(), 0.0), at) for at in (0.0, 4.0)]"
        " == [0, 0.25]"
    ),
}

SHORTHAND = """
from course_lib.plots import autograd


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def kept(result):
    return [name for name in dir(result.grad_fn) if name.startswith("_saved_")]


def slope_of(f, at):
    t = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(f(t), t)[0].item()


def plain_slope():
    t = torch.tensor(2.0, requires_grad=True)
    return torch.autograd.grad(t**3, t)[0], t


def slope_of_line():
    t = torch.tensor(0.7, requires_grad=True)
    return torch.autograd.grad(3 * t + 2, t, create_graph=True)[0]


of_c = torch.autograd.grad((x * y + z).sum(), (x, y, z))
frozen = torch.ones(3, 4, requires_grad=True)

start = [torch.tensor(array, requires_grad=True) for array in (W1_np, W2_np)]
first_loss = network_loss(*start)
first_grads = torch.autograd.grad(first_loss, start, retain_graph=True)
by_hand_grads = backward_by_hand(X_np, Y_np, W1_np, W2_np)
twice = torch.tensor(W2_np, requires_grad=True)
for _ in range(2):
    network_loss(start[0], twice).backward()


def after_clearing(way):
    w = torch.tensor(W2_np, requires_grad=True)
    for _ in range(2):
        if way == "none":
            w.grad = None
        elif w.grad is not None:
            w.grad.zero_()
        network_loss(start[0], w).backward()
    return w.grad.tolist()


def backward_twice(**settings):
    loss = network_loss(*start)
    loss.backward(**settings)
    loss.backward()


def moved(updates):
    w = torch.ones(3, requires_grad=True)
    for _ in range(updates):
        w = w - 0.1 * torch.ones(3)
    return w


def use_inference():
    with torch.inference_mode():
        result = torch.ones(3)
    (result * torch.ones(3, requires_grad=True)).sum().backward()


t3 = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def versions():
    e, seen = t3.exp(), []
    for _ in range(3):
        seen.append(e._version)
        e.add_(1)
    return seen


def counted(way):
    e = t3.exp()
    way(e).add_(1)
    return e._version


def sine_then_edit():
    h = t3.sin()
    h += 1
    return torch.autograd.grad(h.sum(), t3)[0]


def hooked(clip):
    t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    square = t * t
    if clip:
        square.register_hook(lambda grad: grad.clamp(max=0.5))
    return torch.autograd.grad((square * 100).sum(), t)[0]


single = inputs.detach().float().requires_grad_()
import warnings

warnings.filterwarnings("ignore", message="Input #0 requires gradient")


def slopes_of_a_pair():
    # gradcheck's table, made to show itself by a rule without slopes: outputs a + 2 b and 3 b of the inputs a, b
    class NoSlopes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.stack([x[0] + 2 * x[1], 3 * x[1]])

        @staticmethod
        def backward(ctx, grad_output):
            return 0 * grad_output

    pair = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    said = raised(lambda: torch.autograd.gradcheck(NoSlopes.apply, pair))
    table = said.partition("numerical:tensor(")[2].partition(", dtype")[0]
    return torch.tensor(eval(table)).round().int().tolist()


def on_both():
    with virtual_cuda.session(quiet=True):
        return [train_on(device).item() for device in ("cpu", "cuda")]


def gradient_place(loss_device):
    with virtual_cuda.session(quiet=True):
        w = torch.ones(3, dtype=torch.float64, requires_grad=True, device="cuda")
        (w * w).to(loss_device).sum().backward()
        return [w.grad.device == w.device, w.grad.dtype is w.dtype, w.grad.shape == w.shape]


where, digits = 0.5, []
for _ in range(3):
    where = where - np.tanh(where - 1)
    digits.append(-np.log10(abs(where - 1)))
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(FACTS[said]) is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "scores.grad is": "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.",
    "loss.backward()\nwith on_purpose": "RuntimeError: Trying to backward through the graph a second time",
    "matrix.backward()": "RuntimeError: grad can be implicitly created only for scalar outputs",
    "W1 -= rate * W1.grad\n\nw =": "RuntimeError: a leaf Variable that requires grad is being used in an in-place",
    "gate(v2)": "RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
    "e.add_(1)": "[torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; expected version 0 instead",
    "hidden_way_in": "gradient - truth = [1.0, 1.0, 1.0]\nNo error, no warning.\ndetach: version 1\nRuntimeError:",
    "grad(t**3, t)": "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    "class ForgetfulReLU": "numerical:tensor([[0.0000, 0.0000],\n        [0.0000, 1.0000]], dtype=torch.float64)\nanal",
    "print()\nwith on_purpose": "will likely fail if all the inputs are not of double precision",
    "gradgradcheck(NumpySine": "GradcheckError: Jacobian mismatch",
    "NumpySine.apply(made_there)": "TypeError: can't convert cuda:0 device type tensor to numpy.",
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The exercises: a check waits, names the mistake, and accepts what is right.

SLOPE = """
def slope_at(f, x):
    t = torch.tensor(x, requires_grad=True{dtype})
    {rest}
"""
CUBE = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {keep}
        return x**{power}

    @staticmethod
    def backward(ctx, grad_output):
        {get}
        return {rule}
"""
NEWTON = """
def newton(f, start, steps):
    t = torch.tensor(start{dtype})
    for _ in range(steps):
        t = t.detach().requires_grad_()
        [slope] = torch.autograd.grad(f(t), t, create_graph={record})
        [bend] = torch.autograd.grad(slope, t)
        t = t {step}
    return t{end}
"""
DOUBLE = ", dtype=torch.float64"
SAVED = {"keep": "ctx.save_for_backward(x)", "get": "(x,) = ctx.saved_tensors"}


def _slope(rest: str, dtype: str = DOUBLE) -> str:
    return SLOPE.format(rest=rest, dtype=dtype)


def _cube(rule: str, power: int = 3, **where: str) -> str:
    return CUBE.format(rule=rule, power=power, **(where or SAVED))


def _newton(step: str = "- slope / bend", end: str = ".item()", dtype: str = DOUBLE, record: bool = True) -> str:
    return NEWTON.format(step=step, end=end, dtype=dtype, record=record)


ANSWERS = [
    (1, _slope("return torch.autograd.grad(f(t), t)[0].item()"), "right, all 5 checks hold."),
    (1, _slope("f(t).backward(); return t.grad.item()"), "right, all 5 checks hold."),
    (1, _slope("f(t).backward()"), "Is there a `return`?"),
    (1, _slope("f(t).backward(); return t.grad"), "what does `.item()` do?"),
    (1, _slope("return f(t).item()"), "You returned the value"),
    (1, _slope("return ((f(t + 1e-6) - f(t - 1e-6)) / 2e-6).item()"), "let autograd find it, not a nudge"),
    (1, _slope("f(t).backward(); return t.grad.item()", dtype=""), "only in float32"),
    (2, _cube("grad_output * 3 * x**2"), "right, all 4 checks hold."),
    (2, _cube("grad_output * 3 * x**2", power=2), "forward should give x**3."),
    (2, _cube("3 * x**2"), "Your rule ignores grad_output."),
    (2, _cube("grad_output * x**2"), "What is the derivative of x**3?"),
    (
        2,
        _cube("grad_output * 3 * x**2", keep="ctx.x = x.detach()", get="x = ctx.x.detach()"),
        "The second derivative is off:",
    ),
    (3, _newton(), "right, all 8 checks hold."),
    (3, _newton(end=""), "Return a Python number"),
    (3, _newton("- slope"), "Divide it by f''"),
    (3, _newton("+ slope / bend"), "You went uphill"),
    (3, _newton("- bend / slope"), "the other way round"),
    (3, _newton("- 0.1 * slope"), "one step from 0 leads to 3"),
    (3, _newton(dtype=""), "only in float32"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


def test_newton_without_create_graph_meets_the_error_of_section_8(ran: Any) -> None:
    """The reader's own error is passed on: the lecture has taught how to read it."""
    ran.do(SHORTHAND)
    ran.do(_newton(record=False))
    assert "does not have a grad_fn" in ran.value("raised(lambda: newton(bowl, 0.5, 1))")


# What the lecture teaches is tested as code, too, on more than the lecture shows.


@pytest.fixture
def functions(ran: Any) -> dict[str, Any]:
    """The lecture's own operations as the notebook writes them, in this process."""
    names: dict[str, Any] = {"torch": torch, "np": np, "computed": []}
    for cell in ran.notebook.cells:
        if cell.cell_type == "code" and "(torch.autograd.Function):" in cell.source and "Cube" not in cell.source:
            classes = [node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef)]
            exec("\n".join(map(ast.unparse, classes)), names)
    return names


def _random(*shape: int, transposed: bool = False) -> torch.Tensor:
    torch.manual_seed(1)
    drawn = torch.randn(*(shape[::-1] if transposed else shape), dtype=torch.float64) + 0.01
    return (drawn.T if transposed else drawn).requires_grad_()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", ["MyReLU", "NumpySine", "RightSine"])
def test_an_operation_of_the_lecture_passes_gradcheck_on_any_memory_layout(
    ran: Any, functions: Any, name: str, transposed: bool
) -> None:
    assert torch.autograd.gradcheck(functions[name].apply, _random(3, 5, transposed=transposed))


@pytest.mark.parametrize("name", ["MyReLU", "RightSine"])
def test_an_operation_that_claims_it_can_be_differentiated_twice(ran: Any, functions: Any, name: str) -> None:
    assert torch.autograd.gradgradcheck(functions[name].apply, _random(3, 5))


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True)])
def test_the_product_computes_only_the_gradients_that_are_wanted(ran: Any, functions: Any, wanted: Any) -> None:
    x, w = _random(4, 3).detach().requires_grad_(wanted[0]), _random(3, 2).detach().requires_grad_(wanted[1])
    product = functions["MyMatmul"].apply
    product(x, w).sum().backward()
    assert functions["computed"] == [name for name, want in zip(("grad_x", "grad_w"), wanted, strict=True) if want]
    assert torch.autograd.gradcheck(product, (x, w)) and torch.autograd.gradgradcheck(product, (x, w))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_lectures_relu_keeps_the_dtype_and_agrees_with_torchs(ran: Any, functions: Any, dtype: Any) -> None:
    x = _random(3, 5).detach().to(dtype).requires_grad_()
    ours, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (functions["MyReLU"].apply, torch.relu))
    assert ours.dtype is dtype and torch.equal(ours, theirs)


def test_the_training_loop_agrees_with_torchs_own_optimiser(ran: Any) -> None:
    X, Y, *weights = (torch.tensor(ran.value(f"{name}_np"), dtype=torch.float64) for name in ("X", "Y", "W1", "W2"))
    W1, W2 = (weight.requires_grad_() for weight in weights)
    optimiser = torch.optim.SGD([W1, W2], lr=0.01)
    for expected in ran.value("cleared"):
        optimiser.zero_grad()
        loss = (((X @ W1).relu() @ W2 - Y) ** 2).sum() / len(X)
        assert loss.item() == pytest.approx(expected, rel=1e-9)
        loss.backward()
        optimiser.step()


FIGURES = (
    "sum of (3, 4) gives c = 6.717",
    "mv of weights (3,) gives (5,); add of (5,) and bias = 0 gives scores (5,)",
    "mm of W1 (1000, 100) gives (64, 100); relu",
    "cleared goes from 30.1 to",
    "mul of large (2,) gives (2,); sum of (2,) gives result = 14.",
    "5 operations, from left to right: mul of small (2,)",
    "size (norm) of the gradient against layer. sigmoid: from",
    "first derivative: from 0.00987 at -3 to 0.00987 at 3",
    "relative error against step. right rule, float64: from",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)


def test_the_lecture_says_on_which_device_it_ran(ran: Any) -> None:
    printed = ran.printed("devices.best_device")
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "Virtual CUDA (this is the CPU)"
    assert f"device: {name}" in printed and "cpu " in printed and "cuda:0 " in printed
