"""The Jacobian goes through the first axis of f(x) only."""

EXPECTED = {"test_jacobian": "partial:jacobian-sums-the-other-axes"}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    return torch.stack([torch.autograd.grad(part.sum(), x, retain_graph=True)[0] for part in y])
""",
}
