"""The gradients of PowerScale keep the broadcast shape; PyTorch itself sums a gradient that can be reduced."""

EXPECTED = {}
CELLS = {
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        ctx.p = power
        return b**power * a

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b**ctx.p, g * a * ctx.p * b ** (ctx.p - 1), None
""",
}
