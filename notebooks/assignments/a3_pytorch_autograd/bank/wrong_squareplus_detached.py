"""The saved input is detached in backward."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-second-derivative-lost",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (torch.sqrt(x * x + 4) + x) / 2

    @staticmethod
    def backward(ctx, g):
        with torch.no_grad():
            x = ctx.saved_tensors[0]
            slope = (1 + x / torch.sqrt(x * x + 4)) / 2
        return slope * g
""",
}
