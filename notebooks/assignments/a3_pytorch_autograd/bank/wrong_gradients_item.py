"""The value of f is made into a new tensor that requires gradients."""

EXPECTED = {
    "test_gradients": "failed:gradients-value-cut-off",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    loss = torch.tensor(f(*leaves).item(), requires_grad=True)
    loss.backward()
    return tuple(t.grad if t.grad is not None else torch.zeros_like(t) for t in leaves)
""",
}
