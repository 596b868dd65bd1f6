"""W1 and b1 are left out of the step."""

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
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        grads = torch.autograd.grad(loss, [p["W2"], p["b2"]])
        p["W2"].data -= learning_rate * grads[0]
        p["b2"].data -= learning_rate * grads[1]
        losses.append(loss.item())
    return p, losses
""",
}
