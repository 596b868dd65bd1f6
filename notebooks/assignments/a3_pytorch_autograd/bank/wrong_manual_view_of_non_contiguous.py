"""The values are flattened with view."""

EXPECTED = {"test_manual_gradients": "partial:manual-view-of-non-contiguous"}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    flat = y.view(-1)
    loss = flat.dot(flat) / flat.numel()
    slope = 2 / y.numel() * y * (1 - y * y)
    return loss, slope * w, (slope * x).sum(0), slope.sum(1, keepdim=True)
""",
}
