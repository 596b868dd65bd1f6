"""The caller's x requires gradients afterwards."""

EXPECTED = {
    "test_penalised_loss": "partial:penalty-marks-x",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    x.requires_grad = True
    y = f(x)
    g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)
""",
}
