"""The result is always float32."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-in-float32",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ((torch.sqrt(x * x + 4) + x) / 2).to(torch.float32)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + x / torch.sqrt(x * x + 4)) / 2
""",
}
