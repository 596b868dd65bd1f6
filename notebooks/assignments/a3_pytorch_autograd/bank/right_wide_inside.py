"""Exercise 1 in float64 throughout, brought back at the end; gradients by restoring what they touched."""

EXPECTED = {}
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    kind = x.dtype
    x, w, b = x.double(), w.double(), b.double()
    n = x.numel()
    z = x * w + b
    y = torch.tanh(z)
    dz = 2 * torch.sinh(z) / torch.cosh(z) ** 3 / n
    ones = torch.ones(x.shape[1], 1, dtype=dz.dtype)
    grads = dz @ torch.diag(w), (dz * x).T @ torch.ones(len(x), dtype=dz.dtype), dz @ ones
    return ((y * y).mean().to(kind), *(g.to(kind) for g in grads))
""",
    "gradients": """
def gradients(f, tensors):
    copies = []
    for tensor in tensors:
        copy = torch.clone(tensor).detach()
        copy.requires_grad = True
        copies.append(copy)
    f(*copies).backward(inputs=copies)
    return tuple(c.grad if c.grad is not None else torch.zeros_like(c) for c in copies)
""",
}
