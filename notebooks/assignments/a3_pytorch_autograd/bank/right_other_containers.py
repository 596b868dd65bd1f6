"""Named tuples, lists for tuples, an OrderedDict; parameters for leaves; a float for the loss."""

CELLS = {
    "manual_gradients": """
from collections import OrderedDict
from typing import NamedTuple


class Gradients(NamedTuple):
    loss: float
    x: torch.Tensor
    w: torch.Tensor
    b: torch.Tensor


def manual_gradients(x, w, b):
    z = torch.addcmul(b, x, w)
    small = torch.exp(-2 * abs(z))
    y = torch.tanh(z)
    back = y * small / (1 + small).square() * (8 / z.numel())
    return Gradients(y.square().mean().item(), back * w, torch.einsum("nd,nd->d", back, x), back.sum(1)[:, None])
""",
    "gradients": """
def gradients(f, tensors):
    leaves = list(map(torch.nn.Parameter, [t.detach().clone() for t in tensors]))
    found = torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
    return [torch.zeros_like(leaf.data) if g is None else g for leaf, g in zip(leaves, found)]
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    rows = torch.nn.Parameter(x.clone())
    predictions = f(rows)
    (slopes,) = torch.autograd.grad([predictions], [rows], [torch.ones_like(predictions)], create_graph=True)
    return sum((predictions - t) ** 2 + strength * (slopes * slopes).sum(-1)) / len(x)
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    now = OrderedDict((k, torch.nn.Parameter(v.detach().clone())) for k, v in params.items())
    losses = ()
    for rows in batches:
        hidden = torch.tanh(torch.addmm(now["b1"], x[rows], now["W1"]))
        loss = (torch.addmm(now["b2"], hidden, now["W2"]).flatten() - t[rows]).square().mean()
        for value, slope in zip(now.values(), torch.autograd.grad(loss, tuple(now.values()))):
            value.data.add_(slope, alpha=-learning_rate)
        losses += (loss.detach(),)
    return [now, losses]
""",
}
