"""once_differentiable, as in a tutorial."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-once-differentiable",
}
KIND = "fault"
CELLS = {
    "squareplus": """
from torch.autograd.function import once_differentiable


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (torch.sqrt(x * x + 4) + x) / 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + x / torch.sqrt(x * x + 4)) / 2
""",
}
