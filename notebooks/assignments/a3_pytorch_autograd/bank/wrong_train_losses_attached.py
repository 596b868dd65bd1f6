"""The list of losses holds graphs."""

EXPECTED = {
    "test_train": "partial:train-losses-keep-the-graph",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        losses.append(torch.nn.functional.mse_loss(out, t[b]))
        losses[-1].backward()
        for v in p.values():
            v.data -= learning_rate * v.grad
            v.grad = None
    return p, losses
""",
}
