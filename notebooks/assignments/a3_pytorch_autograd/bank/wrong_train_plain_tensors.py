"""Under no_grad the parameters are replaced by plain tensors."""

EXPECTED = {
    "test_train": "failed:train-rebound-without-gradients",
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
        with torch.no_grad():
            p = {k: v - learning_rate * v.grad for k, v in p.items()}
        losses.append(loss.item())
    return p, losses
""",
}
