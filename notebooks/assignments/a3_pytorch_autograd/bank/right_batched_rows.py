"""All rows of the Jacobian in one go, with is_grads_batched; the product by autograd.functional."""

EXPECTED = {}
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    y, grad = torch.autograd.functional.vjp(f, x.detach(), v)
    return y, grad


def jacobian(f, x):
    inputs = x.detach().requires_grad_()
    y = f(inputs)
    unit = torch.eye(y.numel(), dtype=y.dtype).view(-1, *y.shape)
    (rows,) = torch.autograd.grad(y, inputs, unit, is_grads_batched=True)
    return rows.reshape(*y.shape, *x.shape)
""",
}
