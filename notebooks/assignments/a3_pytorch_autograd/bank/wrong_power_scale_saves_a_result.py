"""b ** power is saved in forward."""

EXPECTED = {"test_power_scale": "partial:power-scale-saves-a-result"}
KIND = "fault"
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        factor = b.pow(power)
        ctx.power = power
        ctx.save_for_backward(a, b, factor)
        return a * factor

    @staticmethod
    def backward(ctx, grad_y):
        a, b, factor = ctx.saved_tensors
        grad_a = (grad_y * factor).sum_to_size(a.shape)
        grad_b = (grad_y * a * ctx.power * b.pow(ctx.power - 1)).sum_to_size(b.shape)
        return grad_a, grad_b, None
""",
}
