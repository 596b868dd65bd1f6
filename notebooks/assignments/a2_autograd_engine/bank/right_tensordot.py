"""Both gradients of a product with tensordot-like einsum strings, and copies in place of saved tensors."""

CELLS = {
    "matmul": """
def matmul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    x, y = a.data.copy(), b.data.copy()
    swap = lambda m: m.swapaxes(m.ndim - 1, m.ndim - 2)
    gradient_a = lambda g: unbroadcast(swap(y @ swap(g)), a.shape)
    gradient_b = lambda g: unbroadcast(swap(swap(g) @ x), b.shape)
    return Tensor.from_op(np.einsum("...ij,...jk->...ik", x, y), (a, b), lambda g: (gradient_a(g), gradient_b(g)))
""",
    "functions": """
def exp(a):
    y = np.exp(a.data)
    keep = y.copy()
    return Tensor.from_op(y, (a,), lambda g: (keep * g,))


def log(a):
    keep = a.data.copy()
    return Tensor.from_op(np.log(keep), (a,), lambda g: (g / keep,))


def relu(a):
    off = a.data < 0
    y = a.data.copy()
    y[off] = 0

    def vjp(g):
        g = np.array(g)
        g[off] = 0
        return (g,)

    return Tensor.from_op(y, (a,), vjp)


def tanh(a):
    e = np.exp(-2 * np.abs(a.data))
    y = np.sign(a.data) * (1 - e) / (1 + e)
    return Tensor.from_op(y, (a,), lambda g: (g * 4 * e / (1 + e) ** 2,))
""",
}
