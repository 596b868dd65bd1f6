"""Few operations have a vjp of their own; the rest is put together from them."""

CELLS = {
    "arithmetic": """
def unbroadcast(gradient, shape):
    # einsum knows sums over any axes: name the axes, and leave out those that go.
    gradient = np.asarray(gradient)
    names = list(range(gradient.ndim))
    added = gradient.ndim - len(shape)
    kept = [k for k in names[added:] if shape[k - added] != 1]
    return np.einsum(gradient, names, kept).reshape(shape)


def add(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return Tensor.from_op(
        np.add(a.data, b.data), [a, b], lambda g: [unbroadcast(g, t.shape) for t in (a, b)]
    )


def mul(a, b):
    pair = [as_tensor(a), as_tensor(b)]

    def vjp(g):
        return [unbroadcast(g * other.data, t.shape) for t, other in zip(pair, pair[::-1])]

    return Tensor.from_op(pair[0].data * pair[1].data, pair, vjp, pair)


def power(a, exponent):
    if exponent == 0:
        return mul(a, 0.0) + 1.0
    slope = float(exponent) * a.data ** (float(exponent) - 1.0)
    return Tensor.from_op(a.data ** float(exponent), [a], lambda g: [g * slope])


def neg(a):
    return mul(a, -1)


def sub(a, b):
    return add(a, neg(as_tensor(b)))


def div(a, b):
    return mul(a, power(as_tensor(b), -1))
""",
    "functions": """
def exp(a):
    return Tensor.from_op(np.exp(a.data), [a], lambda g: [g * np.exp(a.data)], [a])


def log(a):
    return Tensor.from_op(np.log(a.data), [a], lambda g: [g * a.data**-1], [a])


def relu(a):
    return mul(a, np.where(a.data > 0, 1.0, 0.0))


def tanh(a):
    # 1 - 2 / (1 + e ** 2a), from operations that know their gradients
    return 1 - 2 / (exp(a * 2) + 1)
""",
    "shapes": """
def summation(a, axis=None, keepdims=False):
    n = len(a.shape)
    axes = tuple(range(n)) if axis is None else tuple(k % n for k in np.atleast_1d(axis))
    kept = tuple(1 if k in axes else a.shape[k] for k in range(n))
    value = a.data.sum(axis=axes, keepdims=keepdims)
    return Tensor.from_op(value, [a], lambda g: [np.zeros(a.shape) + g.reshape(kept)])


def mean(a, axis=None, keepdims=False):
    total = summation(a, axis, keepdims)
    return total * (total.data.size / a.data.size)


def getitem(a, index):
    def vjp(g):
        result = np.zeros(a.shape)
        np.add.at(result, index, g)
        return [result]

    return Tensor.from_op(a.data[index], [a], vjp)


def reshape(a, shape):
    return Tensor.from_op(a.data.reshape(shape), [a], lambda g: [g.reshape(a.shape)])


def transpose(a, axes=None):
    if axes is None:
        return Tensor.from_op(a.data.T, [a], lambda g: [g.T])
    undo = np.empty(len(axes), int)
    undo[list(axes)] = np.arange(len(axes))
    return Tensor.from_op(np.transpose(a.data, axes), [a], lambda g: [np.transpose(g, undo)])
""",
}
