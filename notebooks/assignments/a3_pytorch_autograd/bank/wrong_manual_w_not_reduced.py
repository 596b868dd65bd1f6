"""grad_w keeps its rows."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-w-not-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, x.mul(g), g.sum(1, keepdim=True)
""",
}
