"""forward computes with Python floats."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-leaves-pytorch",
}
KIND = "fault"
CELLS = {
    "squareplus": """
import math


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        values = [(v.item() + math.sqrt(v.item() ** 2 + 4)) / 2 for v in x.reshape(-1)]
        return torch.tensor(values, dtype=x.dtype).reshape(x.shape)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + x / torch.sqrt(x * x + 4)) / 2
""",
}
