"""The gradient of the sum of the outputs."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-summed-over-outputs",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    return vjp(f, x, torch.ones_like(f(x)))[1]
""",
}
