"""The gradient of the sum, times the sum of v."""

EXPECTED = {
    "test_jacobian": "partial:vjp-scales-the-sum",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    return y.detach(), (g * v.sum()).detach()


def jacobian(f, x):
    return torch.func.jacrev(f)(x.detach())
""",
}
