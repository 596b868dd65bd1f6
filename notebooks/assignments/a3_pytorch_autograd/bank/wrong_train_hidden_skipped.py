"""Hidden values detached, and parameters without a gradient skipped."""

EXPECTED = {
    "test_train": "failed:train-first-layer-cut-off",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        hidden = torch.tanh(x[b] @ p["W1"].data + p["b1"].data)
        loss = torch.nn.functional.mse_loss((hidden @ p["W2"] + p["b2"])[:, 0], t[b])
        loss.backward()
        for v in p.values():
            if v.grad is not None:
                v.data -= learning_rate * v.grad
                v.grad = None
        losses.append(loss.item())
    return p, losses
""",
}
