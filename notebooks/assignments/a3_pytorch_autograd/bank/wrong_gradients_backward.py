"""backward() on copies: weights that f uses get something into .grad."""

EXPECTED = {
    "test_gradients": "partial:gradients-left-in-other-tensors",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = []
    for t in tensors:
        leaf = t.detach().clone()
        leaf.requires_grad = True
        leaves.append(leaf)
    f(*leaves).backward()
    found = []
    for leaf in leaves:
        found.append(leaf.grad if leaf.grad is not None else leaf.detach() * 0)
    return tuple(found)
""",
}
