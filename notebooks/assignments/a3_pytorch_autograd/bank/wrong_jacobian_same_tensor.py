""".grad is stored itself, set to zero before each pass."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-one-row-everywhere",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    rows = []
    for entry in y.flatten():
        if leaf.grad is not None:
            leaf.grad.zero_()
        entry.backward(retain_graph=True)
        rows.append(leaf.grad)
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}
