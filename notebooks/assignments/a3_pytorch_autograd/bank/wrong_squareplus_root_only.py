"""The slope of the root alone."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-only-the-root",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (torch.sqrt(x * x + 4) + x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 0.5 * x * g * (x * x + 4) ** -0.5
""",
}
