"""What the judge of a4 runs beside the student's code: build, call, hand back. Nothing here knows a right answer.

Modules and optimizers cannot travel as data, so each probe builds one from arrays, uses it and returns arrays. How an
optimizer is driven and how a network is built stand in `course_lib`, because the visible checks do the same.
"""

# --- modules --------------------------------------------------------------------------------------------------------


def affine_facts(ns, in_features, out_features, bias):
    """What can be known of a layer without looking at its random numbers."""
    import torch

    layer = ns.Affine(in_features, out_features, bias=bias)
    named = dict(layer.named_parameters())
    x = torch.linspace(-1, 1, 2 * in_features).reshape(2, in_features)
    repeats = bool(torch.equal(layer(x), layer(x)))
    try:
        doubled = str(layer.double()(x.double()).dtype)
    except RuntimeError as error:
        doubled = f"{type(error).__name__}: it fails"
    return {
        "parameters": {name: list(p.shape) for name, p in sorted(named.items())},
        "state": sorted(layer.state_dict()),
        "trained": {name: p.requires_grad for name, p in sorted(named.items())},
        "no bias": getattr(layer, "bias", "no such attribute") is None,
        "repeats": repeats,
        "doubled": doubled,
    }


def affine_results(ns, arrays, x, cotangent):
    """Output and gradients of a layer with the given weights; a layer without bias if there is none in `arrays`."""
    import torch

    out_features, in_features = arrays["weight"].shape
    layer = ns.Affine(in_features, out_features, bias="bias" in arrays)
    layer = layer.to(torch.from_numpy(x).dtype)
    layer.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
    x = torch.from_numpy(x).requires_grad_()
    y = layer(x)
    result = {"y": y.detach().clone()}
    if y.shape == cotangent.shape:
        y.backward(torch.from_numpy(cotangent))
        result["gradient of x"] = x.grad
        result |= {f"gradient of {name}": getattr(layer, name).grad for name in arrays}
    return result


def affine_starts(ns, in_features, out_features, bias, seed):
    """The random numbers of two new layers; the same ones where the student runs the cell that is shown."""
    import torch

    torch.manual_seed(seed)
    layers = [ns.Affine(in_features, out_features, bias=bias) for _ in range(2)]
    names = ("weight", "bias")[: 1 + bias]
    return [{name: getattr(layer, name) for name in names} for layer in layers]


def standardize_facts(ns, features, x):
    import torch

    layer = ns.Standardize(features)
    start = {name: getattr(layer, name).detach().clone() for name in ("running_mean", "running_var")}
    layer(torch.from_numpy(x).requires_grad_())
    found = {
        "state": sorted(layer.state_dict()),
        "parameters": sorted(name for name, _ in layer.named_parameters()),
        "start": start,
        "requires grad": [bool(layer.running_mean.requires_grad), bool(layer.running_var.requires_grad)],
    }
    layer.double()
    found["doubled"] = [str(layer.running_mean.dtype), str(layer.running_var.dtype)]
    return found


def standardize_results(ns, features, options, batches, later):
    """Some batches in training, every second one without gradients, then one in evaluation: outputs, and the running
    statistics after each.
    """
    import torch

    def running():
        return {name: getattr(layer, name).detach().clone() for name in ("running_mean", "running_var")}

    layer = ns.Standardize(features, **options)
    layer = layer.to(torch.from_numpy(later).dtype)
    layer.train()
    found = {"training": [], "running": []}
    for number, batch in enumerate(batches):
        with torch.set_grad_enabled(number % 2 == 0):
            found["training"].append(layer(torch.from_numpy(batch)))
        found["running"].append(running())
    layer.eval()
    found["evaluation"] = layer(torch.from_numpy(later))
    found["running"].append(running())
    return found


def standardize_gradients(ns, features, batches, cotangents):
    """The gradient of each batch, one backward pass after the other."""
    import torch

    layer = ns.Standardize(features).double().train()
    found = []
    for batch, cotangent in zip(batches, cotangents, strict=True):
        x = torch.from_numpy(batch).requires_grad_()
        layer(x).backward(torch.from_numpy(cotangent))
        found.append(x.grad)
    return found


def standardize_saved(ns, features, batch, later):
    """One layer learns, a second one takes over its state; a third, built after both, is as new."""
    import copy

    import torch

    first, second = ns.Standardize(features), ns.Standardize(features)
    first.double().train()(torch.from_numpy(batch))
    second.double().load_state_dict(copy.deepcopy(first.state_dict()))
    third = ns.Standardize(features).double()
    return [layer.eval()(torch.from_numpy(later)) for layer in (first, second, third)]


def parallel_facts(ns, branches, features):
    import torch

    modules = [torch.nn.Sequential(torch.nn.Linear(features, 2), torch.nn.BatchNorm1d(2)) for _ in range(branches)]
    given = list(modules)
    block = ns.ParallelBlock(given)
    found = {
        "state": sorted(block.state_dict()),
        "parameters": sum(1 for _ in block.parameters()),
        "list": [modules.index(module) for module in given if module in modules],
    }
    block.eval()
    found["in training after eval"] = [module.training for module in modules]
    block.train()
    found["in training after train"] = [module.training for module in modules]
    block.double()
    found["dtypes after double"] = [str(module[0].weight.dtype) for module in modules]
    found["another mode"] = {}
    for mode in ("product", "Sum", "su", "", "cat "):
        try:
            ns.ParallelBlock(modules, mode=mode)
        except ValueError:
            found["another mode"][mode] = "ValueError"
        except Exception as error:
            found["another mode"][mode] = type(error).__name__
        else:
            found["another mode"][mode] = "no exception"
    return found


def parallel_results(ns, weights, mode, x, cotangent, with_identity="", twice=False, smooth=False):
    """Output, again for the same input, and gradients. The first weights are written after the block was built.

    twice: the first module stands at the end of the list once more. A sum is what a block makes by default.
    with_identity: an `nn.Identity()` stands `first` or `last`. smooth: a tanh follows in each branch.
    """
    import torch
    from torch import nn

    modules = [nn.Linear(w.shape[1], w.shape[0], bias=False).to(torch.from_numpy(x).dtype) for w in weights]
    for module in modules:
        nn.init.zeros_(module.weight)
    branches = [nn.Sequential(module, nn.Tanh()) for module in modules] if smooth else list(modules)
    branches += branches[: int(twice)]
    if with_identity:
        branches.insert(0 if with_identity == "first" else len(branches), nn.Identity())
    block = ns.ParallelBlock(branches) if mode == "sum" else ns.ParallelBlock(branches, mode=mode)
    with torch.no_grad():
        for module, weight in zip(modules, weights, strict=True):
            module.weight.copy_(torch.from_numpy(weight))
    x = torch.from_numpy(x.copy())
    with torch.no_grad():
        plain = block(x).clone()
        again = block(x).clone()
    moved = x.clone().requires_grad_()
    y = block(moved)
    found = {"y": plain, "y of a second call": again}
    if y.shape == cotangent.shape:
        y.backward(torch.from_numpy(cotangent))
        found["gradient of x"] = moved.grad
        found["gradients"] = [module.weight.grad for module in modules]
    return found


# --- optimizers -----------------------------------------------------------------------------------------------------


def optimizer_steps(ns, name, options, start, gradients, **how):
    """Parameters after each step of the student's optimizer on the given gradients; see `drive`."""
    from course_lib.checks.a4_modules_and_optimizers import drive

    return drive(getattr(ns, name), options, start, gradients, **how)


def optimizer_closure(ns, name, options, start, curvature, no_grad):
    """One step with a closure, one without: the loss is sum(curvature * p ** 2) / 2.

    no_grad: the step with the closure is called where gradients are switched off.
    """
    import torch

    p = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = getattr(ns, name)([p], **options)
    calls, losses = [], []

    def closure():
        calls.append(p.detach().clone())
        optimizer.zero_grad()
        loss = (torch.from_numpy(curvature) * p**2).sum() / 2
        loss.backward()
        losses.append(loss)
        return loss

    with torch.set_grad_enabled(not no_grad):
        with_closure = optimizer.step(closure)
    after = p.detach().clone()
    without = optimizer.step()
    return {
        "returned": None if with_closure is None else float(with_closure),
        "returned itself": any(with_closure is loss for loss in losses),
        "returned without closure": without,
        "seen by the closure": calls,
        "after one step": after,
        "after two steps": p.detach().clone(),
    }


def helpers_of_a_step(ns, name, options, start, gradients):
    """Functions of PyTorch's own optimizers and fused kernels that run while the student's works."""
    import importlib
    import pkgutil

    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from course_lib.checks.a4_modules_and_optimizers import drive
    from course_lib.checks.delegation import calls_of, functions_of

    class Fused(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if "_fused_" in str(function):
                used.add(str(function))
            return function(*args, **(kwargs or {}))

    allowed = ("optimizer", "lr_scheduler", "swa_utils", "_multi_tensor")
    names = [found.name for found in pkgutil.iter_modules(torch.optim.__path__) if found.name not in allowed]
    modules = [importlib.import_module(f"torch.optim.{name}") for name in names]
    classes = [k for m in modules for k in vars(m).values() if isinstance(k, type) and k.__module__ == m.__name__]
    with calls_of(functions_of(*modules, *classes)) as used, Fused():
        drive(getattr(ns, name), options, start, gradients)
    return sorted(used)


def layers_inside(ns, in_features, out_features):
    """PyTorch's own layers among the bases and the parts of an `Affine`, and those that work when it is called."""
    import torch

    from course_lib.checks.delegation import calls_of, functions_of

    linear = torch.nn.modules.linear
    layers = [k for k in vars(linear).values() if isinstance(k, type) and k.__module__ == linear.__name__]
    with calls_of(functions_of(*layers)) as used:
        layer = ns.Affine(in_features, out_features)
        layer(torch.ones(2, in_features))
    kinds = {*type(layer).__mro__, *(type(part) for part in layer.modules())}
    return sorted({k.__name__ for k in kinds.intersection(layers)} | used)


# --- snapshot and fit -----------------------------------------------------------------------------------------------


def there_and_back(
    ns,
    kind,
    weights,
    optimizer_name,
    options,
    before,
    after,
    asked,
    other_rate,
    other_options,
    other_model=False,
    new_optimizer=False,
    evaluating=False,
):
    """Train on `before`, take a snapshot, train on; then go back and train on other batches, twice.

    after: the batches of the first way and of the two others. asked: rows whose outputs show what was restored.
    new_optimizer: the one that the snapshot is taken of has made no step yet. evaluating: the model is in that mode
    when the snapshot is taken.
    """
    import copy

    import torch

    from course_lib.checks.a4_modules_and_optimizers import build_network, one_step, state_of

    def built():
        model = build_network(kind, weights)
        return model, made_for(model)

    def made_for(model):
        one, other = (list(model.parameters())[k::2] for k in (0, 1))
        groups = [{"params": one}, {"params": other, "lr": 0.7 * options["lr"]}]
        return getattr(torch.optim, optimizer_name)(groups, **options)

    def go_on(model, optimizer, batches):
        found = []
        for x, y in batches:
            one_step(model, optimizer, x, y)
            found.append(state_of(model))
        return found

    def outputs(model):
        model.eval()
        with torch.no_grad():
            out = model(torch.from_numpy(asked)).numpy().copy()
        model.train()
        return out

    model, optimizer = built()
    ns.snapshot(model, optimizer)
    for x, y in before:
        one_step(model, optimizer, x, y)
    if new_optimizer:
        optimizer = made_for(model)
    found = {"before the snapshot": state_of(model)}
    model.train(not evaluating)
    saved = ns.snapshot(model, optimizer)
    found["after the snapshot"] = state_of(model)
    # In training mode these depend on the other rows, so they show in which mode the model was left.
    found["outputs after the snapshot"] = copy.deepcopy(model)(torch.from_numpy(asked))
    if evaluating:
        return found
    found["gradients after the snapshot"] = [p.grad for p in model.parameters()]
    found["first"] = go_on(model, optimizer, after[0])
    ns.snapshot(model, optimizer)
    for name, batches in (("second", after[1]), ("third", after[2])):
        if other_model:
            model, optimizer = built()
        for group in optimizer.param_groups:
            group.update(other_options, lr=other_rate)
        held = dict(model.named_parameters()) | dict(model.named_buffers())
        ns.restore(model, optimizer, saved)
        found[f"restored for the {name}"] = state_of(model)
        found[f"outputs for the {name}"] = outputs(model)
        found[name] = go_on(model, optimizer, batches)
        found[f"held before the {name}"] = {key: p.detach().numpy().copy() for key, p in held.items()}
    return found


def fit_results(
    ns,
    kind,
    weights,
    batches,
    options,
    rate=0.1,
    momentum=0.0,
    gamma=None,
    leftover=None,
    memory=None,
    evaluating=False,
    loss="mse",
    split=False,
    with_rates=False,
):
    """Weights and losses after one call of `fit`.

    gamma: a StepLR multiplies the rate by it after each epoch. leftover: gradients that are there before the call.
    memory: gradients of a step that the optimizer makes before the call. evaluating: the model comes in that mode.
    split: the optimizer has two groups. with_rates: lr after the call, too.
    """
    import torch

    from course_lib.checks.a4_modules_and_optimizers import build_network, losses, state_of

    model = build_network(kind, weights)
    parameters = dict(model.named_parameters())
    groups = [{"params": list(model.parameters())[k::2]} for k in (0, 1)] if split else model.parameters()
    optimizer = torch.optim.SGD(groups, lr=rate, momentum=momentum)
    for gradients, steps in ((memory, True), (leftover, False)):
        for name, value in (gradients or {}).items():
            parameters[name].grad = torch.from_numpy(value.copy())
        if gradients and steps:
            optimizer.step()
            optimizer.zero_grad()
    model.train(not evaluating)
    pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]
    options = dict(options)
    if gamma is not None:
        options["scheduler"] = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=gamma)
    history = ns.fit(model, optimizer, losses(loss), pairs, **options)
    rates = {"rates": [group["lr"] for group in optimizer.param_groups]} if with_rates else {}
    return {"weights": state_of(model), "history": history} | rates
