"""Wrong answers to `backward`."""

from autograder.bank import Wrong

BASES = {
    "kahn": '''
def backward(tensor, gradient=None, retain_graph=False):
    if gradient is None:
        if tensor.data.size > 1:
            raise RuntimeError("not a single number")
        gradient = np.ones(tensor.shape)
    # Count who waits for whom, then take whoever waits for nobody (Kahn).
    users, found, todo = {}, {id(tensor)}, [tensor]
    while todo:
        for t in todo.pop().inputs:
            users[id(t)] = users.get(id(t), 0) + 1
            if id(t) not in found:
                found.add(id(t))
                todo.append(t)
    arriving = {id(tensor): gradient.astype(float)}
    ready = [tensor]
    while ready:
        t = ready.pop()
        g = arriving.pop(id(t))
        if t.vjp is None:
            if t.requires_grad:
                t.grad = g.copy() if t.grad is None else t.grad + g
            continue
        if any(s.version[0] != n for s, n in t.saved):
            raise RuntimeError("changed in place")
        back = t.vjp(g)
        inputs = t.inputs
        if not retain_graph:
            def gone(gradient):
                raise RuntimeError("used already")
            t.vjp, t.inputs, t.saved = gone, (), ()
        for parent, part in zip(inputs, back):
            if id(parent) in arriving:
                arriving[id(parent)] = arriving[id(parent)] + part
            else:
                arriving[id(parent)] = part
            users[id(parent)] -= 1
            if users[id(parent)] == 0:
                ready.append(parent)
''',
}

WRONG = [
    Wrong("wrong_backward_overwritten", "A later use replaces the gradient of an earlier one.")
    .expect(test_backward="partial:gradients-overwritten")
    .edit("arriving[id(parent)] = arriving[id(parent)] + part", "arriving[id(parent)] = part"),
]
