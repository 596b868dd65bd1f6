"""grad_b keeps its columns."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-b-not-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, x.mul(g).sum(0), torch.ones_like(b) * g
""",
}
