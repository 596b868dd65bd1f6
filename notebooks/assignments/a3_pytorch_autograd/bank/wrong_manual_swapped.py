"""x where w belongs, and the other way round."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-x-and-w-swapped",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), x * g, (w * g).sum(0), g.sum(1, keepdim=True)
""",
}
