"""Nothing is summed back."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-broadcast-not-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, g * x, g
""",
}
