"""An invented step with momentum: nothing known."""

EXPECTED = {
    "test_train": "failed",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    velocity = {k: torch.zeros_like(v) for k, v in p.items()}
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        for k, g in zip(p, torch.autograd.grad(loss, list(p.values()))):
            velocity[k] = 0.9 * velocity[k] + 0.5 * g
            p[k].data.sub_(learning_rate * velocity[k])
        losses.append(loss.item())
    return p, losses
""",
}
