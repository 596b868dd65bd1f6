"""A matrix, whatever the shapes."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-flat",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    x = x.detach().clone().requires_grad_()
    y = f(x).flatten()
    return torch.stack([torch.autograd.grad(y[i], x, retain_graph=True)[0].flatten() for i in range(len(y))])
""",
}
