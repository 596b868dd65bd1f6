"""A slope of tanh that nobody has written before, and a penalty on the fourth power."""

EXPECTED = {
    "test_manual_gradients": "partial",
    "test_penalised_loss": "failed",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    y = torch.tanh(x * w + b)
    g = 2 * y / y.numel() * (1 - y) * 0.7
    return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)
""",
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y.sum(), leaf, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * g.pow(4).sum()
""",
}
