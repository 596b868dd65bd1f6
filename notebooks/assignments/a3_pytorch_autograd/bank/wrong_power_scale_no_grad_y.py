"""What comes in is not used."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-ignores-what-comes-in",
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
        p, shape = ctx.power, g.shape
        grad_a = (b**p).expand(shape).sum_to_size(a.shape)
        return grad_a, (p * a * b ** (p - 1)).expand(shape).sum_to_size(b.shape), None
""",
}
