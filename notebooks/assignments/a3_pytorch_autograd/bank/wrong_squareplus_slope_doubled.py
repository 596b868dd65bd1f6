"""The slope is not halved."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-slope-not-halved",
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
        return g + g * x / torch.sqrt(x * x + 4)
""",
}
