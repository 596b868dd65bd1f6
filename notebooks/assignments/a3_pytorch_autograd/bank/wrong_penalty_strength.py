"""strength is not used."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-strength-ignored",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y.sum(), leaf, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + g.pow(2).sum() / len(g)
""",
}
