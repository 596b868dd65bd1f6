"""W = W - ... with autograd watching: no .grad in the second step."""

EXPECTED = {
    "test_train": "failed:train-gradient-is-none",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    W1, b1, W2, b2 = [params[k].detach().clone().requires_grad_() for k in ("W1", "b1", "W2", "b2")]
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ W1 + b1) @ W2 + b2)[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        W1 = W1 - learning_rate * W1.grad
        b1 = b1 - learning_rate * b1.grad
        W2 = W2 - learning_rate * W2.grad
        b2 = b2 - learning_rate * b2.grad
        losses.append(loss.item())
    return {"W1": W1, "b1": b1, "W2": W2, "b2": b2}, losses
""",
}
