"""What the judge of a2 runs beside the student's code: build, call, hand back. Nothing here knows a right answer.

Tensors cannot travel as data. So a probe makes them from arrays, runs a program on them, or one of the scenarios below,
and returns arrays. A gradient that is not there is left out. Exercise 1, 2 and 7 are tried with operations of the
probe's own, so that they do not need those of later exercises.
"""

# --- programs -------------------------------------------------------------------------------------------------------


def run_program(ns, code, leaves, gradient):
    """The result y of a program and the gradients of its leaves x0, x1, ...; c0, c1, ... do not require any."""
    tensors = {name: ns.Tensor(value, requires_grad=name[0] == "x") for name, value in leaves.items()}
    names = dict(tensors)
    exec(code, names)
    value = names["y"].data.copy()
    ns.backward(names["y"], gradient)
    return [value, *(t.grad for name, t in tensors.items() if name[0] == "x")]


def run_programs(ns, programs, numbers):
    """The answers of many programs, up to the first that raises: all their numbers in a row, and the shapes that these
    have. programs: code, names and shapes of leaves, and the shape of the gradient; `numbers` holds theirs in a row.
    """
    import contextlib

    import numpy as np

    at, found = 0, []
    with contextlib.suppress(Exception):
        for code, leaves, shape in programs:
            names = {}
            for name, of in [*leaves.items(), ("gradient", shape)]:
                size = int(np.prod(of))
                names[name] = numbers[at : at + size].reshape(of)
                at += size
            gradient = names.pop("gradient")
            tensors = {name: ns.Tensor(value, requires_grad=name[0] == "x") for name, value in names.items()}
            names = dict(tensors)
            exec(code, names)
            answers = [names["y"].data.copy()]
            ns.backward(names["y"], gradient)
            answers += [np.asarray(t.grad, dtype=float) for name, t in tensors.items() if name[0] == "x"]
            found.append(answers)
    answers = [answer for one in found for answer in one]
    shapes = [float(n) for answer in answers for n in (answer.ndim, *answer.shape)]
    return [np.concatenate([answer.ravel() for answer in answers] or [np.zeros(0)]), np.array(shapes)]


def run_changed(ns, code, leaves, gradient, changed):
    """The gradients of a program's leaves x0, x1 if a tensor is changed in place before the backward pass; where that
    raises RuntimeError, those without a change. c0 does not require any.
    """
    for change in (1, 0):
        tensors = {name: ns.Tensor(value, requires_grad=name[0] == "x") for name, value in leaves.items()}
        names = dict(tensors)
        exec(code, names)
        names[changed].data[...] *= -3 if change else 1
        names[changed].version[0] += change
        try:
            ns.backward(names["y"], gradient)
            break
        except RuntimeError:
            if not change:
                raise
    return [t.grad for name, t in tensors.items() if name[0] == "x"]


# --- 1. Tensor ------------------------------------------------------------------------------------------------------


def facts_of_a_leaf(ns, data, whole):
    """What the tensors of arrays of floats and of a list of integers hold, once the arrays have changed and the
    integers were halved in place. The last is made while recording is off.
    """
    import numpy as np

    given, row = data.copy(), data[:1, 0].copy()
    x, other, few = ns.Tensor(given, requires_grad=True), ns.Tensor(whole.tolist()), ns.Tensor(row)
    given += 1
    row += 1
    other.version[0] += 1
    other.data[...] = other.data / 2
    before = ns.Tensor.recording
    try:
        ns.Tensor.recording = False
        last = ns.Tensor(data, requires_grad=True)
    finally:
        ns.Tensor.recording = before
    flags = [x.version[0], x.requires_grad, other.requires_grad, x.grad is None, other.grad is None]
    flags += [last.requires_grad, type(x.inputs) is tuple and not x.inputs, x.vjp is None]
    return [x.data @ x.data, other.data, few.data, np.array(flags, dtype=float)]


def numbers_of_leaves(ns, data, whole):
    """What the tensors of a number and of arrays of integers and of float32 hold, the last two once they were halved
    in place; and numbers of float32 once they were multiplied by what such numbers cannot hold.
    """
    import numpy as np

    number, integers = ns.Tensor(float(data[0])), ns.Tensor(whole)
    halves, large = ns.Tensor(whole.astype(np.float32)), ns.Tensor(data.astype(np.float32).round(2))
    for t in (integers, halves):
        t.data[...] = t.data / 2
    with np.errstate(over="ignore"):
        large.data[...] = large.data * 1e60
    return [number.data, integers.data, halves.data, large.data / 1e60]


def facts_of_a_result(ns, data, gradient, flags, recording):
    """What a result remembers: its numbers, what its vjp gives, its inputs, and what was saved."""
    import numpy as np

    inputs = [ns.Tensor(row, requires_grad=flag > 0) for row, flag in zip(data, flags, strict=True)]
    for k, t in enumerate(inputs):
        t.version[0] = k + 3
    try:
        before = ns.Tensor.recording
        ns.Tensor.recording = before and recording > 0
        factors = range(1, len(data) + 1)
        # A vjp may read numbers of tensors that are no inputs, too.
        saved = [*inputs, ns.Tensor(-data[0]), ns.Tensor(2 * data[0], requires_grad=True)]
        out = ns.Tensor.from_op(sum(data), tuple(inputs), lambda g: tuple(g * k for k in factors), saved)
    finally:
        ns.Tensor.recording = before
    for t in saved:
        t.version[0] += 10
    past = [] if out.vjp is None else list(out.vjp(gradient))
    saved = [float(np.sum(number)) for _, number in out.saved]
    kept = [t.data for t, _ in out.saved]
    kinds = [out.grad is None, type(out.inputs) is tuple]
    flag = np.array([out.requires_grad, *out.version, *saved, *kinds], dtype=float)
    return [out.data, past, [t.data for t in out.inputs], kept, flag]


# --- 2. backward ----------------------------------------------------------------------------------------------------


def run_own_programs(ns, programs):
    """As run_program, for several, with operations of the probe's own, for arrays of one shape."""
    import numpy as np

    op = ns.Tensor.from_op
    own = {
        "add": lambda a, b: op(a.data + b.data, (a, b), lambda g: (g, g)),
        "sub": lambda a, b: op(a.data - b.data, (a, b), lambda g: (g, -g)),
        "mul": lambda a, b: op(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data), (a, b)),
        "neg": lambda a: op(-a.data, (a,), lambda g: (-g,)),
        "tanh": lambda a: op(np.tanh(a.data), (a,), lambda g: (g * (1 - np.tanh(a.data) ** 2),), (a,)),
    }
    found = []
    for code, leaves, gradient in programs:
        tensors = [ns.Tensor(value, requires_grad=True) for value in leaves]
        names = {**own, **{f"x{k}": t for k, t in enumerate(tensors)}}
        exec(code, names)
        value = names["y"].data.copy()
        ns.backward(names["y"], gradient)
        found.append(np.array([value, *(t.grad for t in tensors)]))
    return found


def gradients_of_sums(ns, x, w, gradient, copies):
    """The gradients of x and w in sums that use x, or a part, twice; and whether arrays that a vjp has returned were
    written into, and have grown. A vjp returns twice what it was given, or two copies of it. All numbers are above 0.
    """
    import numpy as np

    returned = []

    def add(a, b):
        def vjp(g):
            both = (g.copy(), g.copy()) if copies else (g, g)
            returned.extend((part, part.copy()) for part in both)
            return both

        return ns.Tensor.from_op(a.data + b.data, (a, b), vjp)

    sums = [
        lambda t, u: add(add(u, t), t),
        lambda t, u: add(t, add(u, t)),
        lambda t, u: add(add(t, u), t),
        lambda t, u: add(t, add(t, u)),
        lambda t, u: add(u, add(t, t)),
        lambda t, u: add(t, add(t, t)),
        lambda t, u: (lambda part: add(part, add(part, u)))(add(t, u)),
    ]
    found = []
    for of in sums:
        t, u = ns.Tensor(x, requires_grad=True), ns.Tensor(w, requires_grad=True)
        ns.backward(of(t, u), gradient.copy())
        found.append([part.grad for part in (t, u) if part.grad is not None])
    written = [after - before for after, before in returned if np.any(after != before)]
    return [found, np.array([float(bool(written) and all(np.all(change > 0) for change in written))])]


def gradients_of_two_passes(ns, x, y, c, gradient):
    """The gradients of x and y after one and two backward passes through (x + y) * c; what else has a gradient; and
    the gradient of y and the one that was passed, after that of x has been changed. Likewise the second of two leaves
    that a vjp has given one new array, which it keeps, and this array.
    """
    import numpy as np

    op = ns.Tensor.from_op
    x, y, c = ns.Tensor(x, requires_grad=True), ns.Tensor(y, requires_grad=True), ns.Tensor(c)
    after, results = [], []
    for _ in range(2):
        a = op(x.data + y.data, (x, y), lambda g: (g, g))
        b = op(a.data * c.data, (a, c), lambda g, a=a: (g * c.data, g * a.data), (a, c))
        results += [a, b]
        ns.backward(b, gradient)
        after.append([x.grad.copy(), y.grad.copy()])
    own, kept = [], 2 * np.array(gradient)
    for factor, vjp, shared in ((1, lambda g: (g, g), gradient), (2, lambda g: (kept, kept), kept)):
        z, w = ns.Tensor(x.data, requires_grad=True), ns.Tensor(y.data, requires_grad=True)
        ns.backward(op(factor * (z.data + w.data), (z, w), vjp), gradient)
        z.grad += 1000
        own += [w.grad, shared]
    return [after[0], after[1], [t.grad for t in [c, *results] if t.grad is not None], own]


def gradient_of_a_chain(ns, x, factor, length):
    """The end of a chain of products with `factor`, and the gradient at its start. Python's recursion limit stays."""
    import sys

    x = ns.Tensor(x, requires_grad=True)
    a = x
    for _ in range(length):
        a = ns.Tensor.from_op(a.data * factor, (a,), lambda g: (g * factor,))
    limit, set_limit = sys.getrecursionlimit(), sys.setrecursionlimit
    try:
        set_limit(min(limit, 3000))
        sys.setrecursionlimit = lambda limit: None
        ns.backward(a)
    finally:
        sys.setrecursionlimit = set_limit
        set_limit(limit)
    return [a.data, x.grad]


def gradients_of_counted_calls(ns, x, gradient, depth):
    """A ladder: every tensor is used twice in the next, and once at the end. Each vjp multiplies by the number of times
    that it was called.
    """
    op = ns.Tensor.from_op

    def counted(a, b):
        calls = []

        def vjp(g):
            calls.append(g)
            return g * len(calls), 0.5 * g * len(calls)

        return op(a.data + 0.5 * b.data, (a, b), vjp)

    x = ns.Tensor(x, requires_grad=True)
    steps = [x]
    for _ in range(depth):
        steps.append(counted(steps[-1], steps[-1]))
    y = x
    for step in steps:
        y = counted(y, step)
    ns.backward(y, gradient)
    return [y.data, x.grad]


def gradients_after_refusals(ns, x, gradient):
    """The gradient of x after a second use of a graph, of a part of a graph, of a kept graph, of one whose numbers were
    changed, of one with a constant that was changed, and of one with a tensor changed that was not saved; and which
    uses were refused: the second of the first three, the third of the kept one, and those of what was changed; and how
    often the vjp of what was changed was called, and backward returned something.
    """
    import numpy as np

    refused, calls, returned = np.zeros(6), [], []

    op = ns.Tensor.from_op

    def add(a, b):
        return op(a.data + b.data, (a, b), lambda g: (g, g))

    def mul(a, b):
        def vjp(g):
            calls.append(g)
            return g * b.data, g * a.data

        return op(a.data * b.data, (a, b), vjp, (a, b))

    def again(case, t):
        try:
            ns.backward(t, gradient)
        except RuntimeError:
            refused[case] = 1

    leaves = [ns.Tensor(x, requires_grad=True) for _ in range(6)]
    whole, part, kept, changed, scaled, unsaved = leaves
    y = add(mul(whole, whole), whole)
    returned.append(ns.backward(y, gradient))
    again(0, y)
    y = mul(part, part)
    ns.backward(add(y, y), gradient)
    again(1, mul(y, y))
    y = mul(kept, kept)
    ns.backward(y, gradient, retain_graph=True)
    again(2, y)
    again(3, y)
    constant, before = ns.Tensor(x), len(calls)
    y = add(mul(changed, constant), constant)
    changed.data[...] += 1
    changed.version[0] += 1
    again(4, y)
    y = mul(scaled, constant)
    constant.data[...] += 1
    constant.version[0] += 1
    again(5, y)
    seen = np.array([len(calls) - before, sum(one is not None for one in returned)], dtype=float)
    y = add(unsaved, unsaved)
    unsaved.data[...] += 1
    unsaved.version[0] += 1
    ns.backward(y, gradient)
    return [*(np.zeros_like(x) if t.grad is None else t.grad for t in leaves), refused, seen]


def gradients_without_a_gradient(ns, x):
    """The gradients of single numbers of several shapes, and of several numbers, if `gradient` is not given."""
    import contextlib

    found = []
    for data in (x[0], x[:1], x[:1].reshape(1, 1), x):
        t = ns.Tensor(data, requires_grad=True)
        y = ns.Tensor.from_op(3 * t.data, (t,), lambda g: (3 * g,))
        with contextlib.suppress(RuntimeError):
            ns.backward(y)
        found.append([] if t.grad is None else t.grad)
    return found


def memory_after_backward(ns, x, gradient):
    """How many of three results still hold their vjp and their saved tensor, and how many are still held by those that
    were computed from them, after a pass that keeps and one that does not.
    """
    import gc
    import weakref

    import numpy as np

    class Held:
        pass

    def chain(t):
        middle = [t]
        for _ in range(3):
            middle.append(ns.Tensor.from_op(middle[-1].data, (middle[-1],), lambda g: (g,)))
        return middle[-1], [weakref.ref(t) for t in middle[1:-1]]

    seen, results = ([], [], []), [ns.Tensor(x, requires_grad=True)]
    for _ in range(3):
        held, saved = Held(), ns.Tensor(x)
        seen[0].append(weakref.ref(held))
        seen[1].append(weakref.ref(saved))
        results.append(ns.Tensor.from_op(results[-1].data, (results[-1],), lambda g, held=held: (g,), (saved,)))
    del held, saved
    last, middle = chain(ns.Tensor(x, requires_grad=True))
    seen[2].extend(middle)
    counts = []
    for keep in (True, False):
        ns.backward(results[-1], gradient, retain_graph=keep)
        ns.backward(last, gradient, retain_graph=keep)
        gc.collect()
        counts += [sum(see() is not None for see in some) for some in seen]
    return [results[0].grad, np.array(counts, dtype=float)]


# --- 7. modes -------------------------------------------------------------------------------------------------------


def gradients_around_no_grad(ns, x, gradient):
    """The gradients of products of x with 3 * x computed in several places inside and outside of no_grad()."""
    op = ns.Tensor.from_op

    def gradient_with(make):
        t = ns.Tensor(x, requires_grad=True)
        a = make(lambda: op(3 * t.data, (t,), lambda g: (3 * g,)))
        y = op(t.data * a.data, (t, a), lambda g: (g * a.data, g * t.data), (t, a))
        ns.backward(y, gradient)
        return t.grad

    def inside(triple):
        with ns.no_grad():
            return triple()

    def after(triple):
        with ns.no_grad():
            pass
        return triple()

    def between(triple):
        with ns.no_grad():
            with ns.no_grad():
                pass
            return triple()

    def switched_off(triple):
        ns.Tensor.recording = False
        try:
            with ns.no_grad():
                pass
            return triple()
        finally:
            ns.Tensor.recording = True

    found = []
    try:
        for make in (inside, after, between, switched_off):
            ns.Tensor.recording = True
            found.append(gradient_with(make))
    finally:
        ns.Tensor.recording = True
    return found


def gradients_after_an_exception(ns, x, gradient):
    """The gradient of 3 * x, computed after a block that an exception has ended; once if the exception came through."""
    import numpy as np

    ns.Tensor.recording = True
    t = ns.Tensor(x, requires_grad=True)
    came_through = np.zeros(1)
    try:
        with ns.no_grad():
            raise ValueError("in the block")
    except ValueError:
        came_through += 1
    finally:
        recording, ns.Tensor.recording = ns.Tensor.recording, True
    y = ns.Tensor.from_op(3 * t.data, (t,), lambda g: (3 * g,))
    if recording:
        ns.backward(y, gradient)
    return [came_through, [] if t.grad is None else t.grad]


def detached(ns, x, gradient):
    """The gradient of x * detach(x); that of 3 * a if a was detached meanwhile; what a change of either is seen as; and
    what a backward pass says after the detached one was changed. Then, of a result that was changed through a detached
    one: its numbers; and the gradients of x * x after x was detached, of a detached tensor that requires gradients from
    now on, and of its origin.
    """
    import contextlib

    import numpy as np

    op = ns.Tensor.from_op

    def mul(a, b):
        return op(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data), (a, b))

    t = ns.Tensor(x, requires_grad=True)
    ns.backward(mul(t, ns.detach(t)), gradient)
    u = ns.Tensor(x, requires_grad=True)
    a = op(3 * u.data, (u,), lambda g: (3 * g,))
    ns.detach(a)
    ns.backward(a, gradient)
    ns.detach(t)
    v = ns.Tensor(x, requires_grad=True)
    y, d = mul(v, v), ns.detach(v)
    d.data[...] += 1
    d.version[0] += 1
    seen = v.data.copy()
    with contextlib.suppress(RuntimeError):
        ns.backward(y, gradient)
    w, origin = ns.Tensor(x, requires_grad=True), ns.Tensor(x, requires_grad=True)
    w.version[0] = 2
    y = mul(w, w)
    ns.detach(w)
    ns.backward(y, gradient)
    result = op(3 * origin.data, (origin,), lambda g: (3 * g,))
    ns.detach(result).data[...] += 1
    fresh = ns.detach(w), ns.detach(result)
    for leaf in fresh:
        leaf.requires_grad = True
        ns.backward(op(3 * leaf.data, (leaf,), lambda g: (3 * g,)), gradient)
    grads = [np.zeros(0) if one.grad is None else one.grad for one in (t, u, v, w, *fresh, origin)]
    return [*grads[:2], seen, grads[2], result.data, *grads[3:]]


def added_in_place(ns, x, value, gradient):
    """Numbers and versions after add_ on a constant, on a leaf under Tensor.recording = False, and on a leaf and a
    result while recording is on, and how often the last two raised; and the gradient of a product whose factor was
    changed.
    """
    import contextlib

    import numpy as np

    op = ns.Tensor.from_op
    constant, leaf, refused = ns.Tensor(x), ns.Tensor(x, requires_grad=True), ns.Tensor(x, requires_grad=True)
    result = op(3 * refused.data, (refused,), lambda g: (3 * g,))
    held = [t.data for t in (constant, leaf, refused, result)]
    versions = [t.version for t in (constant, leaf, refused, result)]
    y = op(leaf.data * leaf.data, (leaf, leaf), lambda g: (g * leaf.data, g * leaf.data), (leaf,))
    ns.add_(ns.add_(constant, value), 2)
    ns.Tensor.recording = False
    try:
        ns.add_(leaf, value)
    finally:
        ns.Tensor.recording = True
    raised = np.zeros(1)
    for t in (refused, result):
        try:
            ns.add_(t, value)
        except RuntimeError:
            raised += 1
    with contextlib.suppress(RuntimeError):
        ns.backward(y, gradient)
    # An array without axes may be a NumPy number, which nobody can change.
    held = held if x.ndim else [t.data for t in (constant, leaf, refused, result)]
    return [held, np.array(versions, dtype=float).ravel(), [] if leaf.grad is None else leaf.grad, raised]


# --- 8. training ----------------------------------------------------------------------------------------------------


def gradients_of_layers(ns, sizes, parameters, x, gradient):
    """What an MLP with these parameters gives for x, and the gradients of its parameters and of x."""
    import numpy as np

    model = ns.MLP(list(sizes), np.random.default_rng(0))
    for p, value in zip(model.parameters(), parameters, strict=True):
        p.data[...] = value
    x = ns.Tensor(x, requires_grad=True)
    y = model(x)
    ns.backward(y, gradient)
    return [y.data, [p.grad for p in model.parameters()], x.grad]


def gradients_of_a_layer(ns, weight, bias, x, gradient):
    """What a Linear layer gives for x, and the gradients of weight and bias."""
    import numpy as np

    layer = ns.Linear(*weight.shape, np.random.default_rng(0))
    weights, biases = layer.parameters()
    layer.weight.data[...], layer.bias.data[...] = weight, bias
    y = layer(ns.Tensor(x))
    ns.backward(y, gradient)
    return [y.data, weights.grad, biases.grad]


def drawn_parameters(ns, sizes, seed):
    """The parameters of two new networks that one generator has drawn."""
    import numpy as np

    rng = np.random.default_rng(seed)
    return [[p.data for p in ns.MLP(list(sizes), rng).parameters()] for _ in range(2)]


def loss_and_gradient(ns, logits, labels):
    logits = ns.Tensor(logits, requires_grad=True)
    loss = ns.cross_entropy(logits, labels)
    value = loss.data.copy()
    ns.backward(loss)
    return [value, logits.grad]


def fitted(ns, sizes, parameters, before, x, labels, lr, batches):
    """The parameters after `fit`, by number, and the losses. `before` lies in .grad when it begins; the last batch is
    left to a second call.
    """
    import numpy as np

    model = ns.MLP(list(sizes), np.random.default_rng(0))
    tensors = list(model.parameters())
    for p, value, gradient in zip(tensors, parameters, before, strict=True):
        p.data[...] = value
        p.grad = gradient.copy()
    losses = ns.fit(model, x, labels, lr, batches[:-1]) if len(batches) > 1 else []
    losses = [*losses, *ns.fit(model, x, labels, lr, batches[-1:])]
    after = {f"parameter {k}": p.data for k, p in enumerate(tensors)}
    return [after, np.array(losses, dtype=float), all(isinstance(loss, float) for loss in losses)]


def versions_raised(ns, sizes, x, labels, batches):
    """For each parameter, whether `fit` has raised its version (1), and whether it has changed its numbers, and those
    in the array that it held before (1); and which of `parameters()`, of a layer and of a network, and of the losses
    are lists (1).
    """
    import numpy as np

    model = ns.MLP(list(sizes), np.random.default_rng(0))
    tensors = list(model.parameters())
    before = [(p.version[0], p.data, p.data.copy()) for p in tensors]
    losses = ns.fit(model, x, labels, 0.5, batches)
    lists = [ns.Linear(2, 3, np.random.default_rng(0)).parameters(), model.parameters(), losses]
    seen = [
        [p.version[0] > n, np.any(p.data != data), np.any(held != data)]
        for p, (n, held, data) in zip(tensors, before, strict=True)
    ]
    return np.array(seen, dtype=float), np.array([isinstance(one, list) for one in lists], dtype=float)
