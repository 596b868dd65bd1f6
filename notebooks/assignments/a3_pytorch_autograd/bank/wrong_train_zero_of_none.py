"""zero_() on the .grad of a new tensor."""

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
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        for k in p:
            p[k] = p[k] - learning_rate * p[k].grad
            p[k].grad.zero_()
        losses.append(loss.item())
    return p, losses
""",
}
