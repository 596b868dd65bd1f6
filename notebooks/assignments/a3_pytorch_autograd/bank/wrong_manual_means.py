"""Means over the axes that were broadcast."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-averaged-where-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    n, d = x.shape
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, x.mul(g).sum(0) / n, g.sum(1, keepdim=True) / d
""",
}
