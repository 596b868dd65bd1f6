"""Returns the slope."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-ignores-what-comes-in",
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
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 0.5 + 0.5 * x * torch.rsqrt(x * x + 4)
""",
}
