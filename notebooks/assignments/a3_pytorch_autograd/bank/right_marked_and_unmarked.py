"""The given x is watched for a while; f need not depend on it. x and t may require gradients in training."""

EXPECTED = {}
CELLS = {
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    x.requires_grad = True
    y = f(x)
    (g,) = torch.autograd.grad([y.sum() + 0 * x.sum()], [x], create_graph=True)
    x.requires_grad = False
    return ((y - t).square() + strength * torch.einsum("nd,nd->n", g, g)).mean()
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    x, t = x.detach(), t.detach()

    def cost(weights, b):
        hidden = torch.addmm(weights["b1"], x[b], weights["W1"]).tanh()
        return torch.nn.functional.mse_loss(torch.addmv(weights["b2"], hidden, weights["W2"][:, 0]), t[b])

    losses, now = [], {name: tensor.detach() for name, tensor in params.items()}
    for b in batches:
        slopes, loss = torch.func.grad_and_value(cost)(now, b)
        now = {name: torch.sub(now[name], slopes[name], alpha=learning_rate) for name in now}
        losses.append(loss)
    return {name: tensor.requires_grad_() for name, tensor in now.items()}, losses
""",
}
