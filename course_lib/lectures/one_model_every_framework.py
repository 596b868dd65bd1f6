"""The exercises of lecture 16, one training step in four frameworks, and faulty ports for the reader to diagnose.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations, and with
`np`, `tf`, `jax`, `jnp`, `keras` and `nn` as names of the module. The frameworks are imported when a check first needs
them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import logging
import warnings
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib import parity
from course_lib.data import load_digits
from course_lib.exercises import attempt_or_solution
from course_lib.lectures.framework_costs import Log, Task, Version, version

__all__ = [
    "PORTS",
    "Comparison",
    "check_copy_weights",
    "check_first_difference",
    "check_first_wrong_value",
    "check_jax_step",
    "check_make_keras_net",
    "check_numpy_step",
    "check_tensorflow_step",
    "check_torch_step",
    "make_task",
    "quiet_trainer",
    "record",
    "train_port",
]

tf: Any = None
jax: Any = None
jnp: Any = None
keras: Any = None
nn: Any = None
torch: Any = None
F: Any = None
"""set by the first check that needs them"""

Step = Callable[..., Any]
Arrays = dict[str, np.ndarray]


def _load(**modules: str) -> None:
    """Import `modules` (name here -> full name) as globals of this module."""
    for name, full in modules.items():
        globals()[name] = importlib.import_module(full)


# The six versions


def make_task(seed: int) -> Task:
    """The 8x8 digits in an order of their own, and starting weights for 64-32-10, both drawn with `seed`; float64."""
    x_train, y_train, x_test, y_test = load_digits()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x_train))
    start = {
        "0.kernel": rng.standard_normal((64, 32)) * np.sqrt(2 / 64),
        "0.bias": 0.1 * rng.standard_normal(32),
        "1.kernel": rng.standard_normal((32, 10)) * np.sqrt(2 / 32),
        "1.bias": 0.1 * rng.standard_normal(10),
    }
    task = Task(x_train[order].reshape(-1, 64), y_train[order], x_test.reshape(-1, 64), y_test, start)
    return task.cast("float64")


def quiet_trainer(epochs: int) -> Any:
    """A Lightning `Trainer` on the CPU that prints nothing and writes no files."""
    import lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    silent: dict[str, Any] = dict.fromkeys(
        ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False
    )
    return lightning.Trainer(max_epochs=epochs, accelerator="cpu", **silent)


_TORCH = """
import torch
import torch.nn.functional as F
from torch import nn
from course_lib import parity"""
_IMPORTS = {
    "NumPy": "import numpy as np",
    "PyTorch": _TORCH,
    "Lightning": """
import lightning
from torch.utils.data import DataLoader
from course_lib.lectures import one_model_every_framework"""
    + _TORCH,
    "TensorFlow": "import tensorflow as tf\nfrom course_lib import parity",
    "Keras": "import keras\nfrom course_lib import parity",
    "JAX": """
import jax
import jax.numpy as jnp
import numpy as np
from course_lib import parity
jax.config.update("jax_enable_x64", True)""",
}
"""what each version imports in a process of its own"""


class Comparison:
    """Versions of one training, and what each gave: losses, final weights and test accuracy. NumPy runs first."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.versions: dict[str, Version] = {}
        self.losses: dict[str, dict[str, np.ndarray]] = {"float64": {}, "float32": {}}
        """dtype -> name -> `(steps,)`"""
        self.weights: dict[tuple[str, str], Mapping[str, np.ndarray]] = {}
        """(name, dtype) -> the final parameters"""
        self.accuracy: dict[tuple[str, str], float] = {}
        """(name, dtype) -> the share of test images that are classified correctly"""

    def run(self, name: str, train: Callable[[Task, Any], Arrays], *parts: object) -> None:
        """Keep the version `train`, which calls `parts`, train it in float64 and print what came out."""
        self.versions[name] = version(train, *_with_helpers(parts), imports=_IMPORTS[name])
        self.repeat(name, "float64")
        losses = self.losses["float64"]
        difference = np.abs(losses[name] - losses["NumPy"]).max()
        print(
            f"{name:10} loss {losses[name][0]:.4f} to {losses[name][-1]:.4f}, accuracy "
            f"{self.accuracy[name, 'float64']:.1%}, largest difference from NumPy's losses {difference:.1e}"
        )

    def repeat(self, name: str, dtype: str) -> None:
        """Train the version `name` in `dtype`, and keep what came out."""
        log = Log()
        params = self.versions[name].train(self.task.cast(dtype), log)
        logits = forward_numpy(params, self.task.x_test)[1]
        self.losses[dtype][name] = np.array(log, dtype)
        self.weights[name, dtype] = params
        self.accuracy[name, dtype] = float((logits.argmax(axis=1) == self.task.y_test).mean())


def _with_helpers(parts: tuple[object, ...]) -> list[object]:
    """The `parts` of a version, after the functions of the reader's own that they call besides."""
    found = list(parts)
    names = {getattr(part, "__name__", "") for part in parts}
    for part in filter(inspect.isfunction, found):  # the list grows meanwhile
        for name in part.__code__.co_names:
            helper = part.__globals__.get(name)
            if inspect.isfunction(helper) and helper.__globals__ is part.__globals__ and name not in names:
                names.add(name)
                found.append(helper)
    return found[len(parts) :] + list(parts)


# numpy_step


def cross_entropy(logits, y):
    """The mean loss of a batch, and its gradient with respect to the logits."""
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    right = np.arange(len(y)), y
    grad_logits = np.exp(log_p)
    grad_logits[right] -= 1
    return -log_p[right].mean(), grad_logits / len(y)


def forward_numpy(params, x):
    """Hidden activations `(n, hidden)` and logits `(n, 10)`."""
    hidden = np.maximum(x @ params["0.kernel"] + params["0.bias"], 0)
    return hidden, hidden @ params["1.kernel"] + params["1.bias"]


def numpy_step(params, velocity, x, y, lr, momentum):
    """One step of SGD with momentum. Puts new arrays into both dictionaries; returns the loss.

    x: (n, 64)   y: (n,) class numbers
    """
    hidden, logits = forward_numpy(params, x)
    loss, grad_logits = cross_entropy(logits, y)
    grad_hidden = (grad_logits @ params["1.kernel"].T) * (hidden > 0)
    grads = {
        "0.kernel": x.T @ grad_hidden,
        "0.bias": grad_hidden.sum(axis=0),
        "1.kernel": hidden.T @ grad_logits,
        "1.bias": grad_logits.sum(axis=0),
    }
    for name, grad in grads.items():
        velocity[name] = momentum * velocity[name] + grad
        params[name] = params[name] - lr * velocity[name]
    return loss


def check_numpy_step(attempt: Step) -> Step:
    """`numpy_step(params, velocity, x, y, lr, momentum) -> loss`, changing both dictionaries of NumPy arrays."""

    @functools.cache
    def seen(**settings: Any) -> SimpleNamespace:
        params, velocity, x, y = _small_problem()
        return _watched(attempt, params, velocity, x, y, **settings)

    return attempt_or_solution("numpy_step", attempt, numpy_step, *_step_tests(seen, by_hand=True))


def _small_problem() -> tuple[Arrays, Arrays, np.ndarray, np.ndarray]:
    """A network 6-5-4 with weights that are not 0, velocities that are 0, and a batch of 7."""
    rng = np.random.default_rng(4)
    shapes = {"0.kernel": (6, 5), "0.bias": (5,), "1.kernel": (5, 4), "1.bias": (4,)}
    params = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    velocity = {name: np.zeros(shape) for name, shape in shapes.items()}
    return params, velocity, rng.standard_normal((7, 6)), rng.integers(0, 4, 7)


def _gradients(params: Mapping[str, Any], x: np.ndarray, y: np.ndarray, *, mask: bool = True) -> tuple[float, Arrays]:
    """Loss and gradients, by hand; without `mask`, those of somebody who forgot the local gradient of ReLU."""
    hidden, logits = forward_numpy(params, x)
    loss, grad_logits = cross_entropy(logits, y)
    grad_hidden = (grad_logits @ params["1.kernel"].T) * ((hidden > 0) if mask else 1)
    return float(loss), {
        "0.kernel": x.T @ grad_hidden,
        "0.bias": grad_hidden.sum(axis=0),
        "1.kernel": hidden.T @ grad_logits,
        "1.bias": grad_logits.sum(axis=0),
    }


def _watched(
    step: Step,
    params: Any,
    velocity: Any,
    x: Any,
    y: Any,
    *,
    lr: float = 0.25,
    momentum: float = 0.5,
    steps: int = 1,
    read: Callable[[Any], np.ndarray] = np.asarray,
) -> SimpleNamespace:
    """What `steps` calls did to dictionaries that the step changes, beside what they should have done."""
    before = {name: read(value).copy() for name, value in params.items()}
    wanted, kept = dict(before), {name: np.zeros_like(value) for name, value in before.items()}
    losses, right_losses, unmasked = [], [], {}
    for _ in range(steps):
        losses.append(step(params, velocity, x, y, lr, momentum))
        loss, grads = _gradients(wanted, np.asarray(x), np.asarray(y))
        right_losses.append(loss)
        unmasked = _gradients(wanted, np.asarray(x), np.asarray(y), mask=False)[1]
        kept = {name: momentum * kept[name] + grads[name] for name in grads}
        wanted = {name: wanted[name] - lr * kept[name] for name in grads}
    return SimpleNamespace(
        before=before,
        params=params,
        velocity=velocity,
        wanted=wanted,
        kept=kept,
        losses=losses,
        right_losses=right_losses,
        unmasked=unmasked,
        n=len(y),
        read=read,
        lr=lr,
    )


def _near(one: Any, other: Any, rtol: float = 1e-6) -> bool:
    one, other = np.asarray(one, float), np.asarray(other, float)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=rtol, atol=1e-9))


def _moved(seen: SimpleNamespace, name: str) -> np.ndarray:
    """The gradient that the first step must have used: the way that the parameter went, divided by the rate."""
    return np.asarray((seen.before[name] - np.asarray(seen.read(seen.params[name]))) / seen.lr)


def _right_gradients(seen: SimpleNamespace) -> bool:
    return all(_near(_moved(seen, name), seen.kept[name]) for name in seen.kept)


def _as_wanted(seen: SimpleNamespace) -> bool:
    return all(_near(seen.read(seen.params[name]), seen.wanted[name]) for name in seen.wanted)


def _step_tests(
    seen: Callable[..., SimpleNamespace], *, by_hand: bool = False, pure: bool = False, variables: bool = False
) -> list[tuple[Callable[[], object], str]]:
    """What a step must do that changes two dictionaries, in the order in which mistakes hide one another."""
    keep_both, keep_velocity = "put both into their dictionaries.", "Put the new velocity into the dictionary."
    if pure:
        keep_both, keep_velocity = "return both.", "Return the new velocity."
    if variables:
        keep_both, keep_velocity = "`assign` both to their Variables.", "`assign` the new velocity to its Variable."

    def same_shapes() -> bool:
        found = seen()
        return all(found.read(found.params[name]).shape == found.before[name].shape for name in found.before)

    def still_there() -> bool:
        found = seen()
        return set(found.params) == set(found.before) == set(found.velocity)

    by_autograd = (
        lambda: _right_gradients(seen()),
        "After the first step each parameter should have moved by `lr` times the gradient of the mean loss at the old "
        "parameters.",
    )
    gradient_tests: list[tuple[Callable[[], object], str]] = [by_autograd]
    if by_hand:
        gradient_tests = [
            (
                lambda: all(_near(_moved(seen(), name), seen().kept[name]) for name in ("1.kernel", "1.bias")),
                "The update of the second layer is wrong. Its gradients are those of a matrix product and of a sum, "
                "with the gradient of the logits arriving from above.",
            ),
            (
                lambda: not all(_near(_moved(seen(), name), seen().unmasked[name]) for name in ("0.kernel", "0.bias")),
                "The gradient of the first layer lacks the local gradient of ReLU: it is 0 where the hidden activation "
                "is 0.",
            ),
            (
                lambda: _right_gradients(seen()),
                "The second layer is right, the update of the first is not. Its upstream gradient is that of the "
                "logits times the second kernel *before* the update, times the local gradient of ReLU. The bias sums "
                "it over the batch (axis 0).",
            ),
        ]
    return [
        (lambda: seen().losses[0] is not None, "The function returns nothing: return the loss."),
        (
            lambda: np.size(seen().losses[0]) == 1,
            "The loss should be one number, the mean over the batch. You return one for each example, or several "
            "values.",
        ),
        (
            lambda: not _near(float(seen().losses[0]), seen().n * seen().right_losses[0]),
            "The loss is the sum over the batch. Take the mean.",
        ),
        (
            lambda: _near(float(seen().losses[0]), seen().right_losses[0]),
            "The loss is not the mean cross-entropy of the batch at the weights before the update.",
        ),
        (still_there, "Both dictionaries should have the same four names before and after the step."),
        (
            lambda: any(np.any(_moved(seen(), name) != 0) for name in seen().before),
            "No parameter has changed. Compute the new velocity first, and with it the parameter; "
            + keep_both,
        ),
        (same_shapes, "A parameter has changed its shape. Compare the shape of each gradient with its parameter."),
        (
            lambda: all(np.any(_moved(seen(), name) != 0) for name in seen().before),
            "Some parameters never change. All four need a gradient and an update, the biases too.",
        ),
        (
            lambda: not all(_near(-_moved(seen(), name), seen().kept[name]) for name in seen().kept),
            "The parameters move uphill: subtract the step.",
        ),
        (
            lambda: not all(_near(_moved(seen(), name), seen().n * seen().kept[name]) for name in seen().kept),
            "Every gradient is as many times too large as there are examples in the batch: "
            + (
                "it is that of the sum of the losses. Take the mean inside the tape, and give it to `tape.gradient`."
                if variables
                else "somewhere a sum stands for a mean."
            ),
        ),
        (
            lambda: not all(_near(_moved(seen(), name), seen().kept[name] / seen().n) for name in seen().kept),
            "Every gradient is too small by a factor of the batch size: the gradient of a mean is divided by it once. "
            "(`cross_entropy` has done so already.)"
            if by_hand
            else "Every gradient is too small by a factor of the batch size: the mean is taken twice.",
        ),
        (
            lambda: not all(_near(_moved(seen(), name), 0.5 * seen().kept[name]) for name in seen().kept),
            "With momentum 0.5 the first step is half as long as it should be. The gradient enters the velocity "
            "whole: v = momentum * v + grad.",
        ),
        (
            lambda: not all(_near(_moved(seen(), name), seen().kept[name] / seen().lr) for name in seen().kept),
            "The learning rate is missing: the parameters move by `lr` times the velocity.",
        ),
        (
            lambda: not all(_near(_moved(seen(), name), seen().kept[name] * seen().lr) for name in seen().kept),
            "The learning rate is multiplied in twice.",
        ),
        *gradient_tests,
        (
            lambda: any(np.any(np.asarray(seen().read(value)) != 0) for value in seen().velocity.values()),
            "After one step all velocities are still 0, so momentum has no effect. "
            + keep_velocity,
        ),
        (
            lambda: not all(
                _near(np.abs(seen().read(value)), np.abs(seen().lr * seen().kept[name]))
                for name, value in seen().velocity.items()
            ),
            "The velocity contains the learning rate. Here it holds gradients only; the rate multiplies it when the "
            "parameters move.",
        ),
        (
            lambda: all(_near(seen().read(value), seen().kept[name]) for name, value in seen().velocity.items()),
            "After the first step, the velocity should be the gradient.",
        ),
        (
            lambda: _as_wanted(seen(steps=3)),
            "The first step is right, later ones are not: v = momentum * v + grad, then params - lr * v, with the new "
            "velocity.",
        ),
        (
            lambda: _as_wanted(seen(steps=2, lr=0.125, momentum=0.75)),
            "With another learning rate or momentum the steps are wrong. Use the arguments `lr` and `momentum`.",
        ),
    ]  # fmt: skip


# copy_weights


def copy_weights(source, target):
    """Copy every Linear and Conv2d layer of a torch Sequential into the Dense and Conv2D layers of a Keras one."""
    layers = [layer for layer in target.layers if layer.weights]
    modules = [module for module in source if isinstance(module, (nn.Linear, nn.Conv2d))]
    for module, layer in zip(modules, layers, strict=True):
        weight = module.weight.detach().numpy()
        axes = (1, 0) if weight.ndim == 2 else (2, 3, 1, 0)
        layer.kernel.assign(weight.transpose(axes))
        layer.bias.assign(module.bias.detach().numpy())


def check_copy_weights(attempt: Step) -> Step:
    """`copy_weights(source, target)`: from a torch `Sequential` to a Keras `Sequential`, layer by layer."""
    _load(nn="torch.nn")

    @functools.cache
    def copied(*kinds: tuple[Any, ...]) -> SimpleNamespace:
        return _copied(attempt, *kinds)

    square = ("linear", 4, 4)

    def kernel_changed() -> bool:
        found = copied(square)
        return bool(np.any(found.kernels[0] != found.untouched))

    def deep_network() -> bool:
        found = copied(("conv", 1, 3, 2), ("relu",), ("conv", 3, 2, 2), ("mean",), ("linear", 2, 4))
        pairs = [*zip(found.kernels, found.expected, strict=True), *zip(found.biases, found.torch_biases, strict=True)]
        return all(np.allclose(one, other) for one, other in pairs)

    return attempt_or_solution(
        "copy_weights",
        attempt,
        copy_weights,
        (
            kernel_changed,
            "The Keras kernel has not changed: call `assign` on `layer.kernel`.",
        ),
        (
            lambda: not np.allclose(copied(square).kernels[0], copied(square).weights[0]),
            "A square matrix was copied without transposing it. No shape can warn you there: torch keeps (out, in), "
            "Keras (in, out).",
        ),
        (
            lambda: np.allclose(copied(square).kernels[0], copied(square).weights[0].T),
            "The kernel of a Dense layer should be the weight of the Linear layer, transposed.",
        ),
        (
            lambda: np.allclose(copied(square).biases[0], copied(square).torch_biases[0]),
            "The bias was not copied.",
        ),
        (
            lambda: np.allclose(copied(("linear", 3, 5)).kernels[0], copied(("linear", 3, 5)).weights[0].T),
            "A Linear layer from 3 to 5 does not arrive.",
        ),
        (
            lambda: _reordered(copied) is not None,
            "The kernel of a Conv2D layer does not hold the numbers of the torch weight in any order of its axes. Does "
            "your code reach this layer, and does it transpose the weight rather than reshape it?",
        ),
        (lambda: _reordered(copied) != (3, 2, 1, 0), _AXES + "You exchange height and width."),
        (lambda: _reordered(copied) != (2, 3, 0, 1), _AXES + "You exchange input and output channels."),
        (
            lambda: _reordered(copied) not in ((0, 1, 2, 3), (1, 0, 2, 3)),
            _AXES + "You leave height and width where torch has them, at the end.",
        ),
        (
            lambda: _reordered(copied) != (3, 2, 0, 1),
            _AXES + "You give `transpose` the axes for the way back, from Keras to torch. Its first number says which "
            "axis of torch's weight becomes axis 0.",
        ),
        (
            lambda: _reordered(copied) == (2, 3, 1, 0),
            _AXES + "The first number in `transpose` says which axis of torch's weight becomes axis 0, and so on.",
        ),
        (
            deep_network,
            "Each layer alone is copied, but a network of several is not. Pair the layers that have weights, in "
            "order, and leave out those without, such as ReLU.",
        ),
        (lambda: copied(square).source_unchanged, "The torch network has changed: copy *from* it only."),
    )  # fmt: skip


_AXES = (
    "A convolution's kernel is in the wrong order. torch has (out, in, height, width), Keras (height, width, in, out). "
)


def _copied(copy: Step, *kinds: tuple[Any, ...]) -> SimpleNamespace:
    """A torch and a Keras network of the same layers, after `copy` of the first into the second."""
    import keras
    import torch

    torch.manual_seed(len(kinds))
    modules: list[Any] = []
    layers: list[Any] = [keras.Input((8, 8, kinds[0][1]) if kinds[0][0] == "conv" else (kinds[0][1],))]
    for kind, *sizes in kinds:
        if kind == "linear":
            modules.append(torch.nn.Linear(*sizes))
            layers.append(keras.layers.Dense(sizes[1]))
        elif kind == "conv":
            modules.append(torch.nn.Conv2d(*sizes))
            layers.append(keras.layers.Conv2D(*sizes[1:]))
        elif kind == "relu":
            modules.append(torch.nn.ReLU())
            layers.append(keras.layers.ReLU())
        else:
            modules += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
            layers.append(keras.layers.GlobalAveragePooling2D())
    source, target = torch.nn.Sequential(*modules), keras.Sequential(layers)
    before = {name: value.clone() for name, value in source.state_dict().items()}
    untouched = np.array(next(layer for layer in target.layers if layer.weights).kernel)
    copy(source, target)
    found = [layer for layer in target.layers if layer.weights]
    owners: list[Any] = [module for module in source if hasattr(module, "weight")]
    weights = [module.weight.detach().numpy().copy() for module in owners]
    return SimpleNamespace(
        untouched=untouched,
        kernels=[np.array(layer.kernel) for layer in found],
        biases=[np.array(layer.bias) for layer in found],
        weights=weights,
        expected=[weight.transpose((1, 0) if weight.ndim == 2 else (2, 3, 1, 0)) for weight in weights],
        torch_biases=[module.bias.detach().numpy() for module in owners],
        source_unchanged=all(torch.equal(value, before[name]) for name, value in source.state_dict().items()),
    )


def _reordered(copied: Callable[..., SimpleNamespace]) -> tuple[int, ...] | None:
    """The axes that the attempt took of a convolution's weight with three equal sizes; None if it is no order."""
    found = copied(("conv", 3, 3, 3))
    orders = [(2, 3, 1, 0), *itertools.permutations(range(4))]
    return next((axes for axes in orders if np.allclose(found.kernels[0], found.weights[0].transpose(axes))), None)


# torch_step


def torch_step(net, optimizer, x, y):
    """One step of `optimizer` on a batch of torch tensors. Returns the loss as a Python number."""
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def check_torch_step(attempt: Step) -> Step:
    """`torch_step(net, optimizer, x, y) -> loss`, a step of the optimizer on the mean cross-entropy of the batch."""
    _load(torch="torch", F="torch.nn.functional", nn="torch.nn")

    @functools.cache
    def seen(steps: int = 1, kind: str = "SGD", lr: float = 0.25) -> SimpleNamespace:
        """What the attempt and our own loops did to networks with the same weights."""
        draw = torch.Generator().manual_seed(1)
        batches = [(torch.randn(7, 6, generator=draw), torch.randint(4, (7,), generator=draw)) for _ in range(steps)]

        def trained(step: Step) -> tuple[list[Any], list[Any], Any]:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
            options = {"momentum": 0.5} if kind == "SGD" else {}
            optimizer = getattr(torch.optim, kind)(net.parameters(), lr=lr, **options)
            before = [value.detach().clone() for value in net.parameters()]
            losses = [step(net, optimizer, x, y) for x, y in batches]
            return losses, before, [value.detach().clone() for value in net.parameters()]

        def accumulating(net: Any, optimizer: Any, x: Any, y: Any) -> Any:
            F.cross_entropy(net(x), y).backward()
            optimizer.step()

        def of_sums(net: Any, optimizer: Any, x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y, reduction="sum").backward()
            optimizer.step()

        def softmax_twice(net: Any, optimizer: Any, x: Any, y: Any) -> Any:
            return F.cross_entropy(net(x).softmax(dim=1), y).item()

        losses, before, found = trained(attempt)
        right_losses, _, wanted = trained(torch_step)
        return SimpleNamespace(
            losses=losses,
            before=before,
            found=found,
            right_losses=right_losses,
            wanted=wanted,
            accumulated=trained(accumulating)[2],
            summed=trained(of_sums)[2],
            twice=trained(softmax_twice)[0],
        )

    def same(one: list[Any], other: list[Any]) -> bool:
        return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))

    def loss() -> Any:
        return seen().losses[0]

    return attempt_or_solution(
        "torch_step", attempt, torch_step,
        (lambda: loss() is not None, "The function returns nothing: return the loss."),
        (lambda: loss().numel() == 1 if isinstance(loss(), torch.Tensor) else np.size(loss()) == 1,
         "The loss should be one number, the mean over the batch."),
        (lambda: not isinstance(loss(), torch.Tensor),
         "You return a tensor. `loss.item()` is a Python number, and does not keep the graph of the step in memory."),
        (lambda: not _near(loss(), 7 * seen().right_losses[0], 1e-4),
         "The loss is the sum over the batch. Take the mean."),
        (lambda: not _near(loss(), seen().twice[0], 1e-4),
         "You take the softmax twice: `F.cross_entropy` takes it, too. Give it the logits."),
        (lambda: _near(loss(), seen().right_losses[0], 1e-4),
         "The loss is not the mean cross-entropy of the batch at the weights before the update."),
        (lambda: not same(seen().found, seen().before),
         "No parameter has changed. `backward` fills the gradients, `step` uses them, and `zero_grad` in between would "
         "clear them: zero_grad, backward, step."),
        (lambda: not same(seen().found, seen().summed),
         "Every gradient is 7 times too large for a batch of 7: somewhere a sum stands for a mean."),
        (lambda: same(seen().found, seen().wanted),
         "After one step the parameters are wrong. Call `backward` once and `step` once, and let the optimizer do the "
         "update."),
        (lambda: not same(seen(steps=3).found, seen(steps=3).accumulated),
         "The first step is right, but later ones add their gradients to the old ones in `.grad`. Call "
         "`optimizer.zero_grad()` in every step."),
        (lambda: same(seen(steps=3).found, seen(steps=3).wanted), "The first step is right, later ones are not. "
         "Does your function make an optimizer of its own? Use the argument, which keeps the velocity between calls."),
        (lambda: same(seen(steps=2, kind="Adam", lr=0.05).found, seen(steps=2, kind="Adam", lr=0.05).wanted),
         "With Adam as the optimizer the steps are wrong. Let the argument `optimizer` make the update."),
    )  # fmt: skip


# tensorflow_step


def forward_tensorflow(params, x):
    """Logits, (n, 10)."""
    hidden = tf.nn.relu(x @ params["0.kernel"] + params["0.bias"])
    return hidden @ params["1.kernel"] + params["1.bias"]


def tensorflow_step(params, velocity, x, y, lr, momentum):
    """One step of SGD with momentum. Assigns to the Variables in both dictionaries; returns the loss."""
    with tf.GradientTape() as tape:
        logits = forward_tensorflow(params, x)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, params)
    for name, grad in grads.items():
        velocity[name].assign(momentum * velocity[name] + grad)
        params[name].assign_sub(lr * velocity[name])
    return loss


def check_tensorflow_step(attempt: Step) -> Step:
    """`tensorflow_step(params, velocity, x, y, lr, momentum) -> loss`, changing dictionaries of `tf.Variable`s."""
    _load(tf="tensorflow")

    @functools.cache
    def seen(*, graph: bool = False, **settings: Any) -> SimpleNamespace:
        params, velocity, x, y = _small_problem()
        variables, velocities = ({name: tf.Variable(v) for name, v in arrays.items()} for arrays in (params, velocity))
        step = tf.function(attempt, autograph=False) if graph else attempt
        return _watched(step, variables, velocities, x, y, read=lambda value: np.asarray(value), **settings)

    def variables_stay() -> bool:
        found = seen()
        return all(isinstance(v, tf.Variable) for v in [*found.params.values(), *found.velocity.values()])

    def right_in_a_graph() -> bool:
        try:
            found = seen(graph=True, steps=3)
        except (AttributeError, TypeError, NotImplementedError):  # `.numpy()`, NumPy functions
            return False
        return _as_wanted(found)

    def raises(sign: str, *kinds: type[Exception]) -> bool:
        """Whether the step ends in an error of one of `kinds` that says `sign`; others are for the checks after it."""
        try:
            seen()
        except Exception as error:
            return isinstance(error, kinds) and sign in str(error)
        return False

    def loss_of_probabilities() -> float:
        """What the loss is if the logits pass through a softmax of their own first."""
        params, _, x, y = _small_problem()
        odds = np.exp(forward_numpy(params, x)[1])
        return float(cross_entropy(odds / odds.sum(axis=1, keepdims=True), y)[0])

    kinds = (
        variables_stay,
        "A dictionary holds a tensor where a Variable was. Change the Variable itself: `assign` or `assign_sub`.",
    )
    return attempt_or_solution(
        "tensorflow_step",
        attempt,
        tensorflow_step,
        (
            lambda: not raises("'_id'", AttributeError),
            "The tape cannot follow the loss back to the Variables, because it is not a TensorFlow tensor. Compute it "
            "with TensorFlow's functions only, the mean with `tf.reduce_mean`.",
        ),
        (
            lambda: not raises("NoneType", TypeError, ValueError),
            "A gradient is None: the tape has not seen how the loss depends on the Variables. Forward pass and loss, "
            "`tf.reduce_mean` included, belong inside `with tf.GradientTape() as tape:`.",
        ),
        *_step_tests(seen)[:3],
        (
            lambda: not _near(float(seen().losses[0]), loss_of_probabilities()),
            "You take the softmax twice: the function whose name ends in `_with_logits` takes it, too. Give it the "
            "logits.",
        ),
        _step_tests(seen)[3],
        kinds,
        *_step_tests(seen, variables=True)[4:],
        (
            right_in_a_graph,
            "The step is right when it runs eagerly, but not inside `tf.function`. Is there a call of `.numpy()` or "
            "`float`, or a NumPy function?",
        ),
    )


# jax_step


def forward_jax(params, x):
    """Logits, (n, 10)."""
    hidden = jax.nn.relu(x @ params["0.kernel"] + params["0.bias"])
    return hidden @ params["1.kernel"] + params["1.bias"]


def jax_loss(params, x, y):
    """Mean cross-entropy of a batch, a number."""
    log_p = jax.nn.log_softmax(forward_jax(params, x))
    return -log_p[jnp.arange(len(y)), y].mean()


def jax_step(params, velocity, x, y, lr, momentum):
    """One step of SGD with momentum. Returns the loss, the new parameters and the new velocity."""
    loss, grads = jax.value_and_grad(jax_loss)(params, x, y)
    velocity = {name: momentum * velocity[name] + grads[name] for name in params}
    params = {name: params[name] - lr * velocity[name] for name in params}
    return loss, params, velocity


def check_jax_step(attempt: Step) -> Step:
    """`jax_step(params, velocity, x, y, lr, momentum) -> loss, params, velocity`; `jax_loss` is given."""
    _load(jax="jax", jnp="jax.numpy")

    def problem() -> tuple[Any, ...]:
        params, velocity, x, y = _small_problem()
        arrays = [{name: jnp.asarray(value) for name, value in part.items()} for part in (params, velocity)]
        return (*arrays, jnp.asarray(x), jnp.asarray(y))

    @functools.cache
    def result() -> Any:
        with jax.enable_x64(True):
            return attempt(*problem(), 0.25, 0.5)

    def pure() -> bool:
        with jax.enable_x64(True):
            params, velocity, x, y = problem()
            kept = dict(params), dict(velocity)
            attempt(params, velocity, x, y, 0.25, 0.5)
        return all(params[n] is kept[0][n] and velocity[n] is kept[1][n] for n in kept[0]) and len(params) == 4

    @functools.cache
    def seen(**settings: Any) -> SimpleNamespace:
        """As if the step changed dictionaries: what it returns is put back."""

        def step(params: Any, velocity: Any, *rest: Any) -> Any:
            value, new_params, new_velocity = attempt(dict(params), dict(velocity), *rest)
            params.update(new_params)
            velocity.update(new_velocity)
            return value

        with jax.enable_x64(True):
            return _watched(step, *problem(), **settings)

    def right_when_compiled() -> bool:
        with jax.enable_x64(True):
            params, velocity, x, y = problem()
            step = jax.jit(attempt)
            try:
                for _ in range(2):
                    _, params, velocity = step(params, velocity, x, y, 0.25, 0.5)
            except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):
                return False
            wanted = seen(steps=2).wanted
        return all(_near(params[name], wanted[name]) for name in wanted)

    def structure() -> bool:
        found = result()
        return isinstance(found, tuple | list) and len(found) == 3 and np.size(found[0]) == 1

    order = "Return three things in this order: loss, params, velocity. The last two are dictionaries with four names."
    return attempt_or_solution(
        "jax_step",
        attempt,
        jax_step,
        (lambda: result() is not None, "`jax_step` returns nothing."),
        (structure, order),
        (lambda: all(hasattr(part, "keys") and len(part) == 4 for part in result()[1:]), order),
        (
            pure,
            "`jax_step` changes the dictionaries that it was given. A function that is to be compiled must not: make "
            "new ones.",
        ),
        (
            lambda: not all(_near(result()[1][n], seen().kept[n]) for n in seen().kept),
            "You return the velocity where the parameters are expected. The order is: loss, params, velocity.",
        ),
        *_step_tests(seen, pure=True)[2:],
        (
            right_when_compiled,
            "The step is right as it stands, but not under `jax.jit`. Is there a NumPy function, `float` or `.item()`?",
        ),
    )  # fmt: skip


# make_keras_net


def make_keras_net(task):
    """A compiled Keras network with the starting weights and the settings of `task`."""
    keras.config.set_floatx(task.x.dtype.name)  # for losses and rates
    keras.config.set_dtype_policy(task.x.dtype.name)  # for layers
    hidden = keras.layers.Dense(task.hidden, activation="relu")
    net = keras.Sequential([keras.Input((64,)), hidden, keras.layers.Dense(10)])
    net.set_weights(list(task.start.values()))
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(keras.optimizers.SGD(task.lr, momentum=task.momentum), loss_fn)
    return net


def check_make_keras_net(attempt: Step) -> Step:
    """`make_keras_net(task)`: a compiled Keras network that starts from the weights of `task`, in its dtype."""
    _load(keras="keras")
    rng = np.random.default_rng(5)
    shapes = {"0.kernel": (64, 4), "0.bias": (4,), "1.kernel": (4, 10), "1.bias": (10,)}
    start = {name: 0.3 * rng.standard_normal(shape) for name, shape in shapes.items()}
    x, y = rng.random((30, 64)), rng.integers(0, 10, 30)
    task = Task(x, y, x, y, start, epochs=1, batch=10, lr=0.25, momentum=0.5)
    logits = forward_numpy(start, x)[1]
    odds = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    unbent = (x @ start["0.kernel"] + start["0.bias"]) @ start["1.kernel"] + start["1.bias"]

    @functools.cache
    def net() -> Any:
        made = attempt(task)
        if isinstance(made, keras.Model):
            made.run_eagerly = True  # a graph for every attempt would bring warnings of too many traces
        return made

    @functools.cache
    def output() -> np.ndarray:
        return np.array(net()(x))

    @functools.cache
    def loss() -> Any:
        """The mean loss of all images at the start; None if the loss cannot take class numbers."""
        try:
            return net().test_on_batch(x, y)
        except ValueError:
            return None

    def loss_of_probabilities() -> float:
        return float(np.mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=False)))

    def trains() -> bool:
        params, velocity = dict(start), {name: np.zeros_like(array) for name, array in start.items()}
        pairs = [
            (net().train_on_batch(*batch), numpy_step(params, velocity, *batch, task.lr, task.momentum))
            for batch in task.batches()
        ]
        return all(_near(*pair) for pair in pairs)

    def setting(name: str) -> float:
        return float(getattr(net().optimizer, name))

    return attempt_or_solution(
        "make_keras_net",
        attempt,
        make_keras_net,
        (
            lambda: net() is not None,
            "The function returns nothing: return the network. (`compile` returns None, so call it in a line of its "
            "own.)",
        ),
        (lambda: isinstance(net(), keras.Model), "Return the network itself, `net`."),
        (
            lambda: [tuple(v.shape) for v in net().weights] == list(shapes.values()),
            "The network should have two Dense layers with biases, from 64 to `task.hidden` and from there to 10.",
        ),
        (
            lambda: all(v.dtype == "float64" for v in net().weights),
            "The task is in float64, but a layer is not. Leave the two lines above in place, and make the layers after "
            "them.",
        ),
        (
            lambda: all(_near(v, array) for v, array in zip(net().get_weights(), start.values(), strict=True)),
            "The weights are not those of `task.start`: call `net.set_weights(...)` with the list of its arrays.",
        ),
        (
            lambda: not _near(output(), odds),
            "The last layer takes the softmax. Leave out its activation, so that the network returns logits.",
        ),
        (
            lambda: not _near(output(), unbent),
            'The hidden layer has no ReLU: `activation="relu"`.',
        ),
        (
            lambda: _near(output(), logits),
            "With the right weights the network does not return the logits: the hidden layer should have ReLU, and the "
            "last one no activation.",
        ),
        (lambda: net().compiled, "The network is not compiled: call `net.compile(optimizer, loss_fn)`."),
        (
            lambda: loss() is not None,
            "The loss function cannot take class numbers as labels. `SparseCategoricalCrossentropy` can.",
        ),
        (
            lambda: np.size(loss()) == 1,
            "With metrics, `train_on_batch` returns a list instead of the loss: compile without them.",
        ),
        (
            lambda: not _near(loss(), loss_of_probabilities()),
            "The loss function takes your logits for probabilities. Tell it with `from_logits=True`.",
        ),
        (
            lambda: _near(loss(), cross_entropy(logits, y)[0]),
            "The loss is not the mean cross-entropy: use `SparseCategoricalCrossentropy(from_logits=True)`.",
        ),
        (lambda: type(net().optimizer) is keras.optimizers.SGD, "The optimizer should be `keras.optimizers.SGD`."),
        (lambda: _near(setting("learning_rate"), task.lr), "The optimizer's learning rate should be `task.lr`."),
        (
            lambda: _near(setting("momentum"), task.momentum),
            "The optimizer's momentum should be `task.momentum`. Unless you give it, it is 0.",
        ),
        (trains, "All settings are right, but three steps of `train_on_batch` do not give the losses of NumPy."),
    )


# first_difference


def first_difference(losses, reference, rtol=1e-9):
    """The first step at which losses and reference differ; None if they agree at every step.

    losses, reference: (steps,)
    """
    close = np.abs(losses - reference) <= rtol * np.abs(reference)
    if close.all():
        return None
    return int(np.argmin(close))


def check_first_difference(attempt: Step) -> Step:
    """`first_difference(losses, reference, rtol) -> step or None`."""
    reference = 2.0 * 0.9 ** np.arange(40)

    def found(step: int | None, *, by: float = 1e-3, then: bool = True, **settings: float) -> Any:
        """The answer if losses are larger by a share `by` from `step` on, or at `step` alone."""
        losses = reference.copy()
        if step is not None:
            losses[step : None if then else step + 1] *= 1 + by
        return attempt(losses, reference.copy(), **settings)

    def with_nan() -> Any:
        losses = reference.copy()
        losses[7:] = np.nan
        return attempt(losses, reference.copy())

    def growing() -> Any:
        """The step that is found if a small difference at step 5 becomes a large one at step 20."""
        losses = reference.copy()
        losses[5:] *= 1 + 1e-3
        losses[20] += 1
        return attempt(losses, reference.copy())

    def shifted(by: float, scale: float) -> Any:
        """Losses that are far larger or smaller than 1: an absolute tolerance does not fit them."""
        scaled = scale * reference
        losses = scaled.copy()
        losses[5:] *= 1 + by
        return attempt(losses, scaled)

    return attempt_or_solution(
        "first_difference",
        attempt,
        first_difference,
        (
            lambda: np.size(found(None)) == np.size(found(5)) == 1 and not isinstance(found(5), bool | np.bool_),
            "Return one thing: the step as a number, or None. (`np.where` returns a tuple of arrays.)",
        ),
        (
            lambda: found(5) is not None,
            "The losses differ from step 5 on, but you return None. (Is there a `return` for this case? In a loop, "
            "return None only after its end.)",
        ),
        (
            lambda: float(found(5)).is_integer(),
            "You return the loss of a step, or something else that is no whole number. Return the number of the step.",
        ),
        (
            lambda: found(None) is None or found(None) != 0,
            "Equal losses should give None, but you return 0. (`np.argmax` and `np.argmin` return 0 when all entries "
            "are equal.)",
        ),
        (lambda: found(None) is None, "Equal losses should give None."),
        (lambda: found(5) != 39, "You return the last step that differs. Return the first."),
        (
            lambda: found(0) == 0,
            "Step 0 differs, and all others too: the step should be 0. (`np.argmax` and `np.argmin` return 0 both when "
            "the first entry is the one and when there is none, so ask first whether any step differs.)",
        ),
        (
            lambda: found(5) == 5,
            "The losses differ from step 5 on, but you return another step. (`np.argmin` gives the first False of an "
            "array, `np.argmax` the first True.)",
        ),
        (
            lambda: found(5, by=-1e-3) == 5,
            "You miss losses that are *smaller* than the reference: take the absolute value of the difference.",
        ),
        (
            lambda: found(5, then=False) == 5,
            "When only step 5 differs and later steps agree again, you do not find it.",
        ),
        (
            lambda: growing() != 20,
            "From step 5 on the losses differ a little, and at step 20 most. You return the step of the largest "
            "difference. Return the first step that differs.",
        ),
        (
            lambda: found(5, by=1e-12) is None,
            "A relative difference of 1e-12 is rounding; with rtol=1e-9 it should count as equal.",
        ),
        (
            lambda: shifted(1e-10, scale=1e4) is None,
            "Losses near 10,000 that differ by a share of 1e-10 should count as equal: compare with rtol times the "
            "*reference*, not with rtol alone.",
        ),
        (
            lambda: shifted(1e-6, scale=1e-4) == 5,
            "Small losses: 1e-4 against 1.000001e-4 differ by more than rtol. Compare with rtol times the reference, "
            "and add no absolute tolerance. (`np.isclose` adds 1e-8 unless you say `atol=0`.)",
        ),
        (
            lambda: found(5, by=1e-6, rtol=1e-3) is None and found(5, by=1e-6, rtol=1e-8) == 5,
            "The tolerance should be the argument `rtol`.",
        ),
        (
            lambda: with_nan() == 7,
            "A loss that is NaN is not found: with NaN, `>` and `<=` are both false. Ask where the difference is "
            "*within* the tolerance, and take the first step where it is not.",
        ),
    )


# first_wrong_value


def record(step: Step, task: Task, steps: int = 3) -> tuple[list[Arrays], list[Arrays]]:
    """What a port of `numpy_step` to torch tensors and NumPy compute, for each step by name and in order.

    The loss, the gradients, the velocity and the new parameters, as copies.
    """
    import torch

    params = {name: torch.tensor(array, requires_grad=True) for name, array in task.start.items()}
    velocity: dict[str, Any] = {}
    wanted, kept = dict(task.start), {name: np.zeros_like(array) for name, array in task.start.items()}
    port, original = [], []
    for x, y in itertools.islice(task.batches(), steps):
        loss = step(params, velocity, torch.from_numpy(x), torch.from_numpy(y), task.lr, task.momentum)
        port.append(_in_order(loss, {name: tensor.grad for name, tensor in params.items()}, velocity, params))
        grads = _gradients(wanted, x, y)[1]
        loss = numpy_step(wanted, kept, x, y, task.lr, task.momentum)
        original.append(_in_order(loss, grads, kept, wanted))
    return port, original


def _in_order(loss: Any, grads: Mapping[str, Any], velocity: Mapping[str, Any], params: Mapping[str, Any]) -> Arrays:
    """Copies of all values of a step, in the order in which they are computed."""
    found = {"loss": np.array(float(loss))}
    for kind, values in {"gradient": grads, "velocity": velocity, "new": params}.items():
        found |= {f"{kind} {name}": array for name, array in parity.read(values).items()}
    return found


def first_wrong_value(port, original):
    """The step and the name of the first value that differs; None if all values agree.

    port, original: for each step a dictionary of values, in the order in which they are computed
    """
    pairs = zip(port, original, strict=True)  # the two dictionaries of each step
    for step, (values, right) in enumerate(pairs):
        for row in parity.compare({"original": right, "port": values}).rows:
            if not row.agrees:
                return step, row.name
    return None


def check_first_wrong_value(attempt: Step) -> Step:
    """`first_wrong_value(port, original) -> (step, name) or None`."""
    rng = np.random.default_rng(6)
    shapes = {"0.kernel": (3, 2), "0.bias": (2,)}
    kinds = ("gradient", "velocity", "new")
    names = {f"{kind} {name}": shape for kind in kinds for name, shape in shapes.items()}
    original = [
        {"loss": np.array(2.0 - 0.25 * step), **{name: 1 + rng.random(shape) for name, shape in names.items()}}
        for step in range(4)
    ]

    @functools.cache
    def found(*changes: tuple[int, str, float], scale: float = 1.0) -> Any:
        """The answer if the last entry of a value is larger by a share, for each of `changes` (step, name, share)."""
        right = [{name: scale * array for name, array in values.items()} for values in original]
        port = [{name: np.array(array) for name, array in values.items()} for values in right]
        for step, name, share in changes:
            port[step][name].flat[-1] *= 1 + share
        return attempt(port, right)

    one = (2, "velocity 0.bias", 1e-3)
    growing = ((1, "velocity 0.kernel", 1e-3), (1, "new 0.bias", 1e-2), (2, "loss", 1e-1), (3, "loss", 1.0))

    def is_pair(answer: Any) -> bool:
        return isinstance(answer, tuple | list) and len(answer) == 2

    def answers(answer: Any, step: int, name: str) -> bool:
        return is_pair(answer) and answer[0] == step and answer[1] == name

    return attempt_or_solution(
        "first_wrong_value",
        attempt,
        first_wrong_value,
        (
            lambda: found((0, "loss", 1e-3)) is not None,
            "The first value of all differs, the loss of step 0, but you return None. Is there a `return` with the "
            "step and the name, and does it stand where a row does *not* agree?",
        ),
        (
            lambda: found(one) is not None,
            'Only "velocity 0.bias" of step 2 differs, but you return None. Go through all values of all steps, and '
            "return None only after both loops.",
        ),
        (
            lambda: is_pair(found(one)),
            "Return two things, the number of the step and the name: `return step, row.name`.",
        ),
        (
            lambda: not (isinstance(found(one)[0], str) and isinstance(found(one)[1], int)),
            "You return the name before the step. The order is: step, name.",
        ),
        (
            lambda: isinstance(found(one)[1], str),
            "The second thing that you return is not a string. Return the name, `row.name`.",
        ),
        (
            lambda: found(one)[1] == one[1],
            'In step 2 only "velocity 0.bias" differs, in its last entry, but you return another name.',
        ),
        (
            lambda: answers(found(one), *one[:2]),
            "You return the right name with another step. The values of step 2 differ, and steps count from 0.",
        ),
        (lambda: found() is None, "If all values agree, the function should return None."),
        (
            lambda: not answers(found(*growing), 3, "loss"),
            "Some values of steps 1, 2 and 3 differ. You return the last of them. Return the first: as soon as a value "
            "differs.",
        ),
        (
            lambda: not answers(found(*growing), 2, "loss"),
            "In step 1 a velocity and a parameter differ, and in step 2 the loss. You return the loss of step 2. Let "
            "the outer loop go through the steps, and compare all values of one step before the next.",
        ),
        (
            lambda: not answers(found(*growing), 1, "new 0.bias"),
            'In step 1 "velocity 0.kernel" differs a little, and after it "new 0.bias" differs more. You return the '
            "second. Return the first that differs, not the last or the largest of the step.",
        ),
        (
            lambda: answers(found(*growing), 1, "velocity 0.kernel"),
            'Values of steps 1, 2 and 3 differ, the first of them "velocity 0.kernel" of step 1. You return another '
            "one.",
        ),
        (
            lambda: answers(found((1, "new 0.kernel", 1e-6)), 1, "new 0.kernel"),
            "You miss a relative difference of 1e-6. In float64, rounding is far smaller. (`np.allclose` and "
            "`np.isclose` allow 1e-5 unless you say `rtol`.)",
        ),
        (
            lambda: found((1, "new 0.kernel", 1e-15)) is None,
            "A relative difference of 1e-15 is rounding, and should count as equal. `row.agrees` allows for it.",
        ),
        (
            lambda: answers(found((1, "new 0.kernel", -1e-3)), 1, "new 0.kernel"),
            "You miss a value that is *smaller* than the original.",
        ),
        (
            lambda: answers(found((1, "new 0.kernel", 1e-2), scale=1e-7), 1, "new 0.kernel"),
            "You miss a difference of a hundredth in a small value, 1e-7. The tolerance should be a share of the "
            "value. (`np.allclose` and `np.isclose` add 1e-8 unless you say `atol=0`.)",
        ),
        (
            lambda: answers(found((1, "velocity 0.kernel", np.nan)), 1, "velocity 0.kernel"),
            "You miss a value that is NaN: with NaN, `>` and `<=` are both false. Ask whether it agrees, and take "
            "`not` of that.",
        ),
    )


# Four ports with a fault each. Whoever reads on knows the answers of section 1.

PORTS = ("A", "B", "C", "D")


def train_port(task: Task, port: str = "original") -> tuple[np.ndarray, float]:
    """Train `task` in PyTorch, as it should be or as one of `PORTS` does it: losses `(steps,)` and test accuracy."""
    import torch
    import torch.nn.functional as F

    if port not in ("original", *PORTS):
        raise ValueError(f"train_port: {port!r} is neither 'original' nor one of {PORTS}")
    x, y, x_test = (torch.from_numpy(array) for array in (task.x, task.y, task.x_test))
    if port == "A":  # divides the pixels by 15 instead of 16
        x, x_test = x * 16 / 15, x_test * 16 / 15
    net = torch.nn.Sequential(torch.nn.Linear(64, task.hidden), torch.nn.ReLU(), torch.nn.Linear(task.hidden, 10))
    net.to(x.dtype)
    parity.write(net, task.start)
    optimizer = torch.optim.SGD(
        net.parameters(),
        lr=task.lr,
        momentum=0.9 if port == "C" else task.momentum,
        weight_decay=1e-3 if port == "B" else 0.0,
    )
    generator, losses = torch.Generator().manual_seed(0), []
    for epoch in range(task.epochs):
        order = torch.arange(len(x))
        if port == "D" and epoch > 0:  # shuffles
            order = torch.randperm(len(x), generator=generator)
        for rows in order.split(task.batch):
            loss = F.cross_entropy(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    with torch.no_grad():
        return np.array(losses), float((net(x_test).argmax(dim=1).numpy() == task.y_test).mean())
