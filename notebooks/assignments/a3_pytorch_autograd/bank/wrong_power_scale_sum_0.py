"""Sums over the first axis, always."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-sums-the-first-axis",
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
        return g * b**p, torch.sum(g * p * a * b ** (p - 1), 0), None
""",
}
