"""The slope of b ** power without its factor."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-factor-missing",
}
KIND = "fault"
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        ctx.power = power
        return torch.pow(b, power) * a

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        p = ctx.power
        return (g * b**p).sum_to_size(a.shape), (g * a * b**p / b).sum_to_size(b.shape), None
""",
}
