"""What the judge of a3 runs beside the student's code: build tensors, call, hand back. No right answer is known here.

Tensors are built here from arrays, in the layout that the judge asks for (`laid_out`). Values travel back as tensors,
so that the judge sees dtype and `requires_grad`; what a tensor alone cannot say (leaf or not, what its `.grad` holds)
goes beside them.
"""


def by_hand(ns, x, w, b, layout):
    """Twice with the same tensors, under inference mode, where autograd records nothing."""
    import copy

    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = [laid_out(value, layout) for value in (x, w, b)]
    with torch.inference_mode():
        first = copy.deepcopy(ns.manual_gradients(*given))
        return first, ns.manual_gradients(*given)


def routes_by_hand(ns, x, w, b):
    """Which ready-made gradients worked while `manual_gradients` ran, and what it returned: observed."""
    import torch

    from course_lib.checks.delegation import calls_of

    names = ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "linearize")
    ready_made = [torch.autograd.grad, torch.autograd.backward, torch.autograd.graph._engine_run_backward]
    ready_made += [getattr(torch.func, name) for name in names]
    with calls_of(ready_made) as used, torch.inference_mode():
        returned = ns.manual_gradients(*(torch.tensor(value) for value in (x, w, b)))
    return {"used": sorted(used), "returned": returned}


def gradients_of(ns, arrays, scale, kinds, layout, uses, traces=False):
    """Gradients of a function of the tensors named by `uses` (their places), and if asked the traces left behind.

    kinds: for each tensor `plain`, `leaf` (requires gradients), `filled` (and its `.grad` holds something already) or
    `result` (of another operation).
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    tensors = []
    for array, kind in zip(arrays, kinds, strict=True):
        tensor = laid_out(array, layout)
        if kind in ("leaf", "filled"):
            tensor.requires_grad_()
        if kind == "filled":
            tensor.grad = torch.ones_like(tensor)
        if kind == "result":
            tensor = tensor.requires_grad_() * 1
        tensors.append(tensor)
    weight = laid_out(scale, "plain").requires_grad_()

    def f(*given):
        value = weight.sum()
        for place in uses:
            value = value * torch.sin(given[place] * weight).sum()
        return value + (given[uses[0]] ** 2).sum()

    returned = ns.gradients(f, tensors)
    if not isinstance(returned, (tuple, list)):
        raise TypeError("gradients should return a tuple")
    if not traces:
        return {"gradients": list(returned)}
    return {
        "gradients": list(returned),
        "with a graph": [bool(getattr(value, "requires_grad", False)) for value in returned],
        "requires_grad": [tensor.requires_grad for tensor in tensors],
        "grad": [tensor.grad if tensor.is_leaf else None for tensor in tensors],
        "grad of another tensor": weight.grad,
        "values": [tensor.detach() for tensor in tensors],
    }


def products(ns, x, v, mixing, layout, kind, traces=False):
    """`vjp` of a function that maps x to the shape of v, each entry depending on all of x; if asked, the traces."""
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out, mixed

    given = laid_out(x, layout).requires_grad_(kind in ("leaf", "filled"))
    if kind == "filled":
        given.grad = torch.ones_like(given)
    weights = laid_out(mixing, "plain").requires_grad_(kind == "weight")
    coming = laid_out(v, layout)
    returned = ns.vjp(lambda inputs: mixed(inputs, weights, v.shape), given, coming)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError("vjp should return the tuple (y, grad)")
    if not traces:
        return {"y": returned[0], "grad": returned[1]}
    return {
        "y": returned[0],
        "grad": returned[1],
        "with a graph": [isinstance(value, torch.Tensor) and value.requires_grad for value in returned],
        "requires_grad of x": given.requires_grad,
        "grad of x": given.grad,
        "x": given.detach(),
        "v": coming,
    }


def all_derivatives(ns, x, shape, mixing, layout, kind, traces=False):
    """`jacobian` of a function that maps x to `shape`; if asked, the traces."""
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out, mixed

    given = laid_out(x, layout).requires_grad_(kind in ("leaf", "filled"))
    if kind == "filled":
        given.grad = torch.ones_like(given)
    weights = laid_out(mixing, "plain").requires_grad_(kind == "weight")
    returned = ns.jacobian(lambda inputs: mixed(inputs, weights, shape), given)
    if not traces:
        return {"jacobian": returned}
    return {
        "jacobian": returned,
        "with a graph": isinstance(returned, torch.Tensor) and returned.requires_grad,
        "requires_grad of x": given.requires_grad,
        "grad of x": given.grad,
        "x": given.detach(),
    }


def squareplus_value(ns, x, layout):
    """y, twice for the same x."""
    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = laid_out(x, layout)
    first = ns.Squareplus.apply(given).clone()
    return first, ns.Squareplus.apply(given)


def squareplus_gradient(ns, x, other, v, layout):
    """y, and the gradient that leaves when v comes in, though `Squareplus` ran on another tensor in between; and the
    one that leaves when the same tensor v comes in once more.
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = laid_out(x, layout).requires_grad_()
    y = ns.Squareplus.apply(given)
    ns.Squareplus.apply(laid_out(other, "plain").requires_grad_())
    coming = laid_out(v, layout)
    (gradient,) = torch.autograd.grad(y, given, coming)
    (again,) = torch.autograd.grad(ns.Squareplus.apply(given), given, coming)
    return y.detach(), gradient, again


def squareplus_second(ns, x, v, u, layout):
    """First derivative for v, and the gradients of its product with u with respect to x and to v."""
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given, cotangent = laid_out(x, layout).requires_grad_(), laid_out(v, "plain").requires_grad_()
    y = ns.Squareplus.apply(given)
    (first,) = torch.autograd.grad(y, given, cotangent, create_graph=True)
    inputs = (given, cotangent)
    return first, *torch.autograd.grad(first, inputs, laid_out(u, "plain"), materialize_grads=True)


def squareplus_after_change(ns, x, v, which):
    """The gradient though x or y was changed in place after the forward pass, or `raised` where PyTorch noticed."""
    import torch

    given = torch.tensor(x).requires_grad_() * 1
    y = ns.Squareplus.apply(given)
    try:
        with torch.no_grad():
            (given if which == "x" else y).mul_(3.0)
        (gradient,) = torch.autograd.grad(y, given, torch.tensor(v))
    except RuntimeError as error:
        # Where y is a view, PyTorch forbids the change itself.
        if "inplace" not in str(error):
            raise
        return "raised"
    return gradient


def squareplus_on_meta(ns, shape):
    """Shapes of y and of the gradient, on a device whose tensors hold no numbers."""
    import torch

    given = torch.empty(shape, device="meta", requires_grad=True)
    y = ns.Squareplus.apply(given)
    (gradient,) = torch.autograd.grad(y, given, torch.empty_like(y))
    return list(y.shape), list(gradient.shape), y.device.type


def power_scale_value(ns, a, b, power, layout):
    """y, twice for the same a and b."""
    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = laid_out(a, layout), laid_out(b, layout)
    first = ns.PowerScale.apply(*given, power).clone()
    return first, ns.PowerScale.apply(*given, power)


def power_scale_gradients(ns, a, b, power, v, wanted, layout):
    """y, and the gradients for the inputs named in `wanted`, of `a` and `b`; the others do not require any. Once more
    for the same tensor v.
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    inputs = {"a": laid_out(a, layout), "b": laid_out(b, layout)}
    for name in wanted:
        inputs[name].requires_grad_()
    y = ns.PowerScale.apply(inputs["a"], inputs["b"], power)
    ns.PowerScale.apply(2 * inputs["a"], 3 * inputs["b"], power + 1)
    asked, coming = [inputs[name] for name in wanted], laid_out(v, "plain")
    found = torch.autograd.grad(y, asked, coming, materialize_grads=True)
    y_again = ns.PowerScale.apply(inputs["a"], inputs["b"], power)
    again = torch.autograd.grad(y_again, asked, coming, materialize_grads=True)
    return y.detach(), *(dict(zip(wanted, gradients, strict=True)) for gradients in (found, again))


def power_scale_second(ns, a, b, power, v, us, layout, alone=""):
    """Gradients of the first gradients' products with `us`, with respect to a, b and v.

    alone: which of a and b requires gradients, and is differentiated for; empty: both.
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = {name: laid_out(value, layout) for name, value in (("a", a), ("b", b))}
    asked = alone or "ab"
    inputs = [given[name].requires_grad_() for name in asked]
    cotangent = torch.tensor(v).requires_grad_()
    y = ns.PowerScale.apply(*given.values(), power)
    first = torch.autograd.grad(y, inputs, cotangent, create_graph=True)
    directions = [torch.tensor(u) for name, u in zip("ab", us, strict=True) if name in asked]
    second = torch.autograd.grad(first, [*inputs, cotangent], directions, materialize_grads=True)
    return list(first), list(second)


def power_scale_after_change(ns, a, b, power, v, which):
    import torch

    given = [torch.tensor(value).requires_grad_() * 1 for value in (a, b)]
    y = ns.PowerScale.apply(*given, power)
    try:
        with torch.no_grad():
            given["ab".index(which)].mul_(3.0)
        gradients = torch.autograd.grad(y, given, torch.tensor(v))
    except RuntimeError as error:
        if "inplace" not in str(error):
            raise
        return "raised"
    return list(gradients)


def penalty_and_gradients(ns, x, t, params, strength, layout, with_traces=False, kind="function"):
    """The loss, what `backward` then gave the parameters, and if asked the traces that were left before it.

    kind: f is a `function`, or a `module` with parameters whose `.grad` is filled.
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given, target = laid_out(x, layout), laid_out(t, layout)
    weights = {name: laid_out(value, "plain").requires_grad_() for name, value in params.items()}

    def f(rows):
        return torch.tanh(rows @ weights["W"] + weights["b"]) @ weights["u"]

    if kind == "module":

        class Model(torch.nn.Module):
            def forward(self, rows):
                return torch.tanh(rows @ self.W + self.b) @ self.u

        f, weights = Model(), {name: torch.nn.Parameter(weight.detach()) for name, weight in weights.items()}
        for name, weight in weights.items():
            f.register_parameter(name, weight)
            weight.grad = torch.ones_like(weight)

    loss = ns.penalized_loss(f, given, target, strength)
    traces = {
        "requires_grad": [given.requires_grad, target.requires_grad],
        "grad of x and t": [given.grad, target.grad],
        # A copy, for `backward` adds into the very tensors.
        "grad": {name: None if weight.grad is None else weight.grad.clone() for name, weight in weights.items()},
    }
    value = loss.detach().clone() if isinstance(loss, torch.Tensor) else loss
    for weight in weights.values():
        weight.grad = None
    loss.backward()
    found = {"loss": value, "of the parameters": {name: weight.grad for name, weight in weights.items()}}
    if not with_traces:
        return found
    return found | traces | {"again": ns.penalized_loss(f, given, target, strength).detach()}


def trained(ns, x, t, params, learning_rate, batches, kind, again=False, traces=False, layout="plain"):
    """`train` from the given start: parameters, losses, and if asked the state of what came in and went out.

    kind: the given parameters are `plain`, `leaf` (require gradients), `filled` (and hold a gradient already) or `some`
        (b1 and W2 require gradients).
    again: a second time, with the same tensors.
    """
    import torch

    from course_lib.checks.a3_pytorch_autograd import laid_out

    given = {name: laid_out(value, layout) for name, value in params.items()}
    for name, tensor in given.items():
        tensor.requires_grad_(kind in ("leaf", "filled") or (kind == "some" and name in ("b1", "W2")))
        tensor.grad = torch.ones_like(tensor) if kind == "filled" else None
    asked = laid_out(x, layout), laid_out(t, layout), given, learning_rate, [torch.tensor(batch) for batch in batches]
    if again:
        ns.train(*asked)
    returned = ns.train(*asked)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError("train should return the tuple (params, losses)")
    after, losses = returned
    if not isinstance(after, dict) or not all(isinstance(value, torch.Tensor) for value in after.values()):
        raise TypeError("the params that train returns should be a dict of tensors")
    if not isinstance(losses, (list, tuple)):
        raise TypeError("the losses that train returns should be a list")
    if any(getattr(loss, "shape", ()) != () for loss in losses):
        raise TypeError("each of the losses that train returns should be one number")
    found = {
        "params": {name: value.detach().clone() for name, value in after.items()},
        "losses": [float(loss) for loss in losses],
    }
    if not traces:
        return found
    return found | {
        "losses with a graph": [isinstance(loss, torch.Tensor) and loss.requires_grad for loss in losses],
        "dtypes of losses": [str(getattr(loss, "dtype", "")) for loss in losses],
        "leaves": [value.is_leaf for value in after.values()],
        "requires_grad": [value.requires_grad for value in after.values()],
        "given requires_grad": [value.requires_grad for value in given.values()],
        "given grad": [None if value.grad is None else value.grad.clone() for value in given.values()],
    }


def optimizers_at_work(ns, x, t, params, learning_rate, batches):
    """Which optimizers of `torch.optim` took a step during `train`: observed, and easily fooled."""
    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    used = set()

    def note(optimizer, args, kwargs):
        used.add(type(optimizer).__name__)

    hook = register_optimizer_step_pre_hook(note)
    try:
        given = {name: torch.tensor(value) for name, value in params.items()}
        rows = [torch.tensor(batch) for batch in batches]
        ns.train(torch.tensor(x), torch.tensor(t), given, learning_rate, rows)
    finally:
        hook.remove()
    return sorted(used)
