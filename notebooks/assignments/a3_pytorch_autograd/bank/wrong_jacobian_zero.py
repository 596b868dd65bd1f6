""".grad is stored itself and set to zero after each pass."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-zero-everywhere",
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
        entry.backward(retain_graph=True)
        rows.append(leaf.grad)
        leaf.grad.zero_()
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}
