"""`*=` on the caller's x."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-changes-x",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    z = x
    z *= w
    z += b
    y = torch.tanh(z)
    g = 2 * (y - y**3) / y.numel()
    return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)
""",
}
