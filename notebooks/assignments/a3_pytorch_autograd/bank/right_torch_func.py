"""Everything that torch.func has ready-made."""

EXPECTED = {}
CELLS = {
    "gradients": """
def gradients(f, tensors):
    inputs = tuple(t.detach() for t in tensors)
    found = torch.func.grad(f, argnums=tuple(range(len(inputs))))(*inputs)
    return tuple(g.detach() for g in found)
""",
    "jacobian": """
def vjp(f, x, v):
    y, back = torch.func.vjp(f, x.detach())
    return y.detach(), back(v)[0].detach()


def jacobian(f, x):
    return torch.func.jacrev(f)(x.detach()).detach()
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    prediction, back = torch.func.vjp(f, x)
    (slopes,) = back(torch.ones_like(prediction))
    return (prediction - t).pow(2).mean() + strength * slopes.pow(2).sum() / len(x)
""",
    "train": """
from torch.func import grad_and_value


def batch_loss(p, x, t):
    out = torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    return torch.mean((out - t[:, None]) ** 2)


def train(x, t, params, learning_rate, batches):
    p = {k: v.detach() for k, v in params.items()}
    losses = []
    for rows in batches:
        g, loss = grad_and_value(batch_loss)(p, x[rows], t[rows])
        losses.append(float(loss))
        p = {k: p[k] - learning_rate * g[k] for k in p}
    return {k: v.clone().requires_grad_() for k, v in p.items()}, losses
""",
}
