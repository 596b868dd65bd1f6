"""Slopes of the squared error."""

EXPECTED = {
    "test_penalised_loss": "failed:penalty-of-the-error",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    loss = torch.nn.functional.mse_loss(f(leaf), t)
    g = torch.autograd.grad(loss, leaf, create_graph=True)[0]
    return loss + strength * torch.einsum("nd,nd->n", g, g).mean()
""",
}
