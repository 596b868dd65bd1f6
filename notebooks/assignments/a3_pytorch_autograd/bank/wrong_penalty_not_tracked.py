"""x is not watched."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-x-not-tracked",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    y = f(x)
    g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)
""",
}
