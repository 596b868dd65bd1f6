"""backward() into the caller's own .grad."""

EXPECTED = {
    "test_gradients": "partial:gradients-in-the-callers-grad",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    for t in tensors:
        t.requires_grad_()
        t.retain_grad()
    y = f(*tensors)
    y.backward()
    return tuple(t.grad if t.grad is not None else torch.zeros_like(t) for t in tensors)
""",
}
