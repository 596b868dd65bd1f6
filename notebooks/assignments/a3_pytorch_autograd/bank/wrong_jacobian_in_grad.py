"""vjp by backward() on the caller's x."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-in-grad-of-x",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x.requires_grad = True
    y = f(x)
    torch.sum(y * v).backward()
    return y.detach(), x.grad


def jacobian(f, x):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in y.flatten()]
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}
