"""Row by row and entry by entry, in Python."""

EXPECTED = {}
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    n, d = x.shape
    gx, gw, gb = torch.zeros_like(x), torch.zeros_like(w), torch.zeros_like(b)
    loss = 0
    for i in range(n):
        z = x[i] * w + b[i]
        y = torch.tanh(z)
        loss = loss + (y * y).sum() / (n * d)
        s = 2 * y * torch.cosh(z).pow(-2) / (n * d)
        gx[i] = s * w
        gw += s * x[i]
        gb[i] = s.sum()
    return loss, gx, gw, gb
""",
    "jacobian": """
def vjp(f, x, v):
    inputs = x.detach().clone().requires_grad_()
    y = f(inputs)
    y.backward(gradient=v, inputs=[inputs])
    return y.data, inputs.grad


def jacobian(f, x):
    inputs = x.detach().clone().requires_grad_()
    y = f(inputs)
    J = torch.zeros(tuple(y.shape) + tuple(x.shape), dtype=x.dtype)
    one = torch.zeros_like(y)
    for flat in range(y.numel()):
        index = []
        rest = flat
        for size in reversed(y.shape):
            index.insert(0, rest % size)
            rest //= size
        index = tuple(index)
        one.zero_()
        one[index] = 1
        inputs.grad = None
        y.backward(one, retain_graph=True, inputs=[inputs])
        J[index] = inputs.grad
    return J
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    rows = [row.detach().clone().requires_grad_() for row in x]
    total = 0
    for row, target in zip(rows, t):
        y = f(row[None])[0]
        (g,) = torch.autograd.grad(y, row, create_graph=True)
        total = total + (y - target) ** 2 + strength * (g @ g)
    return total / len(rows)
""",
}
