"""jacobian as autograd.functional has it, Squareplus that saves x and y."""

EXPECTED = {}
CELLS = {
    "jacobian": """
from torch.autograd.functional import jacobian as ready_made


def vjp(f, x, v):
    with torch.enable_grad():
        x = torch.empty_like(x).copy_(x.detach()).requires_grad_()
        y = f(x)
        s = torch.tensordot(v, y, dims=v.dim())
    return y.detach(), torch.autograd.grad(s, [x])[0]


def jacobian(f, x):
    return ready_made(f, x.detach())
""",
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = (x + (x**2 + 4) ** 0.5) * 0.5
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, *grads):
        x, y = ctx.saved_tensors
        return grads[0] * y / (2 * y - x)
""",
}
