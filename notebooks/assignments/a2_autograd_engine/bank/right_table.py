"""The elementwise operations come from a table of slopes."""

CELLS = {
    "arithmetic": """
def unbroadcast(gradient, shape):
    result = np.zeros(shape)
    view = np.broadcast_to(np.arange(result.size).reshape(shape), gradient.shape)
    np.add.at(result.reshape(-1), view.ravel(), np.ravel(gradient))
    return result


def binary(value, slopes):
    def operation(a, b):
        a, b = map(as_tensor, (a, b))
        x, y = a.data.copy(), b.data.copy()

        def vjp(gradient):
            da, db = slopes(x, y)
            return unbroadcast(gradient * da, a.shape), unbroadcast(gradient * db, b.shape)

        return Tensor.from_op(value(x, y), (a, b), vjp)

    return operation


add = binary(np.add, lambda x, y: (1.0, 1.0))
sub = binary(np.subtract, lambda x, y: (1.0, -1.0))
mul = binary(np.multiply, lambda x, y: (y, x))
div = binary(np.divide, lambda x, y: (1 / y, -x / y**2))


def unary(value, slope):
    def operation(a):
        x = a.data.copy()
        return Tensor.from_op(value(x), (a,), lambda gradient: (gradient * slope(x),))

    return operation


neg = unary(np.negative, lambda x: -1.0)


def power(a, exponent):
    slope = (lambda x: exponent * x ** (exponent - 1)) if exponent else (lambda x: 0.0)
    return unary(lambda x: x**exponent, slope)(a)
""",
    "functions": """
def of_entries(value, slope):
    def operation(a):
        x = np.array(a.data)
        return Tensor.from_op(value(x), [a], lambda gradient: [slope(x) * gradient])

    return operation


exp = of_entries(np.exp, np.exp)
log = of_entries(np.log, np.reciprocal)
relu = of_entries(lambda x: x.clip(0), lambda x: (x >= 0).astype(float))
tanh = of_entries(np.tanh, lambda x: np.cosh(x) ** -2.0)
""",
}
