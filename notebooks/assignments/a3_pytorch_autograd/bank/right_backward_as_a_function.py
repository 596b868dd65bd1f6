"""The backward pass is a Function of its own, with its own backward pass."""

EXPECTED = {}
CELLS = {
    "squareplus": """
class SquareplusSlope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, g):
        ctx.save_for_backward(x, g)
        return g * (1 + x / (x * x + 4).sqrt()) / 2

    @staticmethod
    def backward(ctx, u):
        x, g = ctx.saved_tensors
        root = (x * x + 4).sqrt()
        return u * g * 2 / root**3, u * (1 + x / root) / 2


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x + (x * x + 4).sqrt()) / 2

    @staticmethod
    def backward(ctx, g):
        return SquareplusSlope.apply(ctx.saved_tensors[0], g)
""",
}
