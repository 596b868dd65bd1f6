"""One fused update for all parameters under no_grad; .grad set to None before each backward pass."""

EXPECTED = {}
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    names = list(params)
    tensors = [params[n].detach().clone().requires_grad_() for n in names]
    losses = []
    for batch in batches:
        p = dict(zip(names, tensors))
        out = torch.tanh(torch.addmm(p["b1"], x[batch], p["W1"])) @ p["W2"] + p["b2"]
        loss = (out.flatten() - t[batch]).pow(2).sum() / len(batch)
        for tensor in tensors:
            tensor.grad = None
        torch.autograd.backward(loss)
        with torch.no_grad():
            torch._foreach_add_(tensors, [tensor.grad for tensor in tensors], alpha=-learning_rate)
        losses.append(float(loss))
    return dict(zip(names, tensors)), losses
""",
}
