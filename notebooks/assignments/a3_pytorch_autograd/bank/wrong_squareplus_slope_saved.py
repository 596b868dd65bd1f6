"""The slope is computed in forward and saved."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-second-derivative-lost",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        root = torch.sqrt(x * x + 4)
        ctx.save_for_backward((1 + x / root) / 2)
        return (root + x) / 2

    @staticmethod
    def backward(ctx, g):
        (slope,) = ctx.saved_tensors
        return slope * g
""",
}
