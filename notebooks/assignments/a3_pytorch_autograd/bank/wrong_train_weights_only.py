"""The biases are forgotten."""

EXPECTED = {
    "test_train": "failed:train-biases-not-updated",
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
        g1, g2 = torch.autograd.grad(loss, [p["W1"], p["W2"]])
        p["W1"].data -= learning_rate * g1
        p["W2"].data -= learning_rate * g2
        losses.append(loss.item())
    return p, losses
""",
}
