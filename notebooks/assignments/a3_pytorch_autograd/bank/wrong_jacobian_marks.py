"""x itself requires gradients afterwards, in jacobian."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-marks-x",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    y, back = torch.func.vjp(f, x.detach())
    return y, back(v)[0]


def jacobian(f, x):
    x.requires_grad = True
    y = f(x)
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in y.flatten()]
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}
