"""Deep copies, whose gradients are set back at the end of a step only."""

EXPECTED = {
    "test_train": "partial:train-old-gradient-used",
}
KIND = "fault"
CELLS = {
    "train": """
from copy import deepcopy


def train(x, t, params, learning_rate, batches):
    p = deepcopy(params)
    for v in p.values():
        v.requires_grad = True
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        with torch.no_grad():
            for v in p.values():
                v -= learning_rate * v.grad
                v.grad.zero_()
        losses.append(loss.item())
    return p, losses
""",
}
