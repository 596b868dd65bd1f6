"""forward works in the given tensor."""

EXPECTED = {
    "test_squareplus": "failed:squareplus-overwrites-x",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        root = torch.sqrt(x * x + 4)
        x += root
        x /= 2
        return x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 + x / torch.sqrt(x * x + 4)) / 2
""",
}
