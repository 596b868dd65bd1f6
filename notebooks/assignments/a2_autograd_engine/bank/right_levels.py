"""Tensors are sorted by the length of the longest way from the result, found by going on until nothing changes."""

CELLS = {
    "tensor": """
class Tensor(Operators):
    __slots__ = ("data", "requires_grad", "grad", "version", "inputs", "vjp", "saved", "depth")
    recording = True

    def __init__(self, data, requires_grad=False):
        for name, value in dict(grad=None, version=[0], inputs=(), vjp=None, saved=(), depth=0).items():
            setattr(self, name, value)
        self.requires_grad = requires_grad
        self.data = np.zeros(np.shape(data))
        self.data[...] = data

    @staticmethod
    def from_op(data, inputs, vjp, saved=()):
        t = Tensor(data)
        if Tensor.recording:
            t.requires_grad = sum(s.requires_grad for s in inputs) > 0
        if t.requires_grad:
            t.vjp, t.inputs = vjp, inputs
            t.saved = [(s, int(s.version[0])) for s in saved]
            t.depth = 1 + max(s.depth for s in inputs)
        return t
""",
    "backward": """
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size != 1:
            raise RuntimeError("several numbers")
        gradient = tensor.data * 0 + 1

    levels = [[] for _ in range(tensor.depth + 1)]
    levels[tensor.depth].append(tensor)
    met = {tensor: np.array(gradient, dtype=float)}
    for level in reversed(levels):
        for t in level:
            g = met.pop(t)
            if t.vjp is None:
                if t.requires_grad:
                    t.grad = g if t.grad is None else t.grad + g
                continue
            if any(s.version[0] != n for s, n in t.saved):
                raise RuntimeError("numbers that are needed were changed")
            for s, part in zip(t.inputs, t.vjp(g)):
                if s.requires_grad:
                    if s in met:
                        met[s] = met[s] + part
                    else:
                        levels[s.depth].append(s)
                        met[s] = np.array(part)
            if not retain_graph:
                def again(gradient):
                    raise RuntimeError("used")
                t.vjp, t.inputs, t.saved = again, (), ()
""",
}
