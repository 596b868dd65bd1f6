"""The input is kept in a global variable."""

EXPECTED = {
    "test_squareplus": "partial:squareplus-kept-on-the-class",
}
KIND = "fault"
CELLS = {
    "squareplus": """
saved = {}


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        saved["x"] = x
        return 0.5 * (torch.sqrt(x * x + 4) + x)

    @staticmethod
    def backward(ctx, g):
        x = saved["x"]
        return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)
""",
}
