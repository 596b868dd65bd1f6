"""What the hidden checks of a9 ask: each function is sent as source and runs beside the student's scripts.

Data comes from the judge, the student's training functions run on it, and arrays come back.
"""

from __future__ import annotations


def digits_run(ns, x_train, y_train, x_test, y_test, options):
    """Weights, running statistics and history after `train_digits`."""
    import numpy as np

    from course_lib.checks import training

    net, history = ns.train_digits(x_train, y_train, x_test, y_test, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    return {"weights": training.parameters(net), "statistics": training.buffers(net), "history": numbers}


def half_run(ns, x, y, options):
    """Weights and history after `train_in_half`."""
    import numpy as np

    from course_lib.checks import training

    net, history = ns.train_in_half(x, y, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    return {"weights": training.parameters(net), "history": numbers}


def pets_run(ns, trained, statistics, x_train, y_train, x_val, y_val, options):
    """What the network that `fine_tune` returns gives for the validation rows, its head, and the history.

    The first network is built from arrays. In the end its backbone shows in the outputs.
    """
    import numpy as np
    import torch

    from course_lib.checks import training

    old = ns.PetNet(x_train.shape[1], len(trained["head.weight"][0]), len(trained["head.bias"]))
    arrays = {name: torch.tensor(value) for name, value in {**trained, **statistics}.items()}
    old.load_state_dict(arrays, strict=False)
    net, history = ns.fine_tune(old, x_train, y_train, x_val, y_val, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    outputs = training.outputs_on(options["device"], net, x_val)
    return {"outputs": outputs, "head": training.parameters(net.head), "history": numbers}


def forecast_run(ns, series, options):
    """Weights and history after `train_forecaster`."""
    import numpy as np

    from course_lib.checks import training

    net, history = ns.train_forecaster(series, **options)
    numbers = {name: np.array(values, np.float64) for name, values in dict(history).items()}
    return {"weights": training.parameters(net), "history": numbers}


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
