"""Returns a float."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-loss-without-graph",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y.sum(), leaf)[0]
    return float(((y - t) ** 2).mean() + strength * g.pow(2).sum() / len(g))
""",
}
