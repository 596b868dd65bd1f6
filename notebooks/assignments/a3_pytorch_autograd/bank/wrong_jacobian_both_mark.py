"""x itself requires gradients afterwards, in both functions."""

EXPECTED = {
    "test_jacobian": "partial:vjp-and-jacobian-mark-x",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x.requires_grad = True
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    x.requires_grad = True
    y = f(x)
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in y.flatten()]
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}
