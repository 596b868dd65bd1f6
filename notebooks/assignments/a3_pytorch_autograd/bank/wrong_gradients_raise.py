"""autograd.grad as it is by default."""

EXPECTED = {
    "test_gradients": "partial:gradients-unused-raises",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [torch.nn.Parameter(t.detach().clone()) for t in tensors]
    return torch.autograd.grad(outputs=f(*leaves), inputs=leaves)
""",
}
