"""no_grad can be used as a decorator, too; a stack remembers what recording was."""

CELLS = {
    "modes": """
import contextlib


class no_grad(contextlib.ContextDecorator):
    stack = []

    def __enter__(self):
        no_grad.stack.append(Tensor.recording)
        Tensor.recording = False
        return self

    def __exit__(self, kind, error, trace):
        Tensor.recording = no_grad.stack.pop()
        return False


def detach(a):
    new = object.__new__(Tensor)
    Tensor.__init__(new, 0)
    for name in ("data", "version"):
        setattr(new, name, getattr(a, name))
    return new


def add_(a, value):
    if a.requires_grad:
        if Tensor.recording:
            raise RuntimeError("under no_grad only")
    np.add(a.data, value, out=a.data)
    a.version[0] += 1
    return a
""",
}
