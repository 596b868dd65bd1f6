"""Only the gradient of the first tensor."""

EXPECTED = {
    "test_gradients": "failed:gradients-first-only",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    return (torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)[0],)
""",
}
