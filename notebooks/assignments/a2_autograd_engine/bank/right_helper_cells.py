"""Helpers in cells of their own."""

CELLS = {
    "shapes": """
def summation(a, axis=None, keepdims=False):
    return linear_map(a, lambda x: x.sum(axis, keepdims=keepdims), lambda g: stretched(g, a.shape, axis, keepdims))


def mean(a, axis=None, keepdims=False):
    n = a.data.size / a.data.sum(axis).size
    return linear_map(
        a, lambda x: x.mean(axis, keepdims=keepdims), lambda g: stretched(g, a.shape, axis, keepdims) / n
    )


def reshape(a, shape):
    return linear_map(a, lambda x: x.reshape(shape), lambda g: g.reshape(a.shape))


def transpose(a, axes=None):
    axes = tuple(range(len(a.shape) - 1, -1, -1)) if axes is None else axes
    back = sorted(range(len(axes)), key=axes.__getitem__)
    return linear_map(a, lambda x: x.transpose(axes), lambda g: g.transpose(back))


def getitem(a, index):
    return linear_map(a, lambda x: x[index], lambda g: placed(g, a.shape, index))
""",
}
EXTRA = [
    (
        "test_functions",
        """
def linear_map(a, there, back):
    return Tensor.from_op(there(a.data), (a,), lambda gradient: (back(gradient),))


def stretched(gradient, shape, axis, keepdims):
    if axis is None:
        return np.full(shape, float(np.sum(gradient)))
    if not keepdims:
        gradient = np.expand_dims(gradient, axis)
    return np.broadcast_to(gradient, shape)


def placed(gradient, shape, index):
    result = np.zeros(shape)
    np.add.at(result, index, gradient)
    return result
""",
    ),
]
