"""The gradient of a is asked for only where that of b is not."""

EXPECTED = {"test_power_scale": "partial:power-scale-b-alone-of-both"}
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
        grad_a = grad_b = None
        if ctx.needs_input_grad[1]:
            grad_b = (grad_y * a * ctx.power * b.pow(ctx.power - 1)).sum_to_size(b.shape)
        elif ctx.needs_input_grad[0]:
            grad_a = (grad_y * b.pow(ctx.power)).sum_to_size(a.shape)
        return grad_a, grad_b, None
""",
}
