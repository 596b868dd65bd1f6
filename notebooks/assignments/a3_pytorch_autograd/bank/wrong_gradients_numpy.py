"""The value of f passes through a Python float."""

EXPECTED = {
    "test_gradients": "failed:gradients-value-cut-off",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    loss = torch.tensor(float(f(*leaves)))
    return torch.autograd.grad(loss, leaves, materialize_grads=True)
""",
}
