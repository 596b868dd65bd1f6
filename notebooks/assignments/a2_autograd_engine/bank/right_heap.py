"""Every result gets a serial number, and the backward pass takes the youngest from a heap."""

CELLS = {
    "tensor": """
import itertools

serial = itertools.count()


class Tensor(Operators):
    recording = True

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype="float64", copy=True)
        self.requires_grad = bool(requires_grad)
        self.grad = self.vjp = None
        self.version, self.inputs, self.saved = [0], (), ()
        self.number = next(serial)

    def from_op(data, inputs, vjp, saved=()):
        t = Tensor(data, requires_grad=Tensor.recording and True in [i.requires_grad for i in inputs])
        if t.requires_grad:
            t.inputs, t.vjp, t.saved = tuple(inputs), vjp, tuple((s, s.version[0]) for s in saved)
        return t
""",
    "backward": """
import heapq


class Used:
    def __call__(self, gradient):
        raise RuntimeError("the graph is gone")


def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if np.size(tensor.data) != 1:
            raise RuntimeError("which of these numbers is the loss?")
        gradient = np.full(tensor.shape, 1.0)
    total = {tensor.number: gradient}
    heap = [(-tensor.number, tensor)]
    while heap:
        _, t = heapq.heappop(heap)
        g = total.pop(t.number)
        if t.vjp is None:
            if t.requires_grad:
                t.grad = np.copy(g) if t.grad is None else np.add(t.grad, g)
            continue
        for s, number in t.saved:
            if number < s.version[0]:
                raise RuntimeError("a saved tensor was changed")
        inputs, parts = t.inputs, t.vjp(g)
        if retain_graph is False:
            t.inputs, t.saved, t.vjp = (), (), Used()
        for s, part in zip(inputs, parts):
            if not s.requires_grad:
                pass
            elif s.number in total:
                total[s.number] = total[s.number] + part
            else:
                total[s.number] = part
                heapq.heappush(heap, (-s.number, s))
""",
}
