"""Networks, functions and data sets that the tests share with no one but could not define before torch is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset


class Product(torch.autograd.Function):
    """A function of a course: its product runs in the dtype that `custom_fwd` hands it."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        Product.seen.append((a.dtype, torch.is_autocast_enabled("cuda")))
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx: Any, g: Tensor) -> Any:
        Product.seen.append((g.dtype, torch.is_autocast_enabled("cuda")))
        a, b = ctx.saved_tensors
        return g @ b.mT, a.mT @ g


class Plain(torch.autograd.Function):
    """The same without `cast_inputs`: it runs in the state of the region, backward too."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx: Any, g: Tensor) -> Any:
        a, b = ctx.saved_tensors
        Plain.seen.append((torch.is_autocast_enabled("cuda"), (g @ b.mT).dtype))
        return g @ b.mT, a.mT @ g


class Network(nn.Module):
    """Convolution, normalization, a matrix product and a loss: every policy but the widest dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(4 * 36, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss. x: (batch, 1, 6, 6), y: (batch,)."""
        h = F.relu(self.norm(self.conv(x)))
        return F.cross_entropy(self.out(h.flatten(1)), y)


class Logarithms(torch.autograd.Function):
    """Of a softmax; the backward pass has the rounded ones."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, rounded: Callable[[Tensor], Tensor]) -> Tensor:
        ctx.save_for_backward(out := rounded(scores.log_softmax(1)))
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        (out,) = ctx.saved_tensors
        return g - out.exp() * g.sum(1, keepdim=True), None


class ByHand(Network):
    """The same with the casts of autocast written out, in operators that the CPU computes in float32."""

    def __init__(self, lower: torch.dtype) -> None:
        super().__init__()
        self.lower = lower

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        conv, norm, out = self.conv, self.norm, self.out
        rounded = self.rounded
        h = rounded(F.conv2d(rounded(x), rounded(conv.weight), rounded(conv.bias), padding=1))
        norm.num_batches_tracked += 1
        h = F.batch_norm(h, norm.running_mean, norm.running_var, norm.weight, norm.bias, training=True, momentum=0.1)
        h = F.relu(rounded(h)).flatten(1)
        scores = rounded(F.linear(h, rounded(out.weight), rounded(out.bias)))
        # Cross entropy asks for the logarithms in the dtype of the scores; only their mean is a float32.
        return F.nll_loss(rounded(Logarithms.apply(scores, rounded)), y)

    def rounded(self, x: Any) -> Tensor:
        """Through the lower precision and back; so is its gradient."""
        return x.to(self.lower).float()


WANTED: list[tuple[bool, ...]] = []
"""what `Power` was asked for in its backward passes"""


class Power(torch.autograd.Function):
    """`x ** exponent * scale`: saved tensors, arguments that are no tensors, gradients only where they are wanted."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, exponent: int, scale: Tensor) -> Tensor:
        ctx.save_for_backward(x, scale)
        ctx.exponent = exponent
        return x**exponent * scale

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        x, scale = ctx.saved_tensors
        assert x.device == scale.device == gradient.device
        WANTED.append(ctx.needs_input_grad)
        for_x = gradient * ctx.exponent * x ** (ctx.exponent - 1) * scale if ctx.needs_input_grad[0] else None
        for_scale = (gradient * x**ctx.exponent).sum() if ctx.needs_input_grad[2] else None
        return for_x, None, for_scale


class Cube(torch.autograd.Function):
    """In the newer style, which `torch.func` wants."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x * x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return tangent * 3 * x * x


class Symmetric(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.triu() + x.triu(1).transpose(-1, -2)


class Scale(torch.autograd.Function):
    """Doubles; where its gradient is, the test says."""

    where: str = "cuda"

    @staticmethod
    def forward(ctx: Any, value: Tensor, other: Tensor, name: str) -> tuple[Tensor, Tensor]:
        return value * 2, other * 3

    @staticmethod
    def backward(ctx: Any, first: Tensor, second: Tensor) -> Any:
        return first * 2, torch.full((3,), 3.0, device=Scale.where), None


class Net(nn.Module):
    """A parameter, a buffer that is saved, and one that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("dropped", torch.zeros(2), persistent=False)
        self.plain = torch.ones(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.kept + self.dropped + torch.zeros(2, device=x.device)


class Touches(Dataset[torch.Tensor]):
    """Makes tensors on the device, in the worker."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2, device="cuda")


class Holds(Touches):
    """Made on the device, in the parent."""

    def __init__(self) -> None:
        self.x = torch.ones(2, 2, device="cuda")

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.x[index] * 2
