"""Divided by len(x)."""

EXPECTED = {
    "test_manual_gradients": "partial:manual-averaged-over-rows",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = (x * w + b).tanh()
    dz = 2 / len(x) * y * (1 - y * y)
    return (y * y).mean(), dz * w, torch.sum(dz * x, dim=0), torch.sum(dz, dim=1, keepdim=True)
""",
}
