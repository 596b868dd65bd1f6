"""v is an argument and nothing more."""

EXPECTED = {
    "test_jacobian": "partial:vjp-ignores-v",
}
KIND = "fault"
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    y.backward(torch.ones_like(y), inputs=[x])
    return y.detach(), x.grad


def jacobian(f, x):
    return torch.func.jacrev(f)(x.detach())
""",
}
