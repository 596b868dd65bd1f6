"""The value is not halved."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-value-not-halved",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sqrt(x * x + 4) + x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (0.5 + 0.5 * x / torch.sqrt(x * x + 4))
""",
}
