"""Gets the gradient for a from y / a, which is 0 / 0 where a is zero."""

KIND = "fault"
EXPECTED = {"test_power_scale": "partial:power-scale-divides-by-a"}
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        y = a * b**power
        ctx.save_for_backward(a, b, y)
        ctx.power = power
        return y

    @staticmethod
    def backward(ctx, grad_y):
        a, b, y = ctx.saved_tensors
        grad_a = (grad_y * y / a).sum_to_size(a.shape)
        grad_b = (grad_y * ctx.power * y / b).sum_to_size(b.shape)
        return grad_a, grad_b, None
"""
}
