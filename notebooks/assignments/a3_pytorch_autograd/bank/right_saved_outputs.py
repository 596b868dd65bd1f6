"""Slopes from the results instead of the inputs: y is saved, the slope of tanh by cosh, one gradient by einsum."""

EXPECTED = {}
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    n, d = x.shape
    z = torch.addcmul(b, x, w)
    loss = torch.tanh(z).square().sum() / (n * d)
    delta = 2 / (n * d) * torch.tanh(z) / torch.cosh(z) ** 2
    return loss, torch.einsum("nd,d->nd", delta, w), torch.einsum("nd,nd->d", delta, x), delta.sum(1).unsqueeze(1)
""",
    "squareplus": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x / 2 + (x * x / 4 + 1).sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y.square() / (y.square() + 1)
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    x = x.clone().requires_grad_(True)
    out = f(x)
    (g,) = torch.autograd.grad(out, x, grad_outputs=torch.ones_like(out), create_graph=True)
    return torch.nn.functional.mse_loss(out, t) + strength * g.norm(dim=1).pow(2).mean()
""",
}
