"""retain_graph where create_graph belongs."""

EXPECTED = {
    "test_penalised_loss": "partial:penalty-without-gradient",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    g = torch.autograd.grad(f(leaf).sum(), leaf)[0]
    return ((f(x) - t) ** 2).mean() + strength * (g**2).sum() / len(x)
""",
}
