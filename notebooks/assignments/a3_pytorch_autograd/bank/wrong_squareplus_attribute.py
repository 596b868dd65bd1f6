"""The input hangs on ctx as an attribute."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-kept-on-ctx",
}
KIND = "fault"
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inp):
        ctx.inp = inp
        return 0.5 * (torch.sqrt(inp * inp + 4) + inp)

    @staticmethod
    def backward(ctx, g):
        return 0.5 * g * (1 + ctx.inp / (ctx.inp**2 + 4) ** 0.5)
""",
}
