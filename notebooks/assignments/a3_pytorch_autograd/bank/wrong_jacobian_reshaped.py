"""A transposed matrix is brought to the right shape by reshape."""

EXPECTED = {
    "test_jacobian": "partial:jacobian-reshaped-not-transposed",
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
    m = J.numel() // x.numel()
    columns = J.reshape(m, x.numel()).T.contiguous()
    return columns.view(J.shape)
""",
}
