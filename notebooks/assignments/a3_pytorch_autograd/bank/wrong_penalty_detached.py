"""The penalty is detached."""

EXPECTED = {
    "test_penalised_loss": "partial:penalty-without-gradient",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    x = x.clone().requires_grad_()
    y = f(x)
    g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    return ((y - t) ** 2).mean() + strength * float((g**2).sum() / len(x))
""",
}
