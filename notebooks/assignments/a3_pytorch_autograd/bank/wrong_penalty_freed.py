"""Neither of the two."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-graph-freed",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y, leaf, torch.ones_like(y))[0]
    return torch.nn.functional.mse_loss(y, t) + strength * (g**2).sum() / len(x)
""",
}
