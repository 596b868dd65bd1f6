"""No retain_graph in the loop."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-graph-freed",
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
    J = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    for i in range(y.numel()):
        e = torch.zeros(y.numel(), dtype=x.dtype)
        e[i] = 1
        J[i] = torch.autograd.grad(y, x, e.reshape(y.shape))[0].reshape(-1)
    return J.reshape(y.shape + x.shape)
""",
}
