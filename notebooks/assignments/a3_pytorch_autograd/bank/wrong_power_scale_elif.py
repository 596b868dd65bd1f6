"""The gradient of b is asked for only where that of a is not."""

EXPECTED = {"test_power_scale": "partial:power-scale-one-gradient-alone"}
KIND = "fault"
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.power = power
        ctx.save_for_backward(a, b)
        return a * b.pow(power)

    @staticmethod
    def backward(ctx, grad_y):
        a, b = ctx.saved_tensors
        if ctx.needs_input_grad[0]:
            return (grad_y * b.pow(ctx.power)).sum_to_size(a.shape), None, None
        elif ctx.needs_input_grad[1]:
            return None, (grad_y * a * ctx.power * b.pow(ctx.power - 1)).sum_to_size(b.shape), None
        return None, None, None
""",
}
