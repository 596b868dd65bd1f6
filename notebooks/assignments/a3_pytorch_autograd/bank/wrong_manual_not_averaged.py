"""The mean in the loss, not in the gradients."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-gradient-not-averaged",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    dz = 2 * y * (1 - y * y)
    return y.square().mean(), dz * w, (dz * x).sum(0), dz.sum(1, keepdim=True)
""",
}
