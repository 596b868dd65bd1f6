"""(N, 1) minus (N,)."""

EXPECTED = {
    "test_train": "failed:train-targets-broadcast",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        out = torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
        loss = (t[b] - out).pow(2).mean()
        loss.backward()
        for v in p.values():
            v.data -= learning_rate * v.grad
            v.grad = None
        losses.append(loss.item())
    return p, losses
""",
}
