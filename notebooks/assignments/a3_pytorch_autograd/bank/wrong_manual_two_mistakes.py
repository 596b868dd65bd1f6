"""The slope of tanh and the sum for w both missing."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-tanh-slope-missing+manual-w-not-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = y / y.numel() * 2
    return y.pow(2).mean(), w * g, x * g, g.sum(1)[:, None]
""",
}
