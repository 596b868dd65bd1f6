"""y with its graph."""

EXPECTED = {
    "test_jacobian": "partial:vjp-y-carries-its-graph",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    (y * v).sum().backward(inputs=[leaf])
    return y, leaf.grad


def jacobian(f, x):
    return torch.func.jacrev(f)(x.detach())
""",
}
