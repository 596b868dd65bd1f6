"""What the hidden checks of a9 ask: each function is sent as source and runs beside the student's scripts.

Data comes from the judge, the student's training functions run on it, and arrays come back.
"""

from __future__ import annotations


def digits_run(ns, x_train, y_train, x_test, y_test, options):
    """Weights, running statistics, history and outputs after `train_digits`.

    Also what `evaluate_digits` says of rows in batches of two sizes, with a loss that takes the mean of a batch and
    with one that takes the sum.
    """
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    from course_lib.checks import training

    net, history = ns.train_digits(x_train, y_train, x_test, y_test, **options)
    for name, values in dict(history).items():
        if not isinstance(values, list):
            raise TypeError(f'history["{name}"] is no list: its type is {type(values).__name__}')
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    found = {"weights": training.parameters(net), "statistics": training.buffers(net), "history": numbers}
    outputs = training.outputs_on(options["device"], net, x_test)
    loader = DataLoader(TensorDataset(torch.tensor(x_test), torch.tensor(y_test)), batch_size=16)
    tested = [
        ns.evaluate_digits(net.eval(), loader, torch.nn.CrossEntropyLoss(reduction=how), options["device"])
        for how in ("mean", "sum")
    ]
    return {**found, "outputs": outputs - outputs.mean(axis=1, keepdims=True), "tested": np.array(tested, np.float64)}


def half_run(ns, x, y, options):
    """Weights and history after `train_in_half`; norms that are not finite are 0."""
    import numpy as np

    from course_lib.checks import training

    net, history = ns.train_in_half(x, y, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    if "norm" in numbers:
        numbers["norm"] = np.nan_to_num(numbers["norm"], nan=0.0, posinf=0.0)
    return {"weights": training.parameters(net), "history": numbers}


def pets_run(ns, trained, statistics, x_train, y_train, x_val, y_val, options):
    """What the network that `fine_tune` returns gives for the validation rows, its head, and the history.

    The first network is built from arrays. In the end its backbone shows in the outputs, and `first` are its own.
    """
    import numpy as np
    import torch

    from course_lib.checks import training

    old = ns.PetNet(x_train.shape[1], len(trained["head.weight"][0]), len(trained["head.bias"]))
    arrays = {name: torch.tensor(value) for name, value in {**trained, **statistics}.items()}
    old.load_state_dict(arrays, strict=False)
    net, history = ns.fine_tune(old, x_train, y_train, x_val, y_val, **options)
    for name, values in dict(history).items():
        if not isinstance(values, list):
            raise TypeError(f'history["{name}"] is no list: its type is {type(values).__name__}')
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    outputs = training.outputs_on(options["device"], net, x_val)
    first = training.outputs_on("cpu", old, x_val)
    return {"outputs": outputs, "first": first, "head": training.parameters(net.head), "history": numbers}


def forecast_run(ns, series, options):
    """Weights and history after `train_forecaster`, what the network gives for windows, and those of `make_windows`."""
    import numpy as np
    import torch

    from course_lib.checks import training

    net, history = ns.train_forecaster(series, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    windows, targets = (part.numpy() for part in ns.make_windows(torch.tensor(series), options["window"]))
    rows = np.lib.stride_tricks.sliding_window_view(series - series.mean(), options["window"])
    found = {"weights": training.parameters(net), "history": numbers, "windows": windows, "targets": targets}
    return {**found, "outputs": training.outputs_on(options["device"], net, rows)}


def long_run(ns, x, y, stops, options):
    """Weights and losses of `train_long`, called until each of `stops`, as if it was interrupted there."""
    import os
    import tempfile

    import numpy as np

    from course_lib.checks import training

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.pt")
        for until in stops:
            net, losses = ns.train_long(x, y, path, until=until, **options)
    if not isinstance(losses, list):
        raise TypeError(f"the losses are no list: their type is {type(losses).__name__}")
    return {"weights": training.parameters(net), "losses": np.array(losses, np.float64)}


def long_interrupted(ns, x, y, later, until, steps, options):
    """Weights and losses of `train_long`, called again with the labels `later` after `steps` steps of it were done.

    In between another run begins, so that only the file knows of the first.
    """
    import os
    import tempfile

    import numpy as np
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    from course_lib.checks import training

    class Interrupted(Exception):
        pass

    def interrupt(*_):
        done.append(1)
        if len(done) > steps:
            raise Interrupted

    done = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.pt")
        hook = register_optimizer_step_pre_hook(interrupt)
        try:
            ns.train_long(x, y, path, until=until, **options)
        except Interrupted:
            pass
        finally:
            hook.remove()
        ns.train_long(x, later, os.path.join(folder, "other.pt"), until=1, **options)
        net, losses = ns.train_long(x, later, path, until=until, **options)
    return {"weights": training.parameters(net), "losses": np.array(losses, np.float64)}


def long_economy(ns, x, y, until, options):
    """What `train_long` copies to the device, and the weights.

    Also how many epochs are done: by the file, by the losses, and by the losses one epoch later.
    """
    import contextlib
    import os
    import tempfile

    import torch

    from course_lib.checks import training

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.pt")
        with training.device_step() as found:
            net, losses = ns.train_long(x, y, path, until=until, **options)
        numbers = {"weights": training.parameters(net), "epochs": len(losses)}
        kept = torch.load(path, map_location="cpu", weights_only=False)
        with contextlib.suppress(Exception):  # `long_run` says whether a run can go on at all
            _, losses = ns.train_long(x, y, path, until=until + 1, **options)
    done = int(kept["done"]) if "done" in kept else numbers["epochs"]
    return numbers | {"copied": found[0].nbytes["host to device"], "done": done, "later": len(losses)}


def keras_run(ns, x_train, y_train, x_val, y_val, x_test, y_test, options):
    """Weights and history after `train_in_keras`, and what the model gives for the validation rows.

    Logits are the same whatever is added to a row of them: of each row its mean is taken off.
    """
    import keras
    import numpy as np

    with keras.device("cpu"):
        model, history = ns.train_in_keras(x_train, y_train, x_val, y_val, x_test, y_test, **options)
        outputs = np.array(model.predict(x_val, verbose=0), np.float32)
    outputs -= outputs.mean(axis=-1, keepdims=True)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    arrays = [np.array(keras.ops.convert_to_numpy(weight), np.float32) for weight in model.trainable_weights]
    weights = {str(place): value for place, value in enumerate(arrays)}
    return {"weights": weights, "history": numbers, "outputs": outputs}
