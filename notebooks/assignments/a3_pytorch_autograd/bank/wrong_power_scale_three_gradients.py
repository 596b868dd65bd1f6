"""A gradient for power as well."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-gradient-for-power",
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
        grad_power = (g * a * b**p * torch.log(b)).sum()
        return (g * b**p).sum_to_size(a.shape), (g * p * a * b ** (p - 1)).sum_to_size(b.shape), grad_power
""",
}
