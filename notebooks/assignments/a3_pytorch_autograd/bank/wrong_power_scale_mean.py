"""A mean over the axis that was broadcast."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-averages",
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
        full = g * p * a * b ** (p - 1)
        while full.dim() > b.dim():
            full = full.mean(0)
        for axis, size in enumerate(b.shape):
            if size == 1:
                full = full.mean(axis, keepdim=True)
        return (g * b**p).sum_to_size(a.shape), full, None
""",
}
