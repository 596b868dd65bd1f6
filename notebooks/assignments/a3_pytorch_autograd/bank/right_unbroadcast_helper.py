"""A helper that sums over the axes that broadcasting added or stretched; only what is needed is computed."""

EXPECTED = {}
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        ctx.power = power
        return a * torch.exp(power * torch.log(b))

    @staticmethod
    def backward(ctx, grad_y):
        a, b = ctx.saved_tensors
        need_a, need_b, _ = ctx.needs_input_grad
        return (
            unbroadcast(grad_y * b**ctx.power, a) if need_a else None,
            unbroadcast(grad_y * a * (ctx.power * b**ctx.power / b), b) if need_b else None,
            None,
        )
""",
}
EXTRA = [
    (
        "test_squareplus",
        """
def unbroadcast(grad, like):
    while grad.dim() > like.dim():
        grad = grad.sum(0)
    for axis, size in enumerate(like.shape):
        if size == 1 and grad.shape[axis] > 1:
            grad = grad.sum(axis, keepdim=True)
    return grad
""",
    ),
]
