"""The given tensors are marked, where they can be."""

EXPECTED = {
    "test_gradients": "partial:gradients-of-the-callers-own-tensors",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    for t in tensors:
        if t.is_leaf:
            t.requires_grad = True
    found = torch.autograd.grad(f(*tensors), tensors, allow_unused=True)
    return tuple(torch.zeros_like(t) if g is None else g for g, t in zip(found, tensors))
""",
}
