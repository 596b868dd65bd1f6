"""1 - z ** 2 for the slope."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-tanh-slope-of-z",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    z = x * w + b
    y = torch.tanh(z)
    g = 2 * y / y.numel()
    g = g - g * z * z
    return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)
""",
}
