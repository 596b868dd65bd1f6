"""Gradients by torch.autograd.grad in training, the step through .data, jacobian from vjp with unit vectors."""

EXPECTED = {}
CELLS = {
    "jacobian": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    (y * v).sum().backward(inputs=[x])
    return y.detach(), x.grad


def jacobian(f, x):
    shape = f(x).shape
    rows = []
    for i in range(shape.numel()):
        unit = torch.zeros(shape.numel(), dtype=x.dtype)
        unit[i] = 1
        rows.append(vjp(f, x, unit.view(shape))[1])
    return torch.cat([r.reshape(1, -1) for r in rows]).reshape(*shape, *x.shape)
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    params = {k: v.data.clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        out = torch.tanh(x[b].matmul(params["W1"]) + params["b1"]).matmul(params["W2"]) + params["b2"]
        loss = (out.view(-1) - t[b]).square().mean()
        grads = torch.autograd.grad(loss, params.values())
        for p, g in zip(params.values(), grads):
            p.data = p.data - learning_rate * g
        losses += [loss.detach()]
    return params, losses
""",
}
