"""Gradients are zeroed in place after the step, losses kept as detached tensors, the graph retained without need."""

EXPECTED = {}
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    W1, b1, W2, b2 = (params[k].clone().detach().requires_grad_(True) for k in ("W1", "b1", "W2", "b2"))
    losses = []
    for batch in batches:
        h = (x[batch] @ W1 + b1).tanh()
        out = (h @ W2 + b2)[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[batch])
        loss.backward(retain_graph=True)
        with torch.no_grad():
            for p in (W1, b1, W2, b2):
                p.sub_(learning_rate * p.grad)
                p.grad.zero_()
        losses.append(loss.detach())
    return {"W1": W1, "b1": b1, "W2": W2, "b2": b2}, losses
""",
}
