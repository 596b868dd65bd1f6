"""create_graph=True, to be on the safe side."""

EXPECTED = {
    "test_gradients": "partial:gradients-carry-a-graph",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    found = torch.autograd.grad(f(*leaves), leaves, create_graph=True, allow_unused=True)
    return tuple(torch.zeros_like(t) if g is None else g for g, t in zip(found, leaves))
""",
}
