"""The slope of tanh left out."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-tanh-slope-missing",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = y * 2 / x.numel()
    return (y**2).mean(), g * w, (x * g).sum(axis=0), g.sum(axis=1, keepdims=True)
""",
}
