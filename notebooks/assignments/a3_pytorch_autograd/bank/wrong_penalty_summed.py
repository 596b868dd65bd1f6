"""A sum over the rows."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-summed-over-rows",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y.sum(), leaf, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * g.norm() ** 2
""",
}
