"""Rows and columns mixed up."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-axes-swapped",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, torch.einsum("nd,nd->n", x, g), g.sum(0, keepdim=True).T
""",
}
