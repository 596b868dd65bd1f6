"""The slope of what is under the root left out."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-inner-slope-missing",
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
        return g * (0.5 + 0.25 * torch.rsqrt(x * x + 4))
""",
}
