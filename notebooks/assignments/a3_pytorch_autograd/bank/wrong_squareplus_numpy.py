"""forward goes through NumPy."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-leaves-pytorch",
}
KIND = "fault"
CELLS = {
    "squareplus": """
import numpy as np


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        a = x.detach().numpy()
        return torch.as_tensor((a + np.sqrt(a**2 + 4)) / 2, dtype=x.dtype)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + x / torch.sqrt(x * x + 4)) / 2
""",
}
