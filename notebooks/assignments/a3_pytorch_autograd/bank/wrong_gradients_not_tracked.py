"""Copies that nobody watches."""

EXPECTED = {
    "test_gradients": "failed:gradients-inputs-not-tracked",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    copies = [t.detach().clone() for t in tensors]
    y = f(*copies)
    return torch.autograd.grad(y, copies, allow_unused=True)
""",
}
