"""view() of what f returns."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-view-of-non-contiguous",
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
    y = f(x)
    flat = y.view(y.numel())
    return torch.stack([torch.autograd.grad(e, x, retain_graph=True)[0] for e in flat]).view(y.shape + x.shape)
""",
}
