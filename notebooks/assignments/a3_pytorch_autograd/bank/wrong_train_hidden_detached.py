"""The hidden values are detached: W1 has no gradient."""

EXPECTED = {
    "test_train": "failed:train-gradient-is-none",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        hidden = torch.tanh(x[b] @ p["W1"] + p["b1"]).detach()
        loss = torch.nn.functional.mse_loss((hidden @ p["W2"] + p["b2"])[:, 0], t[b])
        loss.backward()
        with torch.no_grad():
            for v in p.values():
                v -= learning_rate * v.grad
                v.grad = None
        losses.append(loss.item())
    return p, losses
""",
}
