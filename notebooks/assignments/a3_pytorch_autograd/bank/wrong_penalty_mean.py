"""Slopes of the mean prediction."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-of-the-mean",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(torch.mean(y), leaf, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * torch.einsum("nd,nd->n", g, g).mean()
""",
}
