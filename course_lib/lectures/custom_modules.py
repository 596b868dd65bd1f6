"""Checks for the lecture on modules, and the solutions with which it continues until a reader's own are right.

Each check compares with PyTorch and asks about one mistake at a time, the likeliest first.
"""
# The solutions stand here as the reader sees them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, no-warn-return-any

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

__all__ = [
    "LeNet",
    "check_conv2d",
    "check_examples_mix",
    "check_lenet",
    "check_my_linear",
    "check_named_parameters",
    "check_residual",
    "check_running_center",
    "check_state_is_complete",
]


class MyLinear(nn.Module):
    def __init__(self, n_in, n_out):
        """weight: Parameter (n_out, n_in); bias: Parameter (n_out,)."""
        super().__init__()
        bound = n_in**-0.5
        self.weight = nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(n_out).uniform_(-bound, bound))

    def forward(self, x):
        """x: (..., n_in). Returns (..., n_out)."""
        return x @ self.weight.T + self.bias


class Mini:
    def __init__(self):
        self.found = {}

    def __setattr__(self, name, value):
        """Store the attribute, and note it in `found` if it is a parameter or another Mini."""
        object.__setattr__(self, name, value)
        if isinstance(value, (nn.Parameter, Mini)):
            self.found[name] = value

    def named_parameters(self):
        """A list of pairs (name, parameter), with dotted names for those of inner modules."""
        pairs = []
        for name, value in self.found.items():
            if isinstance(value, Mini):
                for inner, parameter in value.named_parameters():
                    pairs.append((f"{name}.{inner}", parameter))
            else:
                pairs.append((name, value))
        return pairs


def conv2d(x, weight, bias):
    """x: (C_in, H, W), weight: (C_out, C_in, K, K), bias: (C_out,). Returns (C_out, H - K + 1, W - K + 1)."""
    n_out = weight.shape[0]
    size = weight.shape[2]
    height = x.shape[1] - size + 1
    width = x.shape[2] - size + 1
    maps = torch.zeros(n_out, height, width)
    for k in range(n_out):
        for row in range(height):
            for column in range(width):
                window = x[:, row : row + size, column : column + size]
                maps[k, row, column] = (window * weight[k]).sum() + bias[k]
    return maps


class LeNet(nn.Module):
    def __init__(self):
        """conv1, conv2: 6 and 16 filters of 5 x 5; fc1, fc2, fc3: 120, 84 and 10 outputs."""
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 4 * 4, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def hidden(self, x):
        """x: (N, 1, 28, 28). Returns the 84 activations of the last hidden layer, (N, 84)."""
        x = F.max_pool2d(self.conv1(x).relu(), 2)
        x = F.max_pool2d(self.conv2(x).relu(), 2)
        x = self.fc1(x.flatten(1)).relu()
        return self.fc2(x).relu()

    def forward(self, x):
        """x: (N, 1, 28, 28). Returns the logits, (N, 10)."""
        return self.fc3(self.hidden(x))


def state_is_complete(make, net, x):
    """Whether a new network from make() that loads the state of net gives the same logits for x, in eval mode."""
    other = make()
    other.load_state_dict(net.state_dict())
    net.eval()
    other.eval()
    with torch.no_grad():
        return torch.equal(other(x), net(x))


class Residual(nn.Module):
    def __init__(self, channels):
        """layers: a Sequential of `first`, ReLU and `second`."""
        super().__init__()
        first = nn.Conv2d(channels, channels, 3, padding=1)
        second = nn.Conv2d(channels, channels, 3, padding=1)
        self.layers = nn.Sequential(first, nn.ReLU(), second)

    def forward(self, x):
        """x: (N, channels, H, W). Returns x + layers(x), of the same shape."""
        return x + self.layers(x)


def examples_mix(net, x):
    """x: (N, ...). Returns whether, in eval mode, the first logit of example 0 depends on any other example."""
    net.eval()
    x = x.clone().requires_grad_()
    logit = net(x)[0, 0]
    (gradient,) = torch.autograd.grad(logit, x)
    return bool(gradient[1:].any())


class RunningCenter(nn.Module):
    def __init__(self, columns):
        """center: a buffer of `columns` zeros."""
        super().__init__()
        self.register_buffer("center", torch.zeros(columns))

    def forward(self, x):
        """x: (N, columns). Returns x without the mean of each column, (N, columns)."""
        if not self.training:
            return x - self.center
        mean = x.mean(dim=0)
        self.center = 0.9 * self.center + 0.1 * mean.detach()
        return x - mean


PROBE = torch.arange(6.0).reshape(2, 3)
MEANS = torch.tensor([1.5, 2.5, 3.5])


def check_my_linear(attempt: Any) -> Any:
    """A class like `nn.Linear(n_in, n_out)`."""
    square = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x = torch.tensor([[5.0, 7.0]])

    def filled(bias: float) -> torch.Tensor:
        layer = attempt(2, 2)
        with torch.no_grad():
            layer.weight.copy_(square)
            layer.bias.fill_(bias)
        return layer(x)

    def spread() -> float:
        torch.manual_seed(0)
        return max(p.detach().abs().max().item() for p in attempt(100, 200).parameters())

    return attempt_or_solution(
        "MyLinear", attempt, MyLinear,
        (lambda: _started(attempt, 4, 3),
         "A module must be ready before it can hold anything: call super().__init__() in the first line of __init__."),
        (lambda: {name for name, _ in attempt(4, 3).named_parameters()} == {"weight", "bias"},
         "named_parameters() should list `weight` and `bias`, and nothing else. Wrap both tensors in nn.Parameter and "
         "assign them to self under these names."),
        (lambda: tuple(attempt(4, 3).weight.shape) == (3, 4),
         "The weight of a layer from 4 to 3 should have shape (3, 4): outputs first."),
        (lambda: tuple(attempt(4, 3).bias.shape) == (3,), "The bias should have shape (n_out,): one for each output."),
        (lambda: filled(0.0) is not None, "forward returns None: is there a `return`?"),
        (lambda: not torch.allclose(filled(0.0), x @ square),
         "You multiply by the weight itself. The weight is stored outputs first, so transpose it: self.weight.T."),
        (lambda: torch.allclose(filled(0.0), x @ square.T), "With a bias of zero the result should be x @ weight.T."),
        (lambda: torch.allclose(filled(1.0), x @ square.T + 1), "The bias is missing from the result: add it once."),
        (lambda: attempt(3, 2)(torch.ones(4, 5, 3)).shape == (4, 5, 2),
         "x may have more than two axes: (4, 5, 3) should become (4, 5, 2)."),
        (lambda: spread() < 1, "Some first values are too large: draw weight and bias from -n_in**-0.5 to n_in**-0.5."),
        (lambda: 0.08 < spread() <= 0.1,
         "With 100 inputs all first values should lie between -0.1 and 0.1, and fill this range: the bound is "
         "n_in**-0.5."),
        (lambda: attempt(100, 200).weight.min() < -0.08 < 0.08 < attempt(100, 200).weight.max(),
         "The weights should be drawn on both sides of zero, from -bound to bound."),
        (lambda: attempt(100, 200).bias.std() > 0.03 and attempt(100, 200).bias.abs().max() > 0.08,
         "The bias should start with random numbers, too, with the same bound as the weight: n_in**-0.5."),
        (lambda: not torch.equal(attempt(4, 3).weight, attempt(4, 3).weight),
         "Two layers start with the same weights: draw new random numbers for each."),
    )  # fmt: skip


def check_named_parameters(attempt: Any) -> Any:
    """A small `nn.Module`: notes parameters and inner modules, and lists the parameters by dotted names."""

    def leaf() -> Any:
        module = attempt()
        module.weight = nn.Parameter(torch.ones(2))
        module.bare = torch.ones(2, requires_grad=True)
        module.number = 1
        return module

    def tree(levels: int) -> Any:
        if not levels:
            return leaf()
        module = attempt()
        module.first, module.second = tree(levels - 1), leaf()
        return module

    def two() -> Any:
        module = leaf()
        module.bias = nn.Parameter(torch.zeros(2))
        return module

    def names(module: Any) -> list[str]:
        return [name for name, _ in module.named_parameters()]

    def stored() -> bool:
        try:
            module = leaf()
            return module.number == 1 and module.bare.shape == module.weight.shape == tree(1).first.weight.shape == (2,)
        except RecursionError:
            return False
        except AttributeError as error:
            if isinstance(error.obj, attempt):
                return False
            raise  # a mistake of another kind, such as `found.append`

    return attempt_or_solution(
        "Mini", attempt, Mini,
        (stored, "An attribute is not stored. __setattr__ replaces Python's own way of storing, so call "
                 "object.__setattr__(self, name, value) for every value; `self.name = value` or setattr would call "
                 "your method again, without end."),
        (lambda: "weight" in leaf().found, "A parameter that was assigned is missing from `found`."),
        (lambda: list(leaf().found) == ["weight"],
         "`found` should hold nn.Parameter and Mini only: neither plain tensors nor numbers."),
        (lambda: "weight" in two().found,
         "The second parameter that is assigned removes the first from `found`. Add to the dictionary that is there, "
         "with self.found[name] = value."),
        (lambda: set(tree(1).found) == {"first", "second"},
         "A Mini that is assigned to another belongs in `found` as well."),
        (lambda: leaf().named_parameters() is not None, "named_parameters returns None: is there a `return`?"),
        (lambda: all(isinstance(pair, tuple) and len(pair) == 2 for pair in leaf().named_parameters()),
         "named_parameters should give pairs: a list of (name, parameter)."),
        (lambda: names(leaf()) == ["weight"], "A module with one parameter `weight` should list it under that name."),
        (lambda: all(isinstance(pair, tuple) and len(pair) == 2 for pair in tree(1).named_parameters()),
         "For a module with inner modules, an entry of the list is not a pair. Loop over the inner module's "
         "named_parameters(), and append one pair for each of its parameters."),
        (lambda: all(isinstance(p, nn.Parameter) for _, p in tree(1).named_parameters()),
         "The list contains a module. If a value is a Mini, ask it for its own named_parameters() instead."),
        (lambda: len(names(tree(1))) == 2,
         "A module with two inner modules of one parameter each should list 2 parameters. Is there a `return` inside "
         "your loop? It would leave out the rest."),
        (lambda: set(names(tree(1))) == {"first.weight", "second.weight"},
         "The parameters of an inner module need its name in front, with a dot: first.weight and second.weight."),
        (lambda: set(names(tree(2))) == {"first.first.weight", "first.second.weight", "second.weight"},
         "It works for one level, but not for two: call named_parameters() of the inner module, which calls itself "
         "for the next level, and put your prefix in front of what comes back."),
    )  # fmt: skip


def check_conv2d(attempt: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A convolution of one image, `(C_in, H, W)`, by filters `(C_out, C_in, K, K)`, without padding."""
    generator = torch.Generator().manual_seed(0)
    x, weight = torch.randn(3, 7, 9, generator=generator), torch.randn(2, 3, 3, 3, generator=generator)
    bias, none = torch.tensor([10.0, 20.0]), torch.zeros(2)

    def given(*arguments: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(attempt(*(argument.clone() for argument in arguments)))

    def agrees(expected: torch.Tensor, *arguments: torch.Tensor) -> bool:
        found = given(*arguments)
        return found.shape == expected.shape and torch.allclose(found.float(), expected, atol=1e-4)

    def other_sizes(x: torch.Tensor, weight: torch.Tensor) -> bool:
        try:
            return agrees(F.conv2d(x, weight, bias), x, weight, bias)
        except (RuntimeError, IndexError):
            return False

    def error_says(words: str) -> bool:
        try:
            given(x, weight, none)
        except RuntimeError as error:
            return words in str(error)
        return False

    def inner_only() -> bool:
        found = given(x, weight, none).float()
        inner = torch.allclose(found[:, :-1, :-1], right[:, :-1, :-1], atol=1e-4)
        return inner and not torch.allclose(found, right, atol=1e-4)

    def returns_early() -> bool:
        found, wanted = given(x, weight, none).float().flatten(), right.flatten()
        filled = int(found.nonzero().max()) + 1 if found.any() else 0
        return 0 < filled < len(wanted) and torch.allclose(found[:filled], wanted[:filled], atol=1e-4)

    right = F.conv2d(x, weight, none)
    summed = F.conv2d(x.sum(dim=0, keepdim=True), weight[:, :1], none)
    own_channel = torch.cat([F.conv2d(x[[k]], weight[[k]].sum(1, keepdim=True), none[:1]) for k in range(2)])
    windows = x.unfold(1, 3, 1).unfold(2, 3, 1)
    as_matrices = torch.einsum("crwij,kcjl->krw", windows, weight)
    return attempt_or_solution(
        "conv2d", attempt, conv2d,
        (lambda: not error_says("must match the size of tensor"),
         "Two shapes in your code differ. Every window should have the shape of weight[k], (C_in, K, K): all channels, "
         "rows from row to row + K, columns from column to column + K. It fits at n - K + 1 places of n; beyond these, "
         "the slice ends at the border and is too small."),
        (lambda: not error_says("number of sizes provided (0)"),
         "You assign several numbers to one value of a map. Sum all products of the window, and add one number, "
         "bias[k]."),
        (lambda: attempt(x, weight, none) is not None, "The function returns None: is there a `return`?"),
        (lambda: given(x, weight, none).shape != (2, 4, 6),
         "One row and one column are missing at the end: a window of 3 fits into 7 rows at 7 - 3 + 1 = 5 places."),
        (lambda: given(x, weight, none).shape != (2, 7, 5),
         "Height and width are swapped: rows belong to axis 1 of x, columns to axis 2."),
        (lambda: given(x, weight, none).shape != (3, 5, 7),
         "There should be one map for each filter, not one for each input channel."),
        (lambda: given(x, weight, none).shape == (2, 5, 7),
         "An image of shape (3, 7, 9) and weights of shape (2, 3, 3, 3) should give shape (2, 5, 7)."),
        (lambda: not agrees(F.conv2d(x, weight.flip(2, 3), none), x, weight, none),
         "The kernel is flipped. Deep learning's convolution multiplies the window by the kernel as it stands."),
        (lambda: not agrees(F.conv2d(x, weight.transpose(2, 3), none), x, weight, none),
         "Rows and columns of the kernel are swapped."),
        (lambda: not agrees(F.conv2d(x[:1], weight[:, :1], none), x, weight, none),
         "Only the first channel is used. The window must have all channels: x[:, rows, columns]."),
        (lambda: not agrees(own_channel, x, weight, none),
         "For map k you use only channel k of x. Every filter covers all channels: x[:, rows, columns]."),
        (lambda: not agrees(summed, x, weight, none),
         "Every channel was multiplied by the first slice of the filter. Each channel has a slice of its own."),
        (lambda: not agrees(F.conv2d(x[-1:], weight[:, -1:], none), x, weight, none),
         "Only the last channel is left. If you loop over channels, add each to the value instead of replacing it."),
        (lambda: not agrees(as_matrices, x, weight, none),
         "You multiply as matrices, with @. Window and filter are multiplied entry by entry, with *."),
        (lambda: not agrees(right / 27, x, weight, none) and not agrees(right / 9, x, weight, none),
         "You take a mean over the window. It should be the sum."),
        (lambda: not inner_only(),
         "All values are right except those in the last row or the last column of each map: a loop ends too early. A "
         "window of side K fits at n - K + 1 places of n, so use range(n - K + 1)."),
        (lambda: not returns_early(),
         "Only the beginning of the maps is filled, and the rest is 0: the function returns inside a loop. Move the "
         "`return` behind all three loops."),
        (lambda: not agrees(right.sum(dim=0, keepdim=True).expand(2, 5, 7), x, weight, none),
         "Every map is the sum over all filters. Multiply the window by weight[k], and not by weight."),
        (lambda: agrees(right, x, weight, none),
         "With a bias of zero some values differ from F.conv2d's. At each place, multiply the window by weight[k] "
         "entry by entry and sum over channels, rows and columns. If you use +=, begin with torch.zeros: torch.empty "
         "holds arbitrary numbers."),
        (lambda: not agrees(right, x, weight, bias), "The bias is missing: add bias[k] to every value of map k."),
        (lambda: not agrees(F.conv2d(x, weight, 27 * bias), x, weight, bias)
         and not agrees(F.conv2d(x, weight, 3 * bias), x, weight, bias),
         "The bias is added more than once to a value. Add it after the sum over the whole window."),
        (lambda: agrees(F.conv2d(x, weight, bias), x, weight, bias),
         "Without a bias all is right. Now add bias[k] to every value of map k, once."),
        (lambda: other_sizes(x[:1], weight[:, :1]) and other_sizes(x, torch.ones(2, 3, 5, 5)),
         "It fails for another number of channels or another kernel size: read the sizes from the shapes."),
    )  # fmt: skip


LENET_SHAPES = {
    "conv1.weight": (6, 1, 5, 5), "conv1.bias": (6,), "conv2.weight": (16, 6, 5, 5), "conv2.bias": (16,),
    "fc1.weight": (120, 256), "fc1.bias": (120,), "fc2.weight": (84, 120), "fc2.bias": (84,),
    "fc3.weight": (10, 84), "fc3.bias": (10,),
}  # fmt: skip


def check_lenet(attempt: Any) -> Any:
    """The small LeNet for 28 x 28 images, with the methods `hidden` and `forward`."""
    x = torch.rand(5, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    try:
        net: Any = attempt() if _started(attempt) else nn.Module()
    except Exception:  # raised again by the first check, which tells it by its message and line
        net = nn.Module()
    shapes = {name: tuple(value.shape) for name, value in net.state_dict().items()}
    wrong = [f"{name} is {shapes[name]} and should be {shape}"
             for name, shape in LENET_SHAPES.items() if shapes.get(name, shape) != shape]  # fmt: skip
    missing = sorted({name.partition(".")[0] for name in LENET_SHAPES.keys() - shapes.keys()})
    if not wrong and not missing:
        with torch.no_grad():
            for name, parameter in net.named_parameters():  # so that every ReLU has something to cut
                parameter.uniform_(-0.15, 0.15)
                if name.endswith("bias"):
                    parameter.uniform_(-0.3, 0.3)

    def runs(method: str, count: int = 5) -> bool:
        try:
            getattr(net, method)(x[:count])
        except NotImplementedError:
            raise
        except RuntimeError:
            return False
        return True

    def is_not(skip: str) -> bool:
        found = net.hidden(x)
        return not torch.allclose(found, _lenet_hidden(net, x, skip=skip), atol=1e-5)

    return attempt_or_solution(
        "LeNet", attempt, LeNet,
        (lambda: _started(attempt), "Call super().__init__() in the first line of __init__."),
        (lambda: not missing, f"These layers are not registered under their names: {', '.join(missing)}."),
        (lambda: not wrong, f"A shape is wrong: {'; '.join(wrong[:1])}."),
        (lambda: shapes.keys() == LENET_SHAPES.keys(), "There are more parameters than those of the five layers."),
        (lambda: runs("hidden"),
         "A batch of shape (5, 1, 28, 28) does not get through hidden. fc1 must receive 16 * 4 * 4 = 256 numbers for "
         "each example: convolve without padding, pool twice, then flatten(1)."),
        (lambda: net.hidden(x) is not None, "hidden returns None: is there a `return`?"),
        (lambda: runs("forward"),
         "A batch gets through hidden, but not through forward: fc3 must receive the 84 numbers of self.hidden(x), and "
         "hidden ends with the ReLU after fc2."),
        (lambda: net(x) is not None, "forward returns None: is there a `return`?"),
        (lambda: runs("hidden", 3), "Five images get through hidden, but not three: do not fix the size of the batch."),
        (lambda: net.hidden(x).shape == (5, 84), "hidden(x) should return (5, 84) for five images: it ends at fc2."),
        (lambda: net(x).shape == (5, 10), "forward(x) should return (5, 10) for five images: it ends at fc3."),
        (lambda: is_not("fc2"), "hidden(x) lacks the ReLU after fc2."),
        (lambda: is_not("fc1"), "There is no ReLU between fc1 and fc2."),
        (lambda: is_not("conv2"), "There is no ReLU after conv2."),
        (lambda: is_not("conv1"), "There is no ReLU after conv1."),
        (lambda: not torch.allclose(net.hidden(x), _lenet_hidden(net, x, pool=F.avg_pool2d), atol=1e-5),
         "You pool by the mean. Use max_pool2d here."),
        (lambda: not _rows_sum_to_one(net(x)),
         "The rows of the result sum to 1: there is a softmax. Return the logits, since F.cross_entropy applies "
         "softmax itself."),
        (lambda: not torch.allclose(net(x), net.fc3(net.hidden(x)).relu(), atol=1e-5),
         "There is a ReLU after fc3. Logits may be negative, so return them as they are."),
        (lambda: torch.allclose(net.hidden(x), _lenet_hidden(net, x), atol=1e-5),
         "hidden(x) should be conv1, ReLU, pool, conv2, ReLU, pool, flatten, fc1, ReLU, fc2, ReLU, in this order."),
        (lambda: torch.allclose(net(x), net.fc3(net.hidden(x)), atol=1e-5),
         "forward(x) should return fc3 of hidden(x), and nothing else."),
    )  # fmt: skip


def _lenet_hidden(net: Any, x: torch.Tensor, skip: str = "", pool: Callable[..., Any] = F.max_pool2d) -> torch.Tensor:
    """`hidden` with the layers of `net`; without the ReLU after the layer `skip`."""
    for name in ("conv1", "conv2"):
        x = getattr(net, name)(x)
        x = pool(x if name == skip else x.relu(), 2)
    x = x.flatten(1)
    for name in ("fc1", "fc2"):
        x = getattr(net, name)(x)
        x = x if name == skip else x.relu()
    return x


class _Saved(nn.Module):
    """A layer that is saved, and with `unsaved` one that is not, which adds to its outputs or has one of its own."""

    def __init__(self, unsaved: str = "", outputs: int = 3, dropped: float = 0.0) -> None:
        super().__init__()
        self.saved = nn.Linear(3, outputs)
        self.unsaved = [nn.Linear(3, 1)]
        self.kind = unsaved
        self.dropout = nn.Dropout(dropped)
        self.recorded = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.recorded |= torch.is_grad_enabled()
        logits, other = self.saved(x), self.unsaved[0](x)
        if self.kind:
            logits = logits + other if self.kind == "in all" else torch.cat([logits, other], dim=1)
        return torch.as_tensor(self.dropout(logits))


def check_state_is_complete(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """Whether the state of a network holds all that its logits depend on."""
    batch = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))

    def complete() -> Any:
        return _Saved()

    def partly() -> Any:
        return _Saved("in one")

    def found(make: Callable[[], Any], net: Any = None) -> Any:
        return attempt(make, make() if net is None else net, batch.clone())

    def keeps() -> bool:
        net = _Saved()
        before = {name: value.clone() for name, value in net.state_dict().items()}
        found(complete, net)
        return all(torch.equal(value, before[name]) for name, value in net.state_dict().items())

    def built() -> list[_Saved]:
        """A network, and those that the attempt makes."""
        nets = [_Saved()]

        def make() -> _Saved:
            nets.append(_Saved())
            return nets[-1]

        found(make, nets[0])
        return nets

    return attempt_or_solution(
        "state_is_complete", attempt, state_is_complete,
        (lambda: found(complete) is not None, NOTHING_RETURNED),
        (lambda: not isinstance(found(complete), torch.Tensor) or found(complete).numel() == 1,
         "You return a tensor of several values. Return one True or False: torch.equal(a, b) tells whether all entries "
         "are the same."),
        (keeps, "Your function changes the weights of net. Load its state into the new network: "
                "other.load_state_dict(net.state_dict())."),
        (lambda: len(built()) > 1,
         "Your function does not call make(). Build a second network with it: other = make()."),
        (lambda: found(complete) or not found(partly),
         "The answers are the wrong way round: return True if both networks give the same logits."),
        (lambda: bool(found(complete)),
         "Here the state holds every weight, but your function returns False. Does the new network load the state of "
         "net, and do both get the same x?"),
        (lambda: not found(lambda: _Saved("in all")),
         "This network keeps a layer in a plain list, so its state is not complete, but your function returns True. "
         "Load the state into a network from make(), and compare the logits of both networks for x, with torch.equal."),
        (lambda: not found(partly),
         "Here three of four logits are the same for both networks, and your function returns True. All of them must "
         "be the same: use torch.equal."),
        (lambda: bool(found(lambda: _Saved(outputs=64, dropped=0.5))),
         "This network has dropout, which draws random numbers in training mode, and your function returns False. Call "
         "eval() on both networks before you compute the logits."),
        (lambda: not any(net.recorded for net in built()),
         "It is right, but autograd records what the networks compute. Compute the logits under torch.no_grad()."),
    )  # fmt: skip


def check_residual(attempt: Any) -> Any:
    """A block that adds its input to the result of two convolutions with ReLU between them."""
    x = torch.randn(2, 3, 6, 5, generator=torch.Generator().manual_seed(1))

    def block() -> Any:
        made = attempt(3)
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        return made

    def added(made: Any, between: bool = True) -> torch.Tensor:
        """what a right block with these parameters adds, or one without ReLU"""
        first, bias, second, other = made.parameters()
        hidden = F.conv2d(x, first, bias, padding=1)
        return F.conv2d(hidden.relu() if between else hidden, second, other, padding=1)

    def gives(expected: Callable[[Any], torch.Tensor]) -> bool:
        made = block()
        found = made(x.clone())
        return found.shape == x.shape and torch.allclose(found, expected(made), atol=1e-4)

    def shapes(channels: int) -> list[tuple[int, ...]]:
        return [tuple(parameter.shape) for parameter in attempt(channels).parameters()]

    def runs() -> bool:
        try:
            attempt(3)(x.clone())
        except NotImplementedError as error:
            if not error.args:
                raise  # forward waits for the reader
            return False
        except RuntimeError:
            return False
        return True

    def same_x() -> bool:
        given = x.clone()
        attempt(3)(given)
        return torch.equal(given, x)

    return attempt_or_solution(
        "Residual", attempt, Residual,
        (lambda: _started(attempt, 3), "Call super().__init__() in the first line of __init__."),
        (lambda: hasattr(attempt(3), "layers"), "Assign the Sequential to self.layers."),
        (lambda: list(attempt(3).parameters()), "The block has no parameters. A plain list is not registered: put the "
         "layers into nn.Sequential."),
        (lambda: isinstance(attempt(3).layers, nn.Sequential), "self.layers should be an nn.Sequential."),
        (lambda: not any(len(shape) == 2 for shape in shapes(3)),
         "There is a linear layer in the block. Both layers should be convolutions, nn.Conv2d."),
        (lambda: len(shapes(3)) == 4,
         "The block should have four parameters: two convolutions, each with a weight and a bias of its own."),
        (lambda: all(shape[2:] in ((), (3, 3)) for shape in shapes(3)), "Both kernels should be 3 x 3."),
        (lambda: all(sorted(shapes(n)) == sorted([(n, n, 3, 3), (n,), (n, n, 3, 3), (n,)]) for n in (3, 5)),
         "Both convolutions should lead from `channels` to `channels` channels, so that x can be added to the result."),
        (lambda: attempt(3).layers(x).shape == x.shape,
         "layers(x) has other sides than x, so the two cannot be added. Pass padding=1 to both convolutions, and leave "
         "their stride at 1."),
        (runs, "A batch of shape (2, 3, 6, 5) does not get through Residual(3). In forward, apply self.layers to x."),
        (lambda: attempt(3)(x.clone()) is not None, "forward returns None: is there a `return`?"),
        (same_x, "The block changes the x that it receives, as `x += ...` does. Compute a new tensor: x + ..."),
        (lambda: attempt(3)(x.clone()).shape == x.shape,
         "The result should have the shape of x. The shortcut adds x, and does not join the two tensors."),
        (lambda: not gives(lambda made: added(made)), "The shortcut is missing: add x to the result of the layers."),
        (lambda: not gives(lambda made: x * added(made)), "You multiply by x. The shortcut adds it."),
        (lambda: not gives(lambda made: x - added(made)) and not gives(lambda made: added(made) - x),
         "You subtract. The result should be x + layers(x)."),
        (lambda: not gives(lambda made: (x + added(made)).relu()),
         "There is a ReLU after the sum. ResNet has one there, but our block returns the sum itself."),
        (lambda: not gives(lambda made: x.relu() + added(made)),
         "The shortcut goes through a ReLU, so negative numbers are lost. Add x itself."),
        (lambda: not gives(lambda made: x + added(made, between=False)), "There is no ReLU between the convolutions."),
        (lambda: not gives(lambda made: x + added(made).relu()),
         "There is a ReLU after the second convolution. It should be able to add negative numbers, too."),
        (lambda: gives(lambda made: x + added(made)),
         "The result should be x + layers(x), where the layers are a convolution, ReLU and a convolution."),
        (lambda: torch.allclose((made := block()).layers(x), added(made), atol=1e-4),
         "The block is right, but self.layers(x) alone is not what it adds. The next network uses it."),
    )  # fmt: skip


class _Mixing(nn.Module):
    """Two logits for each example, the same to the last bit in a batch of any size, on which `mix` then works."""

    def __init__(self, mix: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.mix = mix
        self.weight = nn.Parameter(torch.tensor([[1.0, 0.5], [0.25, 2.0], [0.5, 1.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = x.flatten(1).split(1, dim=1)
        return torch.as_tensor(self.mix(sum(c * row for c, row in zip(columns, self.weight, strict=True))))


def check_examples_mix(attempt: Callable[..., Any]) -> Callable[..., Any]:
    """Whether the first logit of example 0 depends on another example of the batch `x`, in eval mode."""
    batch = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))

    def plain(logits: torch.Tensor) -> torch.Tensor:
        return logits

    def over_examples(logits: torch.Tensor) -> torch.Tensor:
        return logits.log_softmax(dim=0)

    def found(mix: Callable[[torch.Tensor], torch.Tensor] = plain, x: torch.Tensor = batch) -> Any:
        return attempt(_Mixing(mix), x.clone())

    def has_gradient() -> bool:
        try:
            found()
        except (TypeError, AttributeError) as error:
            if str(error).startswith("'NoneType' object"):
                return False
            raise
        except RuntimeError as error:
            if "only for scalar outputs" in str(error):
                return True  # the next check
            raise
        return True

    def one_logit() -> bool:
        try:
            found()
        except RuntimeError as error:
            return "only for scalar outputs" not in str(error)
        return True

    def with_sum(logits: torch.Tensor) -> torch.Tensor:
        return logits + logits.sum(dim=0)

    def without_first(logits: torch.Tensor) -> torch.Tensor:
        return logits * torch.tensor([[0.0], [1.0], [1.0], [1.0]])

    def one_other(step: int) -> bool:
        return bool(found(lambda logits: logits + logits.roll(step, 0)))

    def images() -> bool:
        x = batch.reshape(4, 1, 3, 1)
        return not found(x=x) and bool(found(over_examples, x))

    def same_x() -> bool:
        x = batch.clone()
        attempt(_Mixing(plain), x)
        return not x.requires_grad and torch.equal(x, batch)

    def evaluates() -> bool:
        try:
            return not found(nn.BatchNorm1d(2))
        except ValueError:  # in training mode it refuses a batch of one
            return False

    def used() -> Any:
        net = _Mixing(plain)
        net.weight.grad = torch.ones(3, 2)
        attempt(net, batch.clone())
        return net

    return attempt_or_solution(
        "examples_mix", attempt, examples_mix,
        (has_gradient,
         "A gradient that you look at is None. Let x require a gradient before you call net(x), with "
         "x = x.clone().requires_grad_(), and compute the gradient of a logit before you look at it."),
        (one_logit, "You differentiate several numbers at once. Choose one logit of example 0: net(x)[0, 0]."),
        (lambda: found() is not None, "Your function returns None. Is there a `return`?"),
        (lambda: not isinstance(found(), torch.Tensor) or found().numel() == 1,
         "You return a tensor of several values. Return one True or False: .any() tells whether any value is nonzero."),
        (same_x,
         "Your function changes the x that it receives: its numbers, or whether it requires a gradient. Work on a "
         "copy, x.clone()."),
        (lambda: not found() or bool(found(over_examples)) or bool(found(with_sum)),
         "The answers are the wrong way round: return True if example 0 depends on another example."),
        (lambda: not found() or bool(found(without_first)),
         "Your function returns True if a logit of example 0 depends on example 0 itself. Leave row 0 out: look at the "
         "rows from 1 on."),
        (lambda: not found(),
         "This network treats each example alone, but your function returns True. Differentiate a logit of example 0 "
         "only: a sum over the batch depends on every example."),
        (lambda: not found(lambda logits: logits * (1 + 4e-7 * (len(logits) == 1))),
         "A batch of another size may change the last digits of a logit, because the sums are added in another order. "
         "That is no dependence: compare with torch.allclose, or use the gradient."),
        (lambda: not found(with_sum) or bool(found(lambda logits: logits - logits.sum(0))),
         "Your function finds positive gradients of other examples, but misses negative ones. Both count: ask for any "
         "nonzero number."),
        (lambda: bool(found(over_examples)),
         "With a softmax over the examples (dim=0), each logit depends on every example, but your function returns "
         "False."),
        (lambda: all(one_other(step) for step in (1, 2, 3)),
         "Here example 0 depends on one of the other examples only, and your function misses it. Look at all of them, "
         "and ask whether `any` number in their rows is nonzero."),
        (lambda: bool(found(lambda logits: logits + logits.roll(1, 0) - logits.roll(2, 0))),
         "Here example 0 depends on two others with opposite signs, and your function lets them cancel. Do not add up: "
         "ask whether `any` single number is nonzero."),
        (images, "It is right for x of shape (4, 3), but not for images of shape (4, 1, 3, 1)."),
        (evaluates,
         "This network has batch normalization, which mixes the examples in training mode only. The network arrives in "
         "training mode, as every new network does: call net.eval() before you compute the logits."),
        (lambda: used().weight.requires_grad, "After your function, the network's parameters require no gradient."),
        (lambda: used().weight.grad is not None and used().weight.grad.any(),
         "Your function erases the gradients that were there before, for example with zero_grad(). "
         "torch.autograd.grad leaves every .grad alone."),
        (lambda: torch.equal(used().weight.grad, torch.ones(3, 2)),
         "Your function leaves gradients behind: backward() adds to the .grad of every parameter. Use "
         "torch.autograd.grad(logit, x), which leaves every .grad alone."),
    )  # fmt: skip


def check_running_center(attempt: Any) -> Any:
    """A layer that subtracts the mean: of the batch in training, a running mean in use."""

    def after(times: int) -> Any:
        layer = attempt(3)
        for _ in range(times):
            layer(PROBE.clone())
        return layer

    def used() -> tuple[torch.Tensor, Any]:
        layer = after(1).eval()
        return layer(PROBE.clone()), layer

    def recorded() -> bool:
        layer = attempt(3)
        layer(PROBE.clone().requires_grad_())
        return bool(layer.center.requires_grad)

    def gradient() -> torch.Tensor:
        x = PROBE.clone().requires_grad_()
        attempt(3)(x)[0].sum().backward()
        assert x.grad is not None
        return x.grad

    return attempt_or_solution(
        "RunningCenter", attempt, RunningCenter,
        (lambda: _started(attempt, 3), "Call super().__init__() in the first line of __init__."),
        (lambda: "center" not in dict(attempt(3).named_parameters()),
         "`center` is a parameter, so an optimizer would move it. Make it a buffer."),
        (lambda: "center" in attempt(3).state_dict(),
         "`center` is not in state_dict(), so it would not be saved: register it as a buffer."),
        (lambda: torch.equal(attempt(3).center, torch.zeros(3)), "`center` should start as zeros, one per column."),
        (lambda: attempt(3)(PROBE.clone()) is not None, "forward returns None: is there a `return` in both modes?"),
        (lambda: not torch.allclose(attempt(3)(PROBE.clone()), PROBE - PROBE.mean(dim=1, keepdim=True)),
         "You subtract the mean of each row. The mean of each column is x.mean(dim=0)."),
        (lambda: not torch.allclose(attempt(3)(PROBE.clone()), PROBE - PROBE.mean()),
         "You subtract one mean of all numbers. Each column has its own: x.mean(dim=0)."),
        (lambda: torch.allclose(attempt(3)(PROBE.clone()), PROBE - MEANS),
         "In training, subtract the mean of the batch, and not the running center."),
        (lambda: not torch.equal(after(1).center, torch.zeros(3)), "A call in training should move `center`."),
        (lambda: torch.allclose(after(1).center, 0.1 * MEANS),
         "After one batch, center should be 0.1 * mean: the old center keeps the weight 0.9."),
        (lambda: torch.allclose(after(2).center, 0.19 * MEANS),
         "After two batches of the same mean, center should be 0.19 * mean."),
        (lambda: used()[0] is not None, "In eval mode forward returns None: is there a `return` in both modes?"),
        (lambda: not torch.allclose(used()[0], PROBE - MEANS),
         "In eval mode you still subtract the mean of the batch: look at self.training."),
        (lambda: torch.allclose(used()[1].center, 0.1 * MEANS), "In eval mode `center` must stay as it is."),
        (lambda: torch.allclose(used()[0], PROBE - 0.1 * MEANS), "In eval mode, subtract `center`."),
        (lambda: not recorded(),
         "`center` requires a gradient: it holds on to the graph of every batch. Use mean.detach() in its update."),
        (lambda: attempt(3)(PROBE.clone().requires_grad_()).requires_grad,
         "The result is cut off from the graph, so no gradient reaches x. Only the update of center should be "
         "unrecorded: use mean.detach() there."),
        (lambda: torch.allclose(gradient().sum(dim=0), torch.zeros(3), atol=1e-6),
         "The gradient should also flow through the mean that you subtract: detach it in the update of center only."),
        (lambda: "center" in dict(after(1).named_buffers()) and after(1).double().center.dtype is torch.float64,
         "After a call `center` is no longer a buffer of the module."),
    )  # fmt: skip


def _started(attempt: Any, *sizes: int) -> bool:
    """Whether an instance can be made; False if `super().__init__()` was not called first."""
    try:
        attempt(*sizes)
    except AttributeError as error:
        if "__init__() call" in str(error):
            return False
        raise
    return True


def _rows_sum_to_one(x: torch.Tensor) -> bool:
    return torch.allclose(x.sum(dim=1), torch.ones(len(x)), atol=1e-4)
