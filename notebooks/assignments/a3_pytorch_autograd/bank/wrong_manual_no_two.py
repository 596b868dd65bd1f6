"""The slope of a square without its 2."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-factor-two-missing",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    n, d = x.shape
    y = (x * w + b).tanh()
    dz = y / (n * d) / torch.cosh(x * w + b) ** 2
    return (y * y).sum() / (n * d), dz * w, (dz * x).sum(0), dz.sum(1).view(n, 1)
""",
}
