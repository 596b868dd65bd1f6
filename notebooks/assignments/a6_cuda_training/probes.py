"""What the hidden checks of a6 ask: each function is sent as source and runs beside the student's code.

Networks are built here from the judge's arrays, the student's functions train them, and arrays come back. What is
only watched (copies, modes, graphs that are alive) has probes of its own. No right answers and no seeds stand here.
"""

from __future__ import annotations

# --- 1. train_step --------------------------------------------------------------------------------------------------


def weights_after_steps(ns, kind, sizes, weights, batches, settings, device, stale=None, double=False):
    """Weights and losses after one `train_step` for each batch.

    stale: what lies in `.grad` of every parameter before the first step. double: model and batches are float64, the
    loss is the mean squared error, and Adam has two groups of parameters.
    """
    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    if double:
        model.double()
        groups = [{"params": list(model.parameters())[k::2]} for k in (0, 1)]
        optimizer, loss_fn = torch.optim.Adam(groups, **settings), torch.nn.MSELoss()
    else:
        optimizer, loss_fn = torch.optim.SGD(model.parameters(), **settings), torch.nn.CrossEntropyLoss()
    steps = training.count_steps(optimizer)
    if stale is not None:
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, stale)
    losses = []
    for x, y in batches:
        batch = (torch.tensor(x), torch.tensor(y))
        losses.append(ns.train_step(model, batch, loss_fn, optimizer, device))
    # Nothing is demanded of the steps, but where no weight has moved they tell two mistakes apart.
    found = {"weights": training.parameters(model), "losses": losses, "steps": np.float64(steps[0])}
    return found | {"outputs": training.outputs_on(device, model, batches[0][0].astype(np.float32))}


def devices_of_steps(ns, kind, sizes, weights, batches, settings, device):
    """Where outputs, parameters and momentum are in each `train_step`, and the weights afterwards."""
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    watch = training.Watch()
    model.append(watch)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    loss_fn = torch.nn.CrossEntropyLoss()
    for x, y in batches:
        ns.train_step(model, [torch.tensor(x), torch.tensor(y)], loss_fn, optimizer, device)
    state = [value for entry in optimizer.state.values() for value in entry.values() if torch.is_tensor(value)]
    return {
        "outputs": watch.devices,
        "parameters": sorted({str(p.device) for p in model.parameters()}),
        "momentum": sorted({str(value.device) for value in state}),
        "weights": training.parameters(model),
    }


# --- 2. make_loaders ------------------------------------------------------------------------------------------------


def loaders_two_epochs(ns, x_train, y_train, x_val, y_val, batch_size, device, seed):
    """Every batch of both loaders in two epochs."""
    train_loader, val_loader = ns.make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed)

    def epoch(loader):
        return [(x.numpy().copy(), y.numpy().copy()) for x, y in loader]

    return {"train": [epoch(train_loader), epoch(train_loader)], "validation": [epoch(val_loader), epoch(val_loader)]}


def kinds_of_batches(ns, x_train, y_train, x_val, y_val, batch_size, device, seed):
    """What both loaders are, and their batches: kinds, and devices."""
    import torch

    found = {}
    loaders = ns.make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed)
    for name, loader in zip(("train", "validation"), loaders, strict=True):
        x, y = next(iter(loader))
        kind = "DataLoader" if isinstance(loader, torch.utils.data.DataLoader) else type(loader).__name__
        found[name] = {"kind": kind, "workers": getattr(loader, "num_workers", 0), "on": [str(x.device), str(y.device)]}
    return found


def orders_by_seed(ns, x, y, batch_size, device, seeds, epochs, noise, validated):
    """The rows in the order of each epoch, for each seed; `noise` seeds the global generators before each epoch, and
    where it is `validated` a pass over the validation rows follows each. All loaders are made before the first epoch.
    """
    import random

    import numpy as np
    import torch

    orders, made = [], []
    for place, seed in enumerate(seeds):
        torch.manual_seed(noise[place][0])
        made.append(ns.make_loaders(x, y, x, y, batch_size, device, seed))
    for place, (train_loader, val_loader) in enumerate(made):
        of_this = []
        for epoch in range(epochs):
            torch.manual_seed(noise[place][epoch])
            np.random.seed(noise[place][epoch])
            random.seed(noise[place][epoch])
            of_this.append(np.concatenate([rows.cpu().numpy() for rows, _ in train_loader]).ravel())
            if validated[place]:
                list(val_loader)
        orders.append(of_this)
    return orders


def draws_after_making_loaders(ns, x, y, batch_size, device, seed, noise):
    """What the three global generators give after `make_loaders`, and the rows of an epoch, sorted."""
    import random

    import numpy as np
    import torch

    torch.manual_seed(noise)
    np.random.seed(noise)
    random.seed(noise)
    train_loader, _ = ns.make_loaders(x, y, x, y, batch_size, device, seed)
    drawn = [torch.rand(3).numpy(), np.random.rand(3), np.array([random.random() for _ in range(3)])]
    rows = np.concatenate([batch.cpu().numpy() for batch, _ in train_loader])
    return {"draws": drawn, "rows": rows[np.argsort(rows[:, 0])]}


# --- 3. train_epoch -------------------------------------------------------------------------------------------------


def weights_after_an_epoch(
    ns, kind, sizes, weights, x, y, batch_size, settings, device, training_mode=True, drop_last=False, double=False
):
    """Weights, running statistics and mean loss after one `train_epoch`.

    double: model and batches are float64, and the loss is the mean squared error.
    """
    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    model.train(training_mode)
    if double:
        model.double()
    loss_fn = torch.nn.MSELoss() if double else torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    steps = training.count_steps(optimizer)
    loader = training.batches_of(x, y, batch_size, drop_last=drop_last)
    loss = ns.train_epoch(model, loader, loss_fn, optimizer, device)
    found = {"weights": training.parameters(model), "statistics": training.buffers(model), "loss": loss}
    # Nothing is demanded of the steps, but where no weight has moved they tell two mistakes apart.
    found["steps"] = np.float64(steps[0])
    return found | {"outputs": training.outputs_on(device, model, x.astype(np.float32))}


def economy_of_an_epoch(ns, kind, sizes, weights, x, y, batch_size, settings, device):
    """What `train_epoch` copies and how often it waits; the device's memory as each batch is fetched."""
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    memory = []
    loader = training.batches_of(x, y, batch_size, lambda: memory.append(torch.cuda.memory_allocated(device)))
    loss_fn = torch.nn.CrossEntropyLoss()
    ns.train_epoch(model, loader, loss_fn, optimizer, device)  # the first allocates gradients and momentum
    memory.clear()
    with training.device_step() as found:
        ns.train_epoch(model, loader, loss_fn, optimizer, device)
    step = found[0]
    return {
        "to the device": step.nbytes["host to device"],
        "between devices": step.nbytes["device to device"],
        "to the host": step.nbytes["device to host"],
        "waits": sum(step.syncs.values()),
        "memory": memory,
        "weights": training.parameters(model),
    }


def epoch_in_little_memory(ns, kind, sizes, weights, x, y, many, settings, device, held, room):
    """Weights after an epoch that goes over the same batch again and again, with `room` bytes to spare.

    held: what the graph of each batch holds in memory.
    """
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    model.append(training.Heavy(held))
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    loader = [(torch.tensor(x).repeat(1, sizes[0] // x.shape[1]), torch.tensor(y))] * many
    loss_fn = torch.nn.CrossEntropyLoss()
    ns.train_epoch(model, loader[:3], loss_fn, optimizer, device)  # the first allocates gradients and momentum
    with training.memory_left(device, room):
        ns.train_epoch(model, loader, loss_fn, optimizer, device)
    return training.parameters(model)


def graphs_in_an_epoch(ns, kind, sizes, weights, x, y, batch_size, settings, device):
    """How many graphs are alive as each batch is fetched."""
    import gc

    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    watch = training.Watch()
    model.append(watch)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    alive = []

    def look():
        if watch.graphs_alive() > 1:
            gc.collect()
        alive.append(watch.graphs_alive())

    loader = training.batches_of(x, y, batch_size, look)
    ns.train_epoch(model, loader, torch.nn.CrossEntropyLoss(), optimizer, device)
    return {"alive": alive, "weights": training.parameters(model)}


# --- 4. evaluate ----------------------------------------------------------------------------------------------------


def evaluation(ns, kind, sizes, weights, statistics, x, y, batch_size, device, training_mode, drop_last=False, **more):
    """What `evaluate` returns, also in a second call without the first row, and what the model then gives for all rows.

    In training mode that depends on the other rows, so it shows in which mode the model was left. smoothing: the loss
    smooths the labels. double: model and rows are float64.
    """
    import copy

    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights, statistics).to(device).train(training_mode)
    if more.get("double"):
        model, x = model.double(), x.astype("float64")
    loader = training.batches_of(x, y, batch_size, drop_last=drop_last)
    loss_fn = torch.nn.CrossEntropyLoss(label_smoothing=more.get("smoothing", 0.0))
    first = ns.evaluate(model, loader, loss_fn, device)
    with torch.no_grad():
        afterwards = copy.deepcopy(model)(torch.tensor(x).to(device)).cpu().numpy()
    others = training.batches_of(x[1:], y[1:], batch_size, drop_last=drop_last)
    return {"first": first, "second": ns.evaluate(model, others, loss_fn, device), "afterwards": afterwards}


def model_around_evaluation(ns, kind, sizes, weights, x, y, batch_size, device, gradient, frozen):
    """The result of `evaluate`, and what one training step then makes of the model: of its parameters and statistics.

    The step adds to the gradients that were there before, and moves what is not frozen.
    """
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in frozen)
        if name not in frozen:
            parameter.grad = torch.full_like(parameter, gradient)
    result = ns.evaluate(model, training.batches_of(x, y, batch_size), torch.nn.CrossEntropyLoss(), device)
    model.train()
    rows, labels = torch.tensor(x).to(device), torch.tensor(y).to(device)
    torch.nn.functional.cross_entropy(model(rows), labels).backward()
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    return {"result": result, "weights": training.parameters(model), "statistics": training.buffers(model)}


def evaluation_by_numpy(ns, kind, sizes, weights, x, y, batch_size, device):
    """What `evaluate` returns for a loss that NumPy computes, which takes no tensor that requires gradients."""
    import numpy as np
    import torch

    from course_lib.checks import training

    def in_numpy(outputs, labels):
        scores = outputs.numpy().astype(np.float64)
        right = np.exp(scores)[np.arange(len(scores)), labels.numpy()]
        return torch.tensor(float(np.mean(np.log(np.exp(scores).sum(axis=1)) - np.log(right))))

    model = training.network(kind, sizes, weights).to(device)
    return ns.evaluate(model, training.batches_of(x, y, batch_size), in_numpy, device)


def watched_evaluation(ns, kind, sizes, weights, x, y, batch_size, device):
    """For each forward pass of `evaluate`: whether in training mode, and whether the output requires gradients."""
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    watch = training.Watch()
    model.append(watch)
    result = ns.evaluate(model, training.batches_of(x, y, batch_size), torch.nn.CrossEntropyLoss(), device)
    return {"result": result, "training": watch.training_modes, "graph": watch.builds_graph}


def economy_of_an_evaluation(ns, kind, sizes, weights, x, y, batch_size, device):
    """What `evaluate` copies, and how often it waits."""
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    loader = training.batches_of(x, y, batch_size)
    with training.device_step() as found:
        result = ns.evaluate(model, loader, torch.nn.CrossEntropyLoss(), device)
    step = found[0]
    return {
        "result": result,
        "to the device": step.nbytes["host to device"],
        "to the host": step.nbytes["device to host"],
        "waits": sum(step.syncs.values()),
    }


# --- 5. train_epoch_amp ---------------------------------------------------------------------------------------------


def moves_in_mixed_precision(ns, kind, sizes, weights, x, y, batch_size, settings, scaling, max_norm, device, **more):
    """How far `train_epoch_amp` moves each parameter, the parameters, the mean loss and the scale afterwards.

    evaluating: the model arrives in that mode. split: the optimizer has two groups. smoothing: the loss smooths the
    labels.
    """
    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device).train(not more.get("evaluating", False))
    groups = [{"params": list(model.parameters())[k::2]} for k in (0, 1)]
    optimizer = torch.optim.SGD(groups if more.get("split") else model.parameters(), **settings)
    scaler = torch.amp.GradScaler("cuda", **scaling)
    loader = training.batches_of(x, y, batch_size)
    loss_fn = torch.nn.CrossEntropyLoss(label_smoothing=more.get("smoothing", 0.0))
    loss = ns.train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm)
    after = training.parameters(model)
    return {
        # In float16, so that they are compared as what they were computed from.
        "moves": {name: (after[name].astype(np.float64) - weights[name]).astype(np.float16) for name in weights},
        "weights": after,
        "loss": loss,
        "scale": scaler.get_scale(),
        "outputs": training.outputs_on(device, model, x),
    }


def mean_loss_in_mixed_precision(ns, kind, sizes, weights, x, y, batch_size, settings, scaling, max_norm, device):
    """The mean loss that `train_epoch_amp` returns, once more in float32 as what it was computed in."""
    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    scaler = torch.amp.GradScaler("cuda", **scaling)
    loader = training.batches_of(x, y, batch_size)
    loss = ns.train_epoch_amp(model, loader, torch.nn.CrossEntropyLoss(), optimizer, scaler, device, max_norm)
    return {"loss": loss, "in float32": np.float32(float(loss))}


def loss_of_large_outputs(ns, kind, sizes, weights, x, y, batch_size, settings, scaling, max_norm, device):
    """The mean loss that `train_epoch_amp` returns for a loss written with exponentials, and the moves."""
    import numpy as np
    import torch

    from course_lib.checks import training

    def written_out(outputs, labels):
        exponentials = outputs.exp()
        right = outputs.gather(1, labels[:, None])[:, 0]
        return (exponentials.sum(dim=1).log() - right).mean()

    model = training.network(kind, sizes, weights).to(device)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    scaler = torch.amp.GradScaler("cuda", **scaling)
    loss = ns.train_epoch_amp(
        model, training.batches_of(x, y, batch_size), written_out, optimizer, scaler, device, max_norm
    )
    after = training.parameters(model)
    moves = {name: (after[name].astype(np.float64) - weights[name]).astype(np.float16) for name in weights}
    return {"loss": loss, "scale": scaler.get_scale(), "moves": moves}


def dtypes_in_mixed_precision(ns, kind, sizes, weights, x, y, batch_size, settings, scaling, max_norm, device):
    """The dtype of the model's outputs and its mode in each forward pass of `train_epoch_amp`."""
    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    watch = training.Watch()
    model.append(watch)
    backwards = []

    def look(module, inputs, outputs):
        if outputs.requires_grad:
            outputs.register_hook(lambda _: backwards.append(torch.is_autocast_enabled("cuda")))

    watch.register_forward_hook(look)
    during = set()
    model.register_forward_pre_hook(lambda *_: during.update(str(p.dtype)[6:] for p in model.parameters()))
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    at_steps = []
    optimizer.register_step_pre_hook(lambda *_: at_steps.append(torch.is_autocast_enabled("cuda")))
    scaler = torch.amp.GradScaler("cuda", **scaling)
    loader = training.batches_of(x, y, batch_size)
    ns.train_epoch_amp(model, loader, torch.nn.CrossEntropyLoss(), optimizer, scaler, device, max_norm)
    after = training.parameters(model)
    moves = {name: (after[name].astype(np.float64) - weights[name]).astype(np.float16) for name in weights}
    seen = {"outputs": watch.dtypes, "training": watch.training_modes, "parameters": sorted(during)}
    seen |= {"autocast at steps": at_steps, "autocast in backward passes": backwards}
    return seen | {"moves": moves}


def economy_in_mixed_precision(ns, kind, sizes, weights, x, y, batch_size, settings, scaling, max_norm, device):
    """What `train_epoch_amp` copies; graphs alive and the device's memory as each batch is fetched; the moves."""
    import gc

    import numpy as np
    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights).to(device)
    watch = training.Watch()
    model.append(watch)
    optimizer = torch.optim.SGD(model.parameters(), **settings)
    scaler = torch.amp.GradScaler("cuda", **scaling)
    alive, memory = [], []

    def look():
        if watch.graphs_alive() > 1:
            gc.collect()
        alive.append(watch.graphs_alive())
        memory.append(torch.cuda.memory_allocated(device))

    loader = training.batches_of(x, y, batch_size, look)
    loss_fn = torch.nn.CrossEntropyLoss()
    ns.train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm)  # the first allocates gradients
    alive.clear()
    memory.clear()
    with training.device_step() as found:
        ns.train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm)
    after = training.parameters(model)
    return {
        "to the device": found[0].nbytes["host to device"],
        "to the host": found[0].nbytes["device to host"],
        "waits": sum(found[0].syncs.values()),
        "alive": alive,
        "memory": memory,
        "moves": {name: (after[name].astype(np.float64) - weights[name]).astype(np.float16) for name in weights},
    }


# --- 6. checkpoint --------------------------------------------------------------------------------------------------


def interrupted_run(ns, kind, sizes, weights, x, y, batch_size, rule, parts, epochs, noise, device, **more):
    """A run of `epochs[1]` epochs that is saved after `epochs[0]`, with its file; given a `file`, the run that goes on.

    rule: optimizer and its settings. parts: settings of the schedule and the scaler, or None for each. noise: seed of
    the random generator. no_gpu: no CUDA device is to be had while the file is loaded. rewritten: before that, another
    program reads the file as plain data and writes what it has read.
    """
    import os
    import tempfile

    import numpy as np
    import torch

    from course_lib.checks import training

    file, no_gpu = more.get("file"), more.get("no_gpu", False)
    torch.manual_seed(noise)
    model = training.network(kind, sizes, weights).to(device)
    optimizer = getattr(torch.optim, rule[0])(model.parameters(), **rule[1])
    scheduler = parts[0] and torch.optim.lr_scheduler.StepLR(optimizer, **parts[0])
    scaler = parts[1] and torch.amp.GradScaler(torch.device(device).type, **parts[1])
    loader = training.batches_of(x, y, batch_size)
    loss_fn = torch.nn.CrossEntropyLoss()

    def trained(many):
        for _ in range(many):
            for rows, labels in loader:
                optimizer.zero_grad()
                loss = loss_fn(model(rows.to(device)), labels.to(device))
                (scaler.scale(loss) if scaler else loss).backward()
                if scaler:
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    optimizer.step()
            if scheduler:
                scheduler.step()

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.pt")
        if file is None:
            trained(epochs[0])
            ns.save_checkpoint(path, model, optimizer, scheduler, scaler, epochs[0])
            with open(path, "rb") as written:
                found["file"] = written.read()
        else:
            with open(path, "wb") as copied:
                copied.write(file)
            if more.get("rewritten"):
                torch.save(torch.load(path, map_location="cpu", weights_only=True), path)
            asked = torch.cuda.is_available, torch.cuda.device_count
            if no_gpu:
                torch.cuda.is_available, torch.cuda.device_count = (lambda: False), (lambda: 0)
            try:
                epoch = ns.load_checkpoint(path, model, optimizer, scheduler, scaler, device)
            finally:
                torch.cuda.is_available, torch.cuda.device_count = asked
            found["epoch"] = np.int64(epoch) if type(epoch) is int else epoch
    trained(epochs[1] - epochs[0])
    return found | {
        "weights": training.parameters(model),
        "statistics": training.buffers(model),
        "learning rate": optimizer.param_groups[0]["lr"],
        "scale": scaler.get_scale() if scaler else 0.0,
    }


# --- 7. fit ---------------------------------------------------------------------------------------------------------


def fitted(ns, kind, sizes, weights, x, y, x_val, y_val, batch_size, epochs, learning_rate, device, trained=None):
    """What `fit` returns, and what the model holds afterwards. trained: the only parameters that require gradients."""
    import tempfile

    from course_lib.checks import training

    model = training.network(kind, sizes, weights)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(trained is None or name in trained)
    # Nothing is demanded of the watch: it tells a model that was never on the device from one brought back.
    model.append(training.Watch())
    loaders = training.batches_of(x, y, batch_size), training.batches_of(x_val, y_val, batch_size)
    with tempfile.TemporaryDirectory() as folder:
        history = ns.fit(model, *loaders, epochs, learning_rate, device, folder)
    found = {"history": history, "weights": training.parameters(model), "statistics": training.buffers(model)}
    return found | {"outputs": training.outputs_on(device, model, x[:8])}


def scalars_of_a_fit(ns, kind, sizes, weights, x, y, x_val, y_val, batch_size, epochs, learning_rate, device):
    """The event files of `fit` when it has returned, and what is read from them here: tag -> steps and values."""
    import os
    import tempfile

    import numpy as np

    from course_lib.checks import training

    model = training.network(kind, sizes, weights)
    loaders = training.batches_of(x, y, batch_size), training.batches_of(x_val, y_val, batch_size)
    files = []
    with training.patient_writers(), tempfile.TemporaryDirectory() as folder:
        ns.fit(model, *loaders, epochs, learning_rate, device, folder)
        for name in sorted(os.listdir(folder)):
            if "tfevents" in name and os.path.isfile(os.path.join(folder, name)):
                with open(os.path.join(folder, name), "rb") as written:
                    files.append(written.read())
        scalars = training.read_scalars(folder)
    read = {tag: {"steps": np.array([s for s, _ in r]), "values": [v for _, v in r]} for tag, r in scalars.items()}
    return {"files": files, "scalars": read}


def devices_of_a_fit(ns, kind, sizes, weights, x, y, x_val, y_val, batch_size, epochs, learning_rate, device):
    """On which devices the forward passes of `fit` ran, and where the parameters are afterwards."""
    import tempfile

    from course_lib.checks import training

    model = training.network(kind, sizes, weights)
    watch = training.Watch()
    model.append(watch)
    loaders = training.batches_of(x, y, batch_size), training.batches_of(x_val, y_val, batch_size)
    with tempfile.TemporaryDirectory() as folder:
        ns.fit(model, *loaders, epochs, learning_rate, device, folder)
    return {"outputs": sorted(set(watch.devices)), "parameters": sorted({str(p.device) for p in model.parameters()})}


def outputs_at_validation(
    ns, kind, sizes, weights, x, y, x_val, y_val, batch_size, batch_size_val, epochs, learning_rate, device
):
    """The training losses of a `fit`, and its outputs in each validation. Asked of the judge's side alone."""
    import tempfile

    import torch

    from course_lib.checks import training

    model = training.network(kind, sizes, weights)
    outputs = []

    def look():
        mode = model.training
        with torch.no_grad():
            outputs.append(model.eval()(torch.tensor(x_val)).numpy())
        model.train(mode)

    loaders = training.batches_of(x, y, batch_size), training.batches_of(x_val, y_val, batch_size_val, look)
    with tempfile.TemporaryDirectory() as folder:
        history = ns.fit(model, *loaders, epochs, learning_rate, device, folder)
    return {"train": history["loss/train"], "outputs": outputs}


def scores(ns, kind, sizes, weights, statistics, x):
    """The outputs of a network in evaluation mode. Asked of the judge's own side alone."""
    import torch

    from course_lib.checks import training

    with torch.no_grad():
        return training.network(kind, sizes, weights, statistics).eval()(torch.tensor(x)).numpy()
