"""Both slopes are computed in forward."""

EXPECTED = {
    "test_power_scale": "partial:power-scale-second-derivative-lost",
}
KIND = "fault"
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(torch.pow(b, power), power * a * torch.pow(b, power - 1))
        ctx.shapes = a.shape, b.shape
        return torch.pow(b, power) * a

    @staticmethod
    def backward(ctx, g):
        for_a, for_b = ctx.saved_tensors
        return (g * for_a).sum_to_size(ctx.shapes[0]), (g * for_b).sum_to_size(ctx.shapes[1]), None
""",
}
