"""None for a tensor that is not used."""

EXPECTED = {
    "test_gradients": "partial:gradients-unused-is-none",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    f(*leaves).backward(inputs=leaves)
    return tuple(leaf.grad for leaf in leaves)
""",
}
