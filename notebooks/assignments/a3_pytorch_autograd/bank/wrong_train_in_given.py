"""The given tensors are trained."""

EXPECTED = {
    "test_train": "partial:train-given-params-used",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    for v in params.values():
        v.requires_grad = True
    losses = []
    for b in batches:
        for v in params.values():
            v.grad = None
        out = (torch.tanh(x[b] @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        with torch.no_grad():
            for v in params.values():
                v -= learning_rate * v.grad
        losses.append(loss.item())
    return params, losses
""",
}
