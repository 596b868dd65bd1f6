"""The loss after the step."""

EXPECTED = {
    "test_train": "partial:train-losses-after-the-step",
}
KIND = "fault"
CELLS = {
    "train": """
def _loss(p, x, t):
    return torch.nn.functional.mse_loss((torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0], t)


def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        for v, g in zip(p.values(), torch.autograd.grad(_loss(p, x[b], t[b]), list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)
        losses.append(_loss(p, x[b], t[b]).item())
    return p, losses
""",
}
