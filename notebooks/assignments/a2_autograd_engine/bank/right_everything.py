"""A program of its own from top to bottom: no closures, but small classes of operations."""

CELLS = {
    "tensor": """
class Tensor(Operators):
    recording = True

    def __init__(self, data, requires_grad=False):
        self.data = np.float64(1) * np.array(data)
        self.data = np.asarray(self.data)
        self.requires_grad = requires_grad
        self.grad = None
        self.version = [0]
        Tensor.forget(self)

    def forget(self):
        self.inputs = ()
        self.vjp = None
        self.saved = []

    def from_op(data, inputs, vjp, saved=()):
        result = Tensor(data)
        for t in inputs:
            result.requires_grad |= t.requires_grad and Tensor.recording
        if not result.requires_grad:
            return result
        result.inputs = tuple(inputs)
        result.vjp = vjp
        result.saved = [(t, t.version[0]) for t in saved]
        return result
""",
    "arithmetic": """
def unbroadcast(gradient, shape):
    for _ in range(np.ndim(gradient) - len(shape)):
        gradient = np.add.reduce(gradient)
    for axis in np.flatnonzero(np.array(shape) == 1):
        gradient = np.add.reduce(gradient, axis=axis, keepdims=True)
    return gradient


class Operation:
    def __init__(self, *tensors):
        self.tensors = tuple(as_tensor(t) for t in tensors)

    def __call__(self, gradient):
        slopes = self.slopes(*(t.data for t in self.tensors))
        return tuple(unbroadcast(gradient * s, t.shape) for s, t in zip(slopes, self.tensors))

    def result(self):
        value = self.value(*(t.data for t in self.tensors))
        return Tensor.from_op(value, self.tensors, self, self.tensors)


class Add(Operation):
    def value(self, x, y):
        return x + y

    def slopes(self, x, y):
        return 1, 1


class Sub(Operation):
    def value(self, x, y):
        return x - y

    def slopes(self, x, y):
        return 1, -1


class Mul(Operation):
    def value(self, x, y):
        return x * y

    def slopes(self, x, y):
        return y, x


class Div(Operation):
    def value(self, x, y):
        return x / y

    def slopes(self, x, y):
        return 1 / y, -x / (y * y)


class Power(Operation):
    exponent = 1

    def value(self, x):
        return x**self.exponent

    def slopes(self, x):
        return [self.exponent * x ** (self.exponent - 1) if self.exponent else 0 * x]


def add(a, b):
    return Add(a, b).result()


def sub(a, b):
    return Sub(a, b).result()


def mul(a, b):
    return Mul(a, b).result()


def div(a, b):
    return Div(a, b).result()


def neg(a):
    return Sub(0.0, a).result()


def power(a, exponent):
    operation = Power(a)
    operation.exponent = exponent
    return operation.result()
""",
}
