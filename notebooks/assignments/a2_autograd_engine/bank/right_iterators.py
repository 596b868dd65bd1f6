"""A depth-first search with a stack of iterators; gradients are collected in lists and summed at the end."""

CELLS = {
    "backward": """
def in_order(tensor):
    done, order = {id(tensor)}, []
    path = [(tensor, iter(tensor.inputs))]
    while path:
        t, rest = path[-1]
        for s in rest:
            if s.requires_grad and id(s) not in done:
                done.add(id(s))
                path.append((s, iter(s.inputs)))
                break
        else:
            order.append(t)
            path.pop()
    return order


def spent(_):
    raise RuntimeError("spent")


def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None and tensor.data.size > 1:
        raise RuntimeError("gradient missing")
    parts = {id(tensor): [np.ones(tensor.shape) if gradient is None else gradient]}
    order = in_order(tensor)
    while order:
        t = order.pop()
        g = sum(parts.pop(id(t)), np.zeros(t.shape))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = g + (t.grad if t.grad is not None else 0)
        else:
            if [s.version[0] for s, _ in t.saved] != [n for _, n in t.saved]:
                raise RuntimeError("changed")
            for s, part in zip(t.inputs, t.vjp(g)):
                if s.requires_grad:
                    parts.setdefault(id(s), []).append(part)
            if not retain_graph:
                vars(t).update(vjp=spent, inputs=(), saved=[])
""",
}
