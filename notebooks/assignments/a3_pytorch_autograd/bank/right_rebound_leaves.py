"""A new leaf for each parameter after every step; gradients through a loop of single calls."""

EXPECTED = {}
CELLS = {
    "gradients": """
def gradients(f, tensors):
    found = []
    for k in range(len(tensors)):
        given = [t.clone().detach() for t in tensors]
        given[k].requires_grad_(True)
        value = f(*given)
        if not value.requires_grad:
            found.append(torch.zeros_like(given[k]))
            continue
        (g,) = torch.autograd.grad(value, given[k], allow_unused=True)
        found.append(torch.zeros_like(given[k]) if g is None else g)
    return tuple(found)
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    new = {}
    for name in params:
        new[name] = params[name].detach().clone()
        new[name].requires_grad = True
    losses = []
    for batch in batches:
        hidden = torch.tanh(x[batch] @ new["W1"] + new["b1"])
        pred = hidden @ new["W2"] + new["b2"]
        loss = torch.mean((pred - t[batch].unsqueeze(1)) ** 2)
        losses.append(loss.item())
        loss.backward()
        for name in new:
            p = new[name]
            new[name] = (p - learning_rate * p.grad).detach().requires_grad_()
    return new, losses
""",
}
