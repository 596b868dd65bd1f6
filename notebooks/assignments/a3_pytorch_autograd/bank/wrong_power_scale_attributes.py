"""Both inputs hang on ctx as attributes."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-kept-on-ctx",
}
KIND = "fault"
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.a = a
        ctx.b = b
        ctx.power = power
        return torch.pow(b, power) * a

    @staticmethod
    def backward(ctx, g):
        a, b, p = ctx.a, ctx.b, ctx.power
        return (g * b**p).sum_to_size(a.shape), (g * p * a * b ** (p - 1)).sum_to_size(b.shape), None
""",
}
