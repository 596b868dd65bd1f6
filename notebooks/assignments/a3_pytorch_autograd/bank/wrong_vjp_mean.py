"""The mean of v * y."""

EXPECTED = {
    "test_jacobian": "partial:vjp-averaged",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v / v.numel())[0]


def jacobian(f, x):
    return torch.func.jacrev(f)(x.detach())
""",
}
