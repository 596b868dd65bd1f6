"""A Tensor whose array lies behind a property, and whose past is one object."""

CELLS = {
    "tensor": """
from collections import namedtuple

Past = namedtuple("Past", "inputs vjp saved")
NOTHING = Past((), None, ())


class Tensor(Operators):
    recording = True

    def __init__(self, data, requires_grad=False):
        self._array = np.array(data, float)
        self.requires_grad, self.grad, self.version, self._past = requires_grad, None, [0], NOTHING

    @property
    def data(self):
        return self._array

    @data.setter
    def data(self, array):
        self._array = array

    inputs = property(lambda self: self._past.inputs, lambda self, new: self._change(inputs=new))
    vjp = property(lambda self: self._past.vjp, lambda self, new: self._change(vjp=new))
    saved = property(lambda self: self._past.saved, lambda self, new: self._change(saved=new))

    def _change(self, **new):
        self._past = self._past._replace(**new)

    @classmethod
    def from_op(cls, data, inputs, vjp, saved=()):
        out = cls(data, cls.recording and any([t.requires_grad for t in inputs]))
        if out.requires_grad:
            out._past = Past(tuple(inputs), vjp, [(t, t.version[0]) for t in saved])
        return out
""",
    "modes": """
class no_grad:
    def __init__(self):
        self.earlier = []

    def __enter__(self):
        self.earlier.append(Tensor.recording)
        setattr(Tensor, "recording", False)

    def __exit__(self, *what):
        setattr(Tensor, "recording", self.earlier.pop())


def detach(a):
    import copy

    other = copy.copy(a)
    other.requires_grad, other.grad = False, None
    other.inputs, other.vjp, other.saved = (), None, ()
    return other


def add_(a, value):
    if (a.requires_grad, Tensor.recording) == (True, True):
        raise RuntimeError("no")
    a.data[()] += value
    a.version[0] += 1
    return a
""",
}
