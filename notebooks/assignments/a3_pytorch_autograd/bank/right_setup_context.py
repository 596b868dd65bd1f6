"""The newer form of Function, with setup_context."""

EXPECTED = {}
CELLS = {
    "squareplus": """
class Squareplus(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return 0.5 * x + torch.hypot(0.5 * x, torch.ones_like(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_y):
        (x,) = ctx.saved_tensors
        return grad_y * 0.5 * (1 + x * torch.rsqrt(x * x + 4))
""",
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(a, b, power):
        return a * torch.pow(b, power)

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, ctx.power = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        ga = (grad * torch.pow(b, ctx.power)).sum_to_size(a.shape)
        gb = (grad * a * ctx.power * torch.pow(b, ctx.power - 1)).sum_to_size(b.shape)
        return ga, gb, None
""",
}
