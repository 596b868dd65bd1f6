"""backward() into the caller's .grad; a result of other operations has none."""

EXPECTED = {
    "test_gradients": "partial:gradients-in-the-callers-grad",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    for t in tensors:
        t.requires_grad_(True)
    f(*tensors).backward()
    return tuple(t.grad.clone() if t.grad is not None else torch.zeros(t.shape, dtype=t.dtype) for t in tensors)
""",
}
