"""One cell does not parse, and another uses a name that is not there."""

EXPECTED = {
    "test_jacobian": "failed",
    "test_power_scale": "failed",
}
CELLS = {
    "jacobian": """
def vjp(f, x, v)
    return f(x), v
""",
    "power_scale": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        return a * b**exponent

    @staticmethod
    def backward(ctx, grad_y):
        return None, None, None
""",
}
