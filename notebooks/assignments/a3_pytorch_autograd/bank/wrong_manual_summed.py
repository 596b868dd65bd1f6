"""A sum for a mean, in the loss and in the gradients."""

EXPECTED = {
    "test_manual_gradients": "failed:manual-summed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(b + w * x)
    dz = 2 * (y - y**3)
    return torch.sum(y * y), w * dz, torch.einsum("nd,nd->d", x, dz), dz.sum(1)[:, None]
""",
}
