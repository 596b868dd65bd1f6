"""The gradients come back in the wrong order."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-gradients-swapped",
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
        for_b = (g * p * a * b ** (p - 1)).sum_to_size(b.shape)
        return for_b, (g * b**p).sum_to_size(a.shape), None
""",
}
