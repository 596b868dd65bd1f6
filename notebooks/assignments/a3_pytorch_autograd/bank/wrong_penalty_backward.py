"""The slopes by backward(): parameters get gradients too early."""

EXPECTED = {
    "test_penalised_loss": "partial:penalty-leaves-gradients",
}
KIND = "fault"
CELLS = {
    "penalised_loss": """
def penalised_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    y.backward(torch.ones_like(y), create_graph=True)
    return torch.nn.functional.mse_loss(y, t) + strength * leaf.grad.pow(2).sum() / len(x)
""",
}
