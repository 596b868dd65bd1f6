"""The derivatives of each input in turn: axes of x first."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-transposed",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    J = torch.func.jacrev(f)(x.detach())
    y_axes = J.dim() - x.dim()
    return J.permute(*range(y_axes, J.dim()), *range(y_axes))
""",
}
