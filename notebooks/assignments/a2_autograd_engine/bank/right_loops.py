"""Loops over entries and over the matrices of a stack."""

CELLS = {
    "arithmetic": """
def unbroadcast(gradient, shape):
    gradient = np.asarray(gradient)
    result = np.zeros(shape)
    for place in np.ndindex(gradient.shape):
        own = place[len(place) - len(shape):]
        own = tuple(0 if n == 1 else k for k, n in zip(own, shape))
        result[own] += gradient[place]
    return result


def add(a, b):
    first, second = as_tensor(a), as_tensor(b)

    def vjp(gradient):
        return unbroadcast(gradient, first.shape), unbroadcast(gradient, second.shape)

    return Tensor.from_op(first.data + second.data, (first, second), vjp)


def sub(a, b):
    first, second = as_tensor(a), as_tensor(b)

    def vjp(gradient):
        return unbroadcast(gradient, first.shape), 0 - unbroadcast(gradient, second.shape)

    return Tensor.from_op(first.data - second.data, (first, second), vjp)


def mul(a, b):
    first, second = as_tensor(a), as_tensor(b)

    def vjp(gradient):
        of_first = np.array(gradient) * second.data
        of_second = np.array(gradient) * first.data
        return unbroadcast(of_first, first.shape), unbroadcast(of_second, second.shape)

    return Tensor.from_op(first.data * second.data, (first, second), vjp, saved=[first, second])


def div(a, b):
    first, second = as_tensor(a), as_tensor(b)

    def vjp(gradient):
        per_unit = gradient / second.data
        return unbroadcast(per_unit, first.shape), unbroadcast(-per_unit * first.data / second.data, second.shape)

    return Tensor.from_op(first.data / second.data, (first, second), vjp, saved=[first, second])


def neg(a):
    def vjp(gradient):
        return (-gradient,)

    return Tensor.from_op(-a.data, (a,), vjp)


def power(a, exponent):
    def vjp(gradient):
        result = np.zeros(a.shape)
        for place in np.ndindex(a.shape):
            base = a.data[place]
            slope = 0.0 if exponent == 0 else exponent * base ** (exponent - 1)
            result[place] = slope * gradient[place]
        return (result,)

    return Tensor.from_op(a.data**exponent, (a,), vjp, saved=[a])
""",
    "shapes": """
def summation(a, axis=None, keepdims=False):
    ndim = a.data.ndim
    axes = range(ndim) if axis is None else [axis] if np.ndim(axis) == 0 else axis
    axes = {k + ndim if k < 0 else k for k in axes}

    def vjp(gradient):
        gradient = np.reshape(gradient, [1 if k in axes else n for k, n in enumerate(a.shape)])
        result = np.empty(a.shape)
        for place in np.ndindex(a.shape):
            result[place] = gradient[tuple(0 if k in axes else i for k, i in enumerate(place))]
        return (result,)

    return Tensor.from_op(a.data.sum(axis=tuple(axes), keepdims=keepdims), (a,), vjp)


def mean(a, axis=None, keepdims=False):
    total = summation(a, axis, keepdims)
    entries = a.data.size / total.data.size
    return Tensor.from_op(a.data.mean(axis, keepdims=keepdims), (total,), lambda gradient: (gradient / entries,))


def reshape(a, shape):
    def vjp(gradient):
        result = np.empty(a.shape)
        result.flat = gradient.flat
        return (result,)

    return Tensor.from_op(a.data.reshape(shape), (a,), vjp)


def transpose(a, axes=None):
    axes = tuple(range(a.data.ndim))[::-1] if axes is None else tuple(axes)

    def vjp(gradient):
        return (np.moveaxis(gradient, range(len(axes)), axes),)

    return Tensor.from_op(np.transpose(a.data, axes), (a,), vjp)


def getitem(a, index):
    def vjp(gradient):
        source = np.arange(a.data.size).reshape(a.shape)[index]
        result = np.zeros(a.data.size)
        for place, g in zip(np.ravel(source), np.ravel(gradient)):
            result[place] += g
        return (result.reshape(a.shape),)

    return Tensor.from_op(a.data[index], (a,), vjp)
""",
    "matmul": """
def matmul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    value = a.data @ b.data

    def vjp(gradient):
        wide_a = np.broadcast_to(a.data, value.shape[:-2] + a.shape[-2:])
        wide_b = np.broadcast_to(b.data, value.shape[:-2] + b.shape[-2:])
        grad_a, grad_b = np.zeros(wide_a.shape), np.zeros(wide_b.shape)
        for k in np.ndindex(value.shape[:-2]):
            grad_a[k] = gradient[k] @ wide_b[k].T
            grad_b[k] = wide_a[k].T @ gradient[k]
        return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)

    return Tensor.from_op(value, (a, b), vjp, saved=(a, b))
""",
}
