"""Only the last loss is kept."""

EXPECTED = {
    "test_train": "partial:train-only-last-loss",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    for b in batches:
        losses = []
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        for v, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)
        losses.append(loss.item())
    return p, losses
""",
}
