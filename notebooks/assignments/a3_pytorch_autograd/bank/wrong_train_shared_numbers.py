"""detach() without clone(): the given numbers change."""

EXPECTED = {
    "test_train": "partial:train-given-params-changed",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: torch.nn.Parameter(v.data) for k, v in params.items()}
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        with torch.no_grad():
            for v in p.values():
                v -= learning_rate * v.grad
                v.grad = None
        losses.append(loss.item())
    return p, losses
""",
}
