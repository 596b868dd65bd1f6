"""The hidden checks of a6: the sentences of the notebook, on networks and data that nobody has seen.

Each docstring is what the student reads. What was computed is compared with the reference, which trains the same
network here; what was only watched (copies, waits, modes, living graphs) stands in checks of its own, marked so. The
CPU comes first: there every exercise but the fifth can be asked, whatever machine this is.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pytest
from probes import (
    devices_of_a_fit,
    devices_of_steps,
    draws_after_making_loaders,
    dtypes_in_mixed_precision,
    economy_in_mixed_precision,
    economy_of_an_epoch,
    economy_of_an_evaluation,
    epoch_in_little_memory,
    evaluation,
    evaluation_by_numpy,
    fitted,
    graphs_in_an_epoch,
    interrupted_run,
    kinds_of_batches,
    loaders_two_epochs,
    loss_of_large_outputs,
    mean_loss_in_mixed_precision,
    model_around_evaluation,
    moves_in_mixed_precision,
    orders_by_seed,
    outputs_at_validation,
    scalars_of_a_fit,
    scores,
    watched_evaluation,
    weights_after_an_epoch,
    weights_after_steps,
)

from autograder.judge import BadReply, LimitReached, StudentError
from course_lib.checks import training
from course_lib.compare import distance
from course_lib.data import load_digits

SGD = {"lr": 0.5, "momentum": 0.9}
CUDA_NAMES = ["cuda", "cuda:0", "cuda:1"]
FOUR_DIGITS = {"rtol": 2e-4, "atol": 2e-4}
"""for numbers that are returned, which may be rounded"""
DRAWN = " with drawn gains"
"""added to the kind of a network: it draws numbers on its device, so that what was computed elsewhere is wrong"""


# --- 1. train_step --------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_train_step", weight=2)
@pytest.mark.parametrize("settings", [{"lr": 0.5}, SGD], ids=["sgd", "momentum"])
@pytest.mark.parametrize("steps", [2, 1, 3])  # two first: at the first step several mistakes are alike
def test_steps_on_the_cpu(student, reference, draw, expect, steps, settings):
    """One, two and three steps on the CPU lead to the right weights, and each returns the loss before it."""
    sizes = (4, 4, 3)
    weights = start(draw, "mlp", sizes)
    batches = [rows(draw, n, sizes) for n in (5, 1, 4)[:steps]]
    data = {"kind": "mlp", "sizes": sizes, "weights": weights, "batches": batches, "settings": settings}
    require_steps(student, reference, expect, data | {"device": "cpu"}, steps)


@pytest.mark.cell("test_train_step", search="single")
def test_many_steps_on_the_cpu(student, reference, draw, expect):
    """Six to nine steps on the CPU lead to the right weights, too; so do steps with another loss and another optimizer,
    in float64.
    """
    sizes = (3, 5, 4)
    weights = start(draw, "mlp", sizes)
    batches = [rows(draw, 4, sizes) for _ in range(many(draw))]
    data = {"kind": "mlp", "sizes": sizes, "weights": weights, "batches": batches, "settings": {"lr": 0.3}}
    require_steps(student, reference, expect, data | {"device": "cpu"}, len(batches))
    batches = [(draw.normal((4, 3)), draw.normal((4, 4))) for _ in range(2)]
    data |= {"batches": batches, "settings": {"lr": 0.05}, "stale": 0.7, "double": True}
    require_steps(student, reference, expect, data | {"device": "cpu"}, len(batches))


@pytest.mark.cell("test_train_step", weight=1.9, search="single")
def test_step_with_old_gradients(student, reference, draw, expect):
    """A step is right when gradients of something else lie in `.grad`."""
    sizes = (3, 5, 4)
    weights = start(draw, "mlp", sizes)
    data = {"kind": "mlp", "sizes": sizes, "weights": weights, "batches": [rows(draw, 6, sizes)], "settings": SGD}
    require_steps(student, reference, expect, data | {"device": "cpu", "stale": 0.7}, 1)


@pytest.mark.cell("test_train_step", weight=1.3, needs="cuda", search="single")
@pytest.mark.parametrize("name", CUDA_NAMES)
def test_steps_on_a_cuda_device(student, reference, draw, expect, name):
    """Steps on `cuda`, `cuda:0` and `cuda:1` lead to the right weights, with a network that draws numbers there."""
    require_steps(student, reference, expect, two_steps_on(draw, name), 2)


@pytest.mark.cell("test_train_step", weight=0.5, needs="cuda", search="single")
@pytest.mark.parametrize("name", CUDA_NAMES)
def test_devices_of_a_step(student, reference, draw, expect, name):
    """Parameters, momentum and outputs are on the device that was asked for, and the steps are right."""
    data = two_steps_on(draw, name)
    got, wanted = student.run(devices_of_steps, **data), reference.run(devices_of_steps, **data)
    require_devices(expect, got, name, ("parameters", "momentum", "outputs"))
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=2, name="the weights")


def two_steps_on(draw, name):
    sizes = (3, 4, 5)
    weights = start(draw, "mlp", sizes)
    batches = [rows(draw, n, sizes) for n in (4, 3)]
    data = {"kind": "mlp" + DRAWN, "sizes": sizes, "weights": weights, "batches": batches, "settings": SGD}
    return data | {"device": name}


def require_steps(student, reference, expect, data, steps):
    got, wanted = student.run(weights_after_steps, **data), reference.run(weights_after_steps, **data)
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=steps, name="the weights")
    require_outputs(expect, got, wanted)
    for loss in got["losses"]:
        require_float(expect, "train_step", loss)
    names = numbered("the loss of step", steps)
    expect.close(got["losses"], wanted["losses"], "the losses", names=names, **FOUR_DIGITS)


# --- 2. make_loaders ------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_make_loaders", weight=0.5, search="single")
@pytest.mark.parametrize(("n", "batch_size", "shape"), [(10, 4, (3,)), (9, 2, (1, 2, 2)), (6, 6, (2,))])
def test_every_row_once(student, draw, expect, n, batch_size, shape):
    """In every epoch each loader gives every row once, with its label; validation keeps the order, the last batch the
    rest.
    """
    require_rows(student, draw, expect, n, batch_size, shape, "cpu")


@pytest.mark.cell("test_make_loaders", weight=1.2, needs="cuda", search="single")
@pytest.mark.parametrize("name", ["cuda:1", "cuda"])
def test_batches_for_a_cuda_device(student, draw, expect, name):
    """Batches that will go to a CUDA device start on the host, too, every row once and with its label."""
    try:
        require_rows(student, draw, expect, 8, 3, (2,), name)
    except StudentError as error:
        on_device = "can't convert cuda" in str(error)
        expect.true(not on_device, "the batches are on the device already.", fault="batches-on-the-device")
        raise


@pytest.mark.cell("test_make_loaders", weight=0.2, needs="cuda", search="single")
def test_kinds_of_loaders(student, expect, draw):
    """Both loaders are `DataLoader`s without worker processes, and their batches are on the host."""
    data = arrays(draw, 5, 4, (2,)) | {"batch_size": 3, "device": "cuda:1", "seed": seed(draw)}
    for name, facts in student.run(kinds_of_batches, **data).items():
        sentence = f"The {name} loader is a {facts['kind']}, not a DataLoader."
        expect.true(facts["kind"] == "DataLoader", sentence, kind="type", fault="loader-is-no-dataloader")
        expect.true(facts["workers"] == 0, f"The {name} loader uses {facts['workers']} worker processes.")
        sentence = f"The batches of the {name} loader are on {facts['on']}; they belong on the host."
        expect.true(facts["on"] == ["cpu", "cpu"], sentence, fault="batches-on-the-device")


def require_rows(student, draw, expect, n, batch_size, shape, device):
    data = arrays(draw, n, n - 1, shape) | {"batch_size": batch_size, "device": device, "seed": seed(draw)}
    got = student.run(loaders_two_epochs, **data)
    sets = ("train", data["x_train"], data["y_train"]), ("validation", data["x_val"], data["y_val"])
    first = np.concatenate([x for x, _ in got["train"][0]])
    swapped = first.shape == data["x_val"].shape and all(whose(row, data["x_val"]) >= 0 for row in first)
    expect.true(not swapped, "The training loader gives the validation rows.", fault="loaders-swapped")
    for name, x, y in sets:
        for number, epoch in enumerate(got[name]):
            of = f"{'training' if name == 'train' else 'validation'} epoch {number + 1}"
            found = [len(labels) for _, labels in epoch]
            whole = [batch_size] * (len(x) // batch_size) + [len(x) % batch_size] * (len(x) % batch_size > 0)
            if len(found) == len(whole) - 1 and found == whole[:-1] and whole[-1] < batch_size:
                expect.true(False, f"{of}: the last, smaller batch is missing.", fault="last-batch-dropped")
            expect.equal(found, whole, f"the sizes of the batches of {of}")
            rows_x, labels = (np.concatenate([batch[part] for batch in epoch]) for part in (0, 1))
            expect.true(rows_x.shape == x.shape, f"{of}: the rows have the shape {rows_x.shape}, not {x.shape}.")
            sentence = f"{of}: x is {rows_x.dtype} and y {labels.dtype}; float32 and int64 are asked for."
            right = [rows_x.dtype, labels.dtype] == ["float32", "int64"]
            expect.true(right, sentence, fault="batches-of-another-dtype")
            order = np.array([whose(row, x) for row in rows_x])
            if name == "validation":
                shuffled = sorted(order) == list(range(len(x)))
                in_order = list(order) == list(range(len(x)))
                fault = "validation-shuffled" if shuffled else ""
                expect.true(in_order, f"{of}: the rows come in the order {order.tolist()}.", fault=fault)
            expect.equal(np.sort(order), np.arange(len(x)), f"the numbers of the rows of {of}, sorted")
            sentence = f"{of}: the labels do not belong to their rows."
            pairs = labels.shape == order.shape and np.array_equal(labels, y[order])
            expect.true(pairs, sentence, fault="labels-not-with-rows")


@pytest.mark.cell("test_make_loaders", weight=1.2, search="single")
def test_global_generators_stay(student, reference, draw, expect):
    """The loaders are right, and making them does not disturb the random generators of torch, NumPy and Python."""
    data = arrays(draw, 6, 6, (2,))
    called = {"x": data["x_train"], "y": data["y_train"], "batch_size": 3, "device": "cpu", "seed": seed(draw)}
    called["noise"] = seed(draw)
    got, wanted = student.run(draws_after_making_loaders, **called), reference.run(draws_after_making_loaders, **called)
    order = [whose(row, data["x_train"]) for row in got["rows"]]
    expect.equal(np.sort(order), np.arange(6), "the numbers of the rows of an epoch, sorted")
    for name, one, other in zip(("torch", "NumPy", "random"), wanted["draws"], got["draws"], strict=True):
        sentence = f"After make_loaders, {name} draws other numbers than without it."
        expect.true(np.array_equal(one, other), sentence, fault="global-generator-seeded")


@pytest.mark.cell("test_make_loaders", weight=1.2, search="single")
def test_seed_decides_the_orders(student, draw, expect):
    """The same seed gives the same orders epoch by epoch, another seed others; epochs differ."""
    x = np.arange(40, dtype=np.float32)[:, None]
    y = draw.integers(0, 3, 40)
    one, other = seed(draw), seed(draw)
    noise = [[seed(draw) for _ in range(3)] for _ in range(4)]
    data = {"x": x, "y": y, "batch_size": 8, "device": "cpu", "epochs": 3, "noise": noise}
    data |= {"seeds": [one, one, other, one], "validated": [False, False, False, True]}
    first, again, third, validated = student.run(orders_by_seed, **data)
    for order in (*first, *again, *third):
        expect.equal(np.sort(order), x[:, 0], "the rows of an epoch, sorted")
    unshuffled = all(np.array_equal(order, x[:, 0]) for order in first)
    sentence = "In every training epoch the rows come in the order of the arrays."
    expect.true(not unshuffled, sentence, fault="training-not-shuffled")
    same = all(map(np.array_equal, first, again))
    sentence = "Two calls with the same seed gave different orders, or different later epochs."
    expect.true(same, sentence, fault="seed-does-not-decide")
    # In a random order one row in 40 is followed by the next one; 20 of 39 are never.
    neighbors = max(int(np.sum(np.diff(order) == 1)) for order in first)
    sentence = f"In the order of an epoch {neighbors} of 40 rows stand before the one that follows them."
    expect.true(neighbors < 20, sentence, kind="order", fault="training-order-in-runs")
    differ = not any(np.array_equal(first[i], first[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    expect.true(differ, "Two epochs of one loader have the same order.", fault="same-order-each-epoch")
    sentence = "A pass over val_loader after each epoch changes the orders of the later ones."
    expect.true(all(map(np.array_equal, first, validated)), sentence, fault="loaders-share-a-generator")
    sentence = "Two different seeds gave the same order."
    expect.true(not any(map(np.array_equal, first, third)), sentence, fault="seed-ignored")


def arrays(draw, n, n_val, shape):
    # Every row differs in every demonstration too: its number is its first entry.
    def numbered_rows(many, offset):
        x = draw.uniform((many, *shape), -1, 1, np.float32)
        x.reshape(many, -1)[:, 0] = np.arange(many) + offset
        return x

    return {
        "x_train": numbered_rows(n, 0),
        "y_train": draw.integers(0, 5, n),
        "x_val": numbered_rows(n_val, 100),
        "y_val": draw.integers(0, 5, n_val),
    }


def whose(row, x):
    """The number of a row of x, or -1."""
    found = [i for i in range(len(x)) if np.array_equal(row, x[i])]
    return found[0] if len(found) == 1 else -1


def seed(draw):
    return int(draw.integers(0, 2**31, 1)[0])


# --- 3. train_epoch -------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_train_epoch", weight=2)
@pytest.mark.parametrize("batches", [3, 1, 2])  # three first: in a short epoch several mistakes are alike
def test_weights_after_an_epoch(student, reference, draw, expect, batches):
    """The weights are right after an epoch of one, two and three batches, the last one smaller."""
    sizes = (4, 4, 3)
    x, y = rows(draw, 4 * batches - 1, sizes)
    require_epoch(student, reference, draw, expect, "mlp", sizes, x, y, 4, "cpu")


@pytest.mark.cell("test_train_epoch", weight=2, search="single")
def test_a_long_epoch(student, reference, draw, expect):
    """Weights, statistics and mean loss are right for six to nine batches, also where the loader leaves rows out, and
    with another loss, in float64.
    """
    sizes = (3, 5, 4)
    for drop_last in (False, True):
        x, y = rows(draw, 4 * many(draw) - 2, sizes)
        more = {"settings": {"lr": 0.3}, "training_mode": False, "drop_last": drop_last}
        got, wanted = require_epoch(student, reference, draw, expect, "norm", sizes, x, y, 4, "cpu", **more)
        require_float(expect, "train_epoch", got["loss"])
        expect.close(got["loss"], wanted["loss"], "the mean loss", **FOUR_DIGITS)
    x, y = draw.normal((10, 3)), draw.normal((10, 4))
    more = {"settings": {"lr": 0.1}, "double": True}
    got, wanted = require_epoch(student, reference, draw, expect, "norm", sizes, x, y, 4, "cpu", **more)
    expect.close(got["loss"], wanted["loss"], "the mean loss", **FOUR_DIGITS)


@pytest.mark.cell("test_train_epoch", weight=1.25, search="single")
@pytest.mark.parametrize(("n", "batch_size"), [(9, 4), (10, 4), (3, 8)])
def test_mean_loss(student, reference, draw, expect, n, batch_size):
    """The result is the mean loss over the rows of the epoch, a float."""
    sizes = (3, 5, 4)
    for _ in range(50):
        data = epoch_of(draw, "mlp", sizes, *rows(draw, n, sizes), batch_size, "cpu")
        if tells(*losses_of_batches(reference, weights_after_an_epoch, data, lambda answer: answer["loss"])):
            break
    got = student.run(weights_after_an_epoch, **data)
    require_float(expect, "train_epoch", got["loss"])
    expect.close(got["loss"], reference.run(weights_after_an_epoch, **data)["loss"], "the mean loss", **FOUR_DIGITS)


@pytest.mark.cell("test_train_epoch", search="single")
@pytest.mark.parametrize("mode", [True, False], ids=["from training", "from evaluation"])
def test_training_mode(student, reference, draw, expect, mode):
    """With batch normalization, weights and running statistics are right, in whichever mode the model arrives."""
    sizes = (4, 3, 3)
    x, y = rows(draw, 11, sizes)
    require_epoch(student, reference, draw, expect, "norm", sizes, x, y, 4, "cpu", training_mode=mode)


@pytest.mark.cell("test_train_epoch", weight=3, needs="cuda", search="single")
@pytest.mark.parametrize("name", CUDA_NAMES)
def test_epoch_on_a_cuda_device(student, reference, draw, expect, name):
    """An epoch on `cuda`, `cuda:0` and `cuda:1` leads to the right weights, with a network that draws numbers there."""
    sizes = (3, 4, 5)
    x, y = rows(draw, 8, sizes)
    got, wanted = require_epoch(
        student, reference, draw, expect, "norm" + DRAWN, sizes, x, y, 3, name, training_mode=False
    )
    require_float(expect, "train_epoch", got["loss"])
    # A GPU rounds otherwise than the reference.
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=1e-3, atol=1e-3)


@pytest.mark.cell("test_train_epoch", weight=0.75, needs="cuda", search="none")
def test_copies_and_waits(student, reference, draw, expect, flag):
    """Every tensor of a batch is copied once and nothing else; the host waits at most once a batch, and once more."""
    sizes, batch_size, batches = (64, 64, 8), 32, 6
    x, y = rows(draw, batch_size * batches - 5, sizes)
    data = epoch_of(draw, "mlp", sizes, x, y, batch_size, "cuda", settings={"lr": 0.1})
    got, wanted = student.run(economy_of_an_epoch, **data), reference.run(economy_of_an_epoch, **data)
    require_economy(expect, flag, got, x, y, waits=batches + 1, fault="epoch-waits-too-often")
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=2 * batches, name="the weights")
    sentence = f"{got['between devices']} bytes were copied between devices."
    expect.true(got["between devices"] < 1024, sentence)
    grown = got["memory"][-1] - got["memory"][1]
    sentence = f"From the second batch to the last the memory in use grew by {grown} bytes."
    expect.true(grown < (len(got["memory"]) - 2) * x[:batch_size].nbytes / 2, sentence, fault="epoch-keeps-tensors")


@pytest.mark.cell("test_train_epoch", weight=3, needs="cuda", search="none")
def test_memory_does_not_grow(student, reference, draw, expect):
    """An epoch of 24 batches passes where the device has memory for a few."""
    sizes = (4096, 8, 3)
    x, y = rows(draw, 64, (8, 0, 3))
    data = {"kind": "mlp", "sizes": sizes, "weights": start(draw, "mlp", sizes), "x": x, "y": y, "many": 24}
    data |= {"settings": {"lr": 0.05}, "device": "cuda", "held": 1 << 20, "room": 10 << 20}
    try:
        got = student.run(epoch_in_little_memory, **data)
    except StudentError as error:
        if "out of memory" not in str(error):
            raise
        require_no_graphs(student, reference, draw, expect)
        sentence = "An epoch of 24 batches ran out of the device's memory."
        expect.true(False, sentence, fault="epoch-keeps-tensors")
        raise
    wanted = reference.run(epoch_in_little_memory, **data)
    expect.trajectory(got, wanted, data["weights"], steps=27, name="the weights")


@pytest.mark.cell("test_train_epoch", weight=0.5, search="single")
def test_no_graph_is_kept(student, reference, draw, expect):
    """When a batch is fetched, no graph is alive but that of the batch before."""
    require_no_graphs(student, reference, draw, expect)


def require_no_graphs(student, reference, draw, expect):
    sizes = (3, 4, 3)
    x, y = rows(draw, 11, sizes)
    data = epoch_of(draw, "mlp", sizes, x, y, 2, "cpu", settings={"lr": 0.3})
    got, wanted = student.run(graphs_in_an_epoch, **data), reference.run(graphs_in_an_epoch, **data)
    alive = got["alive"]
    expect.true(len(alive) == 6, f"{len(alive)} batches were fetched from a loader of 6.")
    sentence = f"As the batches were fetched, {', '.join(map(str, alive))} graphs were alive."
    expect.true(max(alive) <= 1, sentence, fault="epoch-keeps-graphs")
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=6, name="the weights")


def epoch_of(draw, kind, sizes, x, y, batch_size, device, settings=SGD):
    weights = start(draw, kind, sizes)
    data = {"kind": kind, "sizes": sizes, "weights": weights, "x": x, "y": y, "batch_size": batch_size}
    return data | {"settings": settings, "device": device}


def require_epoch(student, reference, draw, expect, kind, sizes, x, y, batch_size, device, **more):
    data = epoch_of(draw, kind, sizes, x, y, batch_size, device) | more
    got, wanted = student.run(weights_after_an_epoch, **data), reference.run(weights_after_an_epoch, **data)
    steps = math.ceil(len(x) / batch_size) - more.get("drop_last", False)
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=steps, name="the weights")
    expect.close(got["statistics"], wanted["statistics"], "the running statistics", rtol=1e-3, atol=1e-4)
    require_outputs(expect, got, wanted)
    return got, wanted


def losses_of_batches(reference, probe, data, loss_in):
    """The mean loss of each batch of an epoch, that of all its rows, and the numbers of rows in all and in a batch.

    The reference is asked for epochs of one batch, of two, ...; it reports a mean over the rows so far.
    """
    n, batch_size = len(data["x"]), data["batch_size"]
    ends = [*range(batch_size, n, batch_size), n]
    means = [loss_in(reference.run(probe, **data | {"x": data["x"][:end], "y": data["y"][:end]})) for end in ends]
    sums = np.multiply(ends, means)
    return np.diff(sums, prepend=0) / np.diff(ends, prepend=0), means[-1], n, batch_size


def require_economy(expect, flag, got, x, y, waits, fault):
    copied, needed = got["to the device"], x.nbytes + y.nbytes
    sentence = f"{copied} bytes were copied to the device; the batches have {needed}."
    if copied < needed:
        # The results are right, so the batches were there: the log has been tampered with, or did not see it.
        flag(f"The log of copies contradicts the batches sent: {sentence}")
    expect.true(copied >= needed, sentence)
    expect.true(copied < needed + y.nbytes / 2, sentence, fault="copied-more-than-once")
    sentence = f"The host waited {got['waits']} times for the device; {waits} times are allowed."
    expect.true(got["waits"] <= waits, sentence, fault=fault)
    sentence = f"{got['to the host']} bytes were copied to the host."
    # Outputs and predictions may be read; data of the size of the batches may not come back.
    expect.true(got["to the host"] < x.nbytes / 2, sentence)


# --- 4. evaluate ----------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_evaluate", weight=1)
@pytest.mark.parametrize(("n", "batch_size", "classes"), [(11, 4, 3), (2, 2, 5), (10, 4, 4), (13, 5, 3)])
def test_loss_and_accuracy(student, reference, draw, expect, n, batch_size, classes):
    """Loss and accuracy are right over all rows, for any batch size, and the same in a second call."""
    require_evaluation(student, reference, draw, expect, n, batch_size, (3, 4, classes), "cpu", batch_size != 4)


@pytest.mark.cell("test_evaluate", search="single")
def test_loss_and_accuracy_of_many_batches(student, reference, draw, expect):
    """Loss and accuracy are right over five to eight batches, too, of a loader that leaves the last rows out, and with
    another loss, in float64.
    """
    n = 4 * many(draw) - 1
    require_evaluation(student, reference, draw, expect, n, 4, (3, 4, 4), "cpu", False, drop_last=True)
    other = {"smoothing": 0.4, "double": True}
    require_evaluation(student, reference, draw, expect, 8, 4, (3, 4, 4), "cpu", False, drop_last=True, **other)


@pytest.mark.cell("test_evaluate", weight=0.5)
def test_rows_that_the_loader_leaves_out(student, reference, draw, expect):
    """Loss and accuracy are over the rows that the loader gives, also where it leaves some of its data set out."""
    for drop_last in (False, True):
        require_evaluation(student, reference, draw, expect, 11, 4, (3, 4, 3), "cpu", False, drop_last=drop_last)


@pytest.mark.cell("test_evaluate", weight=0.5, search="single")
@pytest.mark.parametrize("mode", [True, False], ids=["from training", "from evaluation"])
def test_mode_comes_back(student, reference, draw, expect, mode):
    """Loss and accuracy are those of evaluation mode, and afterwards the model computes in the mode it had before."""
    require_evaluation(student, reference, draw, expect, 8, 3, (4, 5, 3), "cpu", mode)


@pytest.mark.cell("test_evaluate", weight=4, search="single")
def test_model_stays(student, reference, draw, expect):
    """The result is right, and the model trains on as if nothing had been: with its parameters, statistics, gradients
    and requires_grad.
    """
    sizes = (4, 3, 3)
    weights = start(draw, "norm", sizes)
    x, y = telling_rows(reference, draw, 8, sizes, weights, 3)
    data = {"kind": "norm", "sizes": sizes, "weights": weights, "x": x, "y": y, "batch_size": 3}
    data |= {"device": "cpu", "gradient": 0.25, "frozen": ["0.weight"]}
    got, wanted = student.run(model_around_evaluation, **data), reference.run(model_around_evaluation, **data)
    require_result(expect, got["result"], wanted["result"])
    after = "the parameters after the call and one training step"
    expect.trajectory(got["weights"], wanted["weights"], weights, steps=1, name=after)
    expect.close(got["statistics"], wanted["statistics"], "the running statistics after the call and one training step")


@pytest.mark.cell("test_evaluate", weight=3.8, needs="cuda", search="single")
@pytest.mark.parametrize("name", CUDA_NAMES)
def test_evaluation_on_a_cuda_device(student, reference, draw, expect, name):
    """Loss and accuracy are right on `cuda`, `cuda:0` and `cuda:1`, with a network that draws numbers there."""
    how = {"kind": "norm" + DRAWN, "drop_last": name == "cuda:1"}
    require_evaluation(student, reference, draw, expect, 8, 3, (3, 4, 5), name, name != "cuda", **how)


@pytest.mark.cell("test_evaluate", weight=3.8, search="none")
def test_loss_by_numpy(student, reference, draw, expect):
    """Outputs do not require gradients, so that loss and accuracy are right for a loss that NumPy computes, too."""
    sizes = (3, 4, 3)
    weights = start(draw, "norm", sizes)
    x, y = telling_rows(reference, draw, 8, sizes, weights, 3)
    data = {"kind": "norm", "sizes": sizes, "weights": weights, "x": x, "y": y, "batch_size": 3, "device": "cpu"}
    require_result(expect, student.run(evaluation_by_numpy, **data), reference.run(evaluation_by_numpy, **data))


@pytest.mark.cell("test_evaluate", weight=0.2, search="single")
def test_no_graph_is_built(student, reference, draw, expect):
    """The model works in evaluation mode, and its outputs do not require gradients."""
    sizes = (3, 4, 3)
    weights = start(draw, "norm", sizes)
    x, y = telling_rows(reference, draw, 8, sizes, weights, 3)
    data = {"kind": "norm", "sizes": sizes, "weights": weights, "x": x, "y": y, "batch_size": 3}
    got = student.run(watched_evaluation, **data, device="cpu")
    wanted = reference.run(watched_evaluation, **data, device="cpu")
    require_result(expect, got["result"], wanted["result"])
    expect.true(not any(got["graph"]), "The outputs of the model require gradients.", fault="evaluation-builds-graphs")
    expect.true(not any(got["training"]), "The model was in training mode.")
    expect.true(len(got["graph"]) >= 3, f"There were {len(got['graph'])} forward passes for 3 batches.")


@pytest.mark.cell("test_evaluate", weight=0.4, needs="cuda", search="none")
def test_copies_and_waits_of_evaluation(student, reference, draw, expect, flag):
    """Every tensor of a batch is copied once; the host waits at most twice a batch, and twice more."""
    sizes, batch_size, batches = (64, 64, 8), 32, 5
    x, y = rows(draw, batch_size * batches - 3, sizes)
    data = {"kind": "mlp", "sizes": sizes, "weights": start(draw, "mlp", sizes), "x": x, "y": y}
    data |= {"batch_size": batch_size, "device": "cuda"}
    got, wanted = student.run(economy_of_an_evaluation, **data), reference.run(economy_of_an_evaluation, **data)
    require_result(expect, got["result"], wanted["result"])
    require_economy(expect, flag, got, x, y, waits=2 * batches + 2, fault="evaluation-waits-too-often")


def require_evaluation(
    student, reference, draw, expect, n, batch_size, sizes, device, mode, *, drop_last=False, kind="norm", **other
):
    weights = start(draw, "norm", sizes)
    hidden = sizes[1]
    statistics = {
        "1.running_mean": draw.normal(hidden, 0.5, np.float32),
        "1.running_var": draw.uniform(hidden, 0.3, 2.0, np.float32),
    }
    x, y = telling_rows(reference, draw, n, sizes, weights, batch_size, statistics)
    data = {"kind": kind, "sizes": sizes, "weights": weights, "statistics": statistics, "x": x, "y": y}
    data |= {"batch_size": batch_size, "device": device, "training_mode": mode, "drop_last": drop_last} | other
    got, wanted = student.run(evaluation, **data), reference.run(evaluation, **data)
    require_result(expect, got["first"], wanted["first"])
    again = type(got["second"]) in (tuple, list) and len(got["second"]) == 2
    same = again and np.allclose(got["second"], wanted["second"], rtol=1e-3, atol=1e-4)
    sentence = f"A second call, on other rows, returned {got['second']}; {wanted['second']} is right."
    left = np.allclose(got["afterwards"], wanted["afterwards"], rtol=1e-3, atol=1e-4)
    expect.true(same, sentence, fault="evaluation-remembers" if left else "")  # else it may be the mode
    expect.close(got["afterwards"], wanted["afterwards"], "the outputs of the model after the call", **MODE)


MODE = {"rtol": 5e-3, "atol": 5e-3}
"""for outputs that show the mode: the other one's are far off, and a GPU rounds"""


def telling_rows(reference, draw, n, sizes, weights, batch_size, statistics=None):
    """Rows and labels whose loss and accuracy differ from means over batches, and from the share of wrong answers."""
    for _ in range(50):
        x, y = rows(draw, n, sizes)
        outputs = reference.run(scores, kind="norm", sizes=sizes, weights=weights, statistics=statistics, x=x)
        hits, losses = outputs.argmax(axis=1) == y, -log_softmax(outputs)[np.arange(n), y]
        batches = range(0, n, batch_size)
        means_tell = all(
            tells([v[i : i + batch_size].mean() for i in batches], v.mean(), n, batch_size) for v in (hits, losses)
        )
        if n < 3 or (means_tell and hits.mean() not in (0, 0.5, 1)):
            break
    return x, y


def tells(of_batches, mean, n, batch_size):
    """Whether the mean over all rows is plainly not that over the batches, where they can differ."""
    return n <= batch_size or n % batch_size == 0 or abs(np.mean(of_batches) - mean) > 0.01 * abs(mean)


def require_result(expect, got, wanted, of=""):
    pair = type(got) in (tuple, list) and len(got) == 2
    expect.true(pair, f"evaluate should return the tuple (loss, accuracy); it returned {shown(got)}.", kind="length")
    for value in got:
        require_float(expect, "evaluate", value, "two floats, loss and accuracy")
    expect.close(got, wanted, names=(f"the loss{of}", f"the accuracy{of}"), **FOUR_DIGITS)


# --- 5. train_epoch_amp ---------------------------------------------------------------------------------------------

NO_LIMIT = 1e6
PLAIN = {"init_scale": 1024.0, "growth_interval": 1000}


@pytest.mark.cell("test_train_epoch_amp", weight=0.3, needs="cuda", search="single")
def test_half_precision(student, reference, draw, expect):
    """The model computes in float16, in training mode."""
    sizes = (3, 4, 3)
    x, y = rows(draw, 7, sizes)
    data = amp_of("mlp", sizes, start(draw, "mlp", sizes), x, y, PLAIN, NO_LIMIT, "cuda")
    got, wanted = student.run(dtypes_in_mixed_precision, **data), reference.run(dtypes_in_mixed_precision, **data)
    dtypes = got["outputs"]
    sentence = f"The outputs of the model are {', '.join(sorted(set(dtypes))) or 'never computed'}, not float16."
    fault = "autocast-missing" if set(dtypes) == {"float32"} else "autocast-bfloat16" if "bfloat16" in dtypes else ""
    expect.true(dtypes == ["float16"] * 2, sentence, fault=fault)
    sentence = "The model was in evaluation mode."
    expect.true(all(got["training"]), sentence, fault="amp-in-evaluation-mode")
    sentence = f"While the model computed, its parameters were {', '.join(got['parameters'])}, not float32."
    expect.true(got["parameters"] == ["float32"], sentence, fault="amp-parameters-in-half")
    require_moves(expect, got, wanted, 2)
    sentence = "When the optimizer made its steps, autocast was still on."
    expect.true(not any(got["autocast at steps"]), sentence, fault="autocast-around-everything")
    sentence = "In the backward passes autocast was still on."
    expect.true(not any(got["autocast in backward passes"]), sentence, fault="autocast-around-the-backward-pass")


@pytest.mark.cell("test_train_epoch_amp", weight=0.2, needs="cuda", search="none")
def test_economy_in_mixed_precision(student, reference, draw, expect, flag):
    """Every tensor of a batch is copied once and nothing else, and the memory in use does not grow."""
    sizes, batches = (64, 64, 8), 6
    x, y = rows(draw, 32 * batches - 5, sizes)
    data = amp_of("mlp", sizes, start(draw, "mlp", sizes), x, y, PLAIN, NO_LIMIT, "cuda")
    data |= {"batch_size": 32, "settings": {"lr": 0.1}}
    got, wanted = student.run(economy_in_mixed_precision, **data), reference.run(economy_in_mixed_precision, **data)
    require_economy(expect, flag, got, x, y, waits=1000, fault="")
    alive = got["alive"]
    sentence = f"As the batches were fetched, {', '.join(map(str, alive))} graphs were alive."
    expect.true(len(alive) == batches and max(alive) <= 1, sentence, fault="amp-keeps-graphs")
    grown = got["memory"][-1] - got["memory"][1]
    sentence = f"From the second batch to the last the memory in use grew by {grown} bytes."
    expect.true(grown < (batches - 2) * x[:32].nbytes / 2, sentence, fault="amp-keeps-tensors")
    require_moves(expect, got, wanted, 2 * batches)


@pytest.mark.cell("test_train_epoch_amp", weight=3, needs="cuda", search="single")
def test_range_of_float16(student, reference, draw, expect):
    """A batch with numbers beyond 65504, the largest in float16, makes no step and lowers the scale; the next does."""
    sizes = (3, 4, 3)
    x, y = rows(draw, 11, sizes)
    x[:4] *= 1e5
    data = amp_of("mlp", sizes, start(draw, "mlp", sizes), x, y, PLAIN, NO_LIMIT, "cuda:1")
    got, wanted = student.run(moves_in_mixed_precision, **data), reference.run(moves_in_mixed_precision, **data)
    require_moves(expect, got, wanted, 2)
    expect.equal(got["scale"], wanted["scale"], "the scale afterwards")


@pytest.mark.cell("test_train_epoch_amp", weight=3, needs="cuda", search="single")
@pytest.mark.parametrize("name", ["cuda:1", "cuda"])
def test_whole_epoch_in_mixed_precision(student, reference, draw, expect, name):
    """Everything at once: a batch that overflows, a growing scale, clipping, normalization, the loss of all rows."""
    scaling = {"init_scale": 2.0**40, "growth_interval": 2, "backoff_factor": 2.0**-30}
    more = {"evaluating": True, "split": True, "kind": "norm" + DRAWN}
    # One class is far ahead and is right in the middle batches alone. So the losses of the first and of the last are
    # large, and a mean over batches, or one without the batch whose step is skipped, is plainly another.
    ahead, behind, _ = draw.permutation(3)
    weights = start(draw, more["kind"], (4, 6, 3))
    weights["3.bias"][ahead] += 3
    more |= {"weights": weights, "y": np.repeat([behind, ahead, behind], [4, 8, 3])}
    # Clipped gradients are small: only at such a rate do the weights move so far that old ones show.
    more |= {"settings": {"lr": 3.0, "momentum": 0.9}}
    got, wanted = require_amp(student, reference, draw, expect, 15, scaling, 0.1, name, **more)
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=0.02, atol=0.01)


@pytest.mark.cell("test_train_epoch_amp", needs="cuda", search="single")
@pytest.mark.parametrize("batches", [1, 2, 3])
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_mixed_precision_moves(student, reference, draw, expect, batches, name):
    """Whatever the scale is, the weights move as they should."""
    require_amp(student, reference, draw, expect, 4 * batches - 1, PLAIN, NO_LIMIT, name)


@pytest.mark.cell("test_train_epoch_amp", weight=0.5, needs="cuda", search="single")
def test_many_moves_in_mixed_precision(student, reference, draw, expect):
    """After six to nine batches the weights have moved as they should, too, and with another loss."""
    require_amp(student, reference, draw, expect, 4 * many(draw) - 1, PLAIN, NO_LIMIT, "cuda")
    got, wanted = require_amp(student, reference, draw, expect, 7, PLAIN, NO_LIMIT, "cuda", smoothing=0.4)
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=0.02, atol=0.01)


@pytest.mark.cell("test_train_epoch_amp", weight=0.25, needs="cuda")
@pytest.mark.parametrize("max_norm", [0.25, 0.02, NO_LIMIT])
def test_clipped_moves(student, reference, draw, expect, max_norm):
    """The norm of the unscaled gradients is limited to max_norm before each step."""
    require_amp(student, reference, draw, expect, 11, PLAIN, max_norm, "cuda")


@pytest.mark.cell("test_train_epoch_amp", weight=0.25, needs="cuda", search="single")
def test_scale_is_updated(student, reference, draw, expect):
    """The scale is updated once after each batch: with a growth interval of 2 it has doubled once after 3 batches."""
    got, wanted = require_amp(
        student, reference, draw, expect, 11, {"init_scale": 256.0, "growth_interval": 2}, NO_LIMIT, "cuda"
    )
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=0.02, atol=0.01)


@pytest.mark.cell("test_train_epoch_amp", weight=0.25, needs="cuda", search="single")
@pytest.mark.parametrize("backoff", [0.5, 2.0**-30], ids=["all overflow", "the first overflows"])
def test_overflow(student, reference, draw, expect, backoff):
    """A batch that overflows changes nothing but the scale, and training goes on with the next."""
    scaling = {"init_scale": 2.0**40, "growth_interval": 1000, "backoff_factor": backoff}
    require_amp(student, reference, draw, expect, 11, scaling, 0.5, "cuda")


@pytest.mark.cell("test_train_epoch_amp", weight=0.25, needs="cuda", search="single")
@pytest.mark.parametrize("n", [10, 11, 3])
def test_mean_loss_in_mixed_precision(student, reference, draw, expect, n):
    """The result is the mean loss over the rows of the epoch, unscaled, a float."""
    sizes = (4, 6, 3)
    weights = start(draw, "mlp", sizes)
    # The last case is one batch, after which the scale has doubled: a loss divided by the new scale is half.
    scaling = PLAIN | {"growth_interval": 1} if n == 3 else PLAIN
    data = amp_of("mlp", sizes, weights, *rows(draw, n, sizes), scaling, NO_LIMIT, "cuda")
    got, wanted = student.run(mean_loss_in_mixed_precision, **data), reference.run(mean_loss_in_mixed_precision, **data)
    require_float(expect, "train_epoch_amp", got["loss"])
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=0.01, atol=0.005)


@pytest.mark.cell("test_train_epoch_amp", weight=3, needs="cuda", search="single")
def test_loss_under_autocast(student, reference, draw, expect):
    """The loss is computed under autocast: a loss written with exponentials is finite where float16 is too small."""
    sizes = (4, 5, 3)
    x, y = rows(draw, 7, sizes)
    weights = start(draw, "mlp", sizes)
    # The outputs are about 12 to 16: their exponentials are beyond 65504, the largest number in float16. They are near
    # each other, for where one class is as good as certain there are hardly any gradients.
    weights = {name: value * 0.5 for name, value in weights.items()} | {"2.bias": draw.uniform(3, 13, 15, np.float32)}
    data = amp_of("mlp", sizes, weights, x, y, {"init_scale": 8.0, "growth_interval": 1000}, NO_LIMIT, "cuda")
    got, wanted = student.run(loss_of_large_outputs, **data), reference.run(loss_of_large_outputs, **data)
    require_float(expect, "train_epoch_amp", got["loss"])
    expect.close(got["loss"], wanted["loss"], "the mean loss", rtol=0.01, atol=0.01)
    require_moves(expect, got, wanted, 2)


def amp_of(kind, sizes, weights, x, y, scaling, max_norm, device):
    data = {"kind": kind, "sizes": sizes, "weights": weights, "x": x, "y": y, "batch_size": 4, "settings": SGD}
    return data | {"scaling": scaling, "max_norm": max_norm, "device": device}


def require_amp(student, reference, draw, expect, n, scaling, max_norm, device, *, kind="mlp" + DRAWN, **more):
    sizes = (4, 6, 3)
    weights = start(draw, kind, sizes)
    data = amp_of(kind, sizes, weights, *rows(draw, n, sizes), scaling, max_norm, device) | more
    got, wanted = student.run(moves_in_mixed_precision, **data), reference.run(moves_in_mixed_precision, **data)
    found = sorted({value.dtype.name for value in got["weights"].values()})
    expect.true(found == ["float32"], f"The parameters are {', '.join(found)} afterwards, not float32.", kind="dtype")
    require_moves(expect, got, wanted, math.ceil(n / 4))
    expect.equal(got["scale"], wanted["scale"], "the scale afterwards")
    require_outputs(expect, got, wanted)
    return got, wanted


def require_moves(expect, got, wanted, steps):
    zeros = {name: np.zeros_like(value) for name, value in wanted["moves"].items()}
    expect.trajectory(got["moves"], wanted["moves"], zeros, steps=steps, name="the moves of the weights")


# --- 6. checkpoint --------------------------------------------------------------------------------------------------

MOMENTUM = ("SGD", {"lr": 0.2, "momentum": 0.9})
ADAM = ("Adam", {"lr": 0.05})
SCHEDULE = {"step_size": 2, "gamma": 0.5}
SCALING = {"init_scale": 64.0, "growth_interval": 5}


# A checkpoint is for another process. So every run is saved in one kernel, and goes on in another that never met it.
SCENARIOS = {
    "momentum": {"kind": "norm"},
    "Adam": {"rule": ADAM},
    "schedule and scale": {"parts": (SCHEDULE, SCALING), "epochs": (3, 5)},
    "schedule": {"parts": (SCHEDULE, None), "epochs": (3, 5)},
    "scale": {"parts": (None, SCALING), "epochs": (3, 5)},
    "chance": {"kind": "dropout"},
    "cuda to cpu": {"kind": "norm", "parts": (SCHEDULE, SCALING), "devices": ("cuda", "cpu")},
    "cuda:0 to cuda:1": {"kind": "norm", "parts": (SCHEDULE, None), "devices": ("cuda:0", "cuda:1")},
    "cpu to cuda": {"kind": "norm", "parts": (SCHEDULE, None), "devices": ("cpu", "cuda")},
    "cuda:1 to cuda:1": {"kind": "norm", "parts": (SCHEDULE, None), "devices": ("cuda:1", "cuda:1")},
    "without a gpu": {"devices": ("cuda", "cpu"), "hidden": True, "parts": (SCHEDULE, None)},
    "plain data": {"kind": "norm", "parts": (SCHEDULE, SCALING), "epochs": (3, 5), "rewritten": True},
    "plain data on a device": {
        "parts": (SCHEDULE, SCALING),
        "epochs": (3, 5),
        "devices": ("cuda:1", "cuda:1"),
        "rewritten": True,
    },
}
CPU, CUDA = ([n for n, how in SCENARIOS.items() if ("devices" in how) == on_cuda] for on_cuda in (False, True))


@pytest.mark.cell("test_checkpoint", weight=0.5, search="single")
@pytest.mark.parametrize("name", CPU[:2])
def test_resumed_run(student, reference, draw, expect, device, name):
    """A resumed run ends where the uninterrupted one does, bit for bit: model and optimizer, without the others."""
    require_resumed(student, reference, draw, expect, device, name)


@pytest.mark.cell("test_checkpoint", weight=0.5, search="single")
@pytest.mark.parametrize("name", CPU[2:5])
def test_resumed_schedule_and_scale(student, reference, draw, expect, device, name):
    """A resumed run goes on with the learning rate and the scale of the uninterrupted one, at the right time."""
    require_resumed(student, reference, draw, expect, device, name)


@pytest.mark.cell("test_checkpoint", weight=1.6, search="single")
@pytest.mark.parametrize("name", CPU[5:6])
def test_resumed_chance(student, reference, draw, expect, device, name):
    """With dropout a resumed run ends where the uninterrupted one does: the random state goes on, too."""
    require_resumed(student, reference, draw, expect, device, name)


@pytest.mark.cell("test_checkpoint", weight=0.5, needs="cuda", search="single")
@pytest.mark.parametrize("name", CUDA[:4])
def test_resumed_elsewhere(student, reference, draw, expect, device, name):
    """A run that was saved on one device goes on as it should on another."""
    require_resumed(student, reference, draw, expect, device, name)


@pytest.mark.cell("test_checkpoint", weight=1.6, needs="cuda", search="none")
@pytest.mark.parametrize("name", CUDA[4:5])
def test_loading_without_a_gpu(student, reference, draw, expect, device, name):
    """A file written on a CUDA device can be loaded where there is none."""
    require_resumed(student, reference, draw, expect, device, name)


@pytest.mark.cell("test_checkpoint", weight=1.6, search="single")
@pytest.mark.parametrize("name", [*CPU[6:], *CUDA[5:]])
def test_plain_data(student, reference, draw, expect, device, name):
    """The file is plain data: read with weights_only=True and written again by another program, it is as good."""
    if name in CPU or device == "cuda":
        require_resumed(student, reference, draw, expect, device, name)


def scenario(draw, kind="mlp", rule=MOMENTUM, parts=(None, None), epochs=(1, 2), devices=("cpu", "cpu"), **how):
    """What the two calls of a scenario are given."""
    sizes = (4, 5, 3)
    x, y = rows(draw, 9, sizes)
    both = {"kind": kind, "sizes": sizes, "x": x, "y": y, "batch_size": 5, "rule": rule, "parts": parts}
    both["epochs"] = epochs
    saved = {"weights": start(draw, kind, sizes), "noise": seed(draw), "device": devices[0]}
    resumed = {"weights": start(draw, kind, sizes), "noise": seed(draw), "device": devices[1]}
    resumed |= {"no_gpu": how.get("hidden", False), "rewritten": how.get("rewritten", False)}
    return both | saved, both | resumed


RUNS = weakref.WeakKeyDictionary()
"""side -> {whether for demonstration: {scenario: (what was given, the two calls)}}"""


def runs_of(side, draw, device):
    """Every scenario, saved in one process of this side and gone on with in another: asked once for all checks."""
    made = RUNS.setdefault(side, {})
    if draw.demonstration not in made:
        names = CPU + (CUDA if device == "cuda" else [])
        given = {name: scenario(draw, **SCENARIOS[name]) for name in names}
        saved = {name: attempt(side, interrupted_run, given[name][0]) for name in names}
        side.renew()
        made[draw.demonstration] = {
            name: (given[name], [saved[name], *gone_on(side, given[name][1], saved[name])]) for name in names
        }
    return made[draw.demonstration]


def gone_on(side, data, saved):
    return [] if saved.error else [attempt(side, interrupted_run, data | {"file": saved.value["file"]})]


def attempt(side, probe, data):
    """A call that may fail: the check that it belongs to says so."""
    with contextlib.suppress(StudentError, BadReply, LimitReached):
        side.run(probe, **data)
    return side.calls[-1]


def require_resumed(student, reference, draw, expect, device, name):
    (saved, resumed), calls = runs_of(student, draw, device)[name]
    student.calls[:] = calls
    for call in calls:
        if call.error:
            raise call.error
    first, second = (call.value for call in calls)
    expect.equal(second["epoch"], saved["epochs"][0], "the number of epochs that load_checkpoint returned")
    right = reference.run(interrupted_run, **saved)
    steps = 2 * saved["epochs"][1]
    for of, got in (("uninterrupted", first), ("resumed", second)):
        run = f"the weights of the {of} run"
        expect.trajectory(got["weights"], right["weights"], saved["weights"], steps=steps, name=run)
        expect.close(got["statistics"], right["statistics"], f"the running statistics of the {of} run")
        expect.close(got["learning rate"], right["learning rate"], f"the learning rate of the {of} run")
        expect.close(got["scale"], right["scale"], f"the scale of the {of} run")
    if saved["device"] == resumed["device"] == "cpu":
        expect.equal(second["weights"], first["weights"], "the weights of the resumed run")


# --- 7. fit ---------------------------------------------------------------------------------------------------------

KEYS = ("loss/train", "loss/validation", "accuracy/validation")


@pytest.mark.cell("test_fit", weight=0.6)
@pytest.mark.parametrize("epochs", [2, 1, 3])
def test_run_on_the_cpu(student, reference, draw, expect, epochs):
    """After one, two and three epochs on the CPU weights and history are right."""
    require_fit(student, reference, expect, run_with_best(reference, draw, PLAINLY_LAST, epochs))


@pytest.mark.cell("test_fit", weight=1.5, needs="cuda", search="single")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_run_on_a_cuda_device(student, reference, draw, expect, name):
    """On `cuda` and `cuda:1` weights and history are right, with a network that draws numbers there."""
    require_fit(student, reference, expect, short_run(reference, draw) | {"kind": "norm" + DRAWN, "device": name})


@pytest.mark.cell("test_fit", weight=0.3, needs="cuda", search="single")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_devices_of_a_run(student, reference, draw, expect, name):
    """On `cuda` and `cuda:1` the model is trained and left there, and weights and history are right."""
    data = short_run(reference, draw) | {"kind": "norm" + DRAWN, "device": name}
    # Both before the first comparison: together they tell a model that was not trained there from one brought back.
    got, devices = student.run(fitted, **data), student.run(devices_of_a_fit, **data)
    require_devices(expect, devices, name, ("outputs", "parameters"))
    require_fitted(expect, data, got, reference.run(fitted, **data))


@pytest.mark.cell("test_fit", weight=1.8, search="single")
def test_best_weights(student, reference, draw, expect):
    """The model comes back as it was after the epoch with the lowest validation loss, or the first of several."""
    require_fit(student, reference, expect, short_run(reference, draw))
    # All runs before the first comparison: only together do they tell one wrong rule from another.
    runs = [run_with_best(reference, draw, rule) for rule in RULES]
    answers = [(student.run(fitted, **data), reference.run(fitted, **data)) for data in runs]
    for data, (got, wanted) in zip(runs, answers, strict=True):
        require_fitted(expect, data, got, wanted)
    # For rows of zeros the weights of the first layer do not matter: where they alone are trained, losses stay equal.
    data = run_of(draw, 3) | {"kind": "mlp", "trained": ["0.weight"]}
    data |= {"weights": start(draw, "mlp", data["sizes"]), "x_val": 0 * data["x_val"], "learning_rate": 0.6}
    require_fit(student, reference, expect, data)
    # Losses of any size have a lowest.
    data = run_with_best(reference, draw, PLAINLY_LAST, 2)
    require_fit(student, reference, expect, data | {"x_val": data["x_val"] * np.float32(1e8)})


@pytest.mark.cell("test_fit", weight=1.8, search="single")
@pytest.mark.parametrize("epochs", [3, 1])
def test_tensorboard(student, reference, draw, expect, epochs):
    """TensorBoard's file holds the three scalars, with the steps 1, 2, ... and the numbers of the run."""
    require_fit(student, reference, expect, short_run(reference, draw))
    data = run_of(draw, epochs)
    files, right = (side.run(scalars_of_a_fit, **data)["files"] for side in (student, reference))
    got, wanted = scalars_in(files, expect), scalars_in(right, expect)
    expect.true(files, "When fit had returned, log_dir held no file for TensorBoard.", fault="scalars-elsewhere")
    expect.true(got, "When fit had returned, there were no scalars in the file.", fault="writer-not-closed")
    missing = [tag for tag in KEYS if tag not in got]
    sentence = f"The file has no {' and no '.join(missing)}; it has {', '.join(sorted(got))}."
    expect.true(not missing, sentence, fault="scalars-under-other-names" if len(missing) == len(KEYS) else "")
    for tag in KEYS:
        steps, values = zip(*got[tag], strict=True)
        right_steps, right_values = zip(*wanted[tag], strict=True)
        expect.equal(steps, right_steps, f"the steps of {tag}")
        expect.close(values, right_values, f"the values of {tag}", rtol=1e-3, atol=1e-5)


MOST_BYTES = 4 << 20
"""of event files: TensorBoard reads a megabyte of tiny records in a second"""


def scalars_in(files, expect):
    """What TensorBoard reads from event files, here in the judge's process: tag -> (step, value)."""
    size = sum(map(len, files))
    expect.true(size <= MOST_BYTES, f"The event files have {size} bytes; for three numbers an epoch that is too much.")
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(files):
            (Path(folder) / f"events.out.tfevents.{number}").write_bytes(content)
        return training.read_scalars(folder)


@pytest.mark.cell("test_fit", search="none")
def test_held_out_digits(student, reference, draw, expect, device):
    """A small convolutional network trained by fit reads at least 80 % of the held-out digits."""
    require_fit(student, reference, expect, short_run(reference, draw))
    digits = load_digits()
    sizes = (8, 16, 10)
    for _ in range(20):
        chosen = draw.choice(len(digits.x_train), 1000)
        weights = start(draw, "cnn", sizes)
        x, y = digits.x_train[chosen][:, None], digits.y_train[chosen]
        data = {"kind": "cnn", "sizes": sizes, "weights": weights, "x": x[:900], "y": y[:900], "x_val": x[900:]}
        data |= {"y_val": y[900:], "batch_size": 32, "epochs": 2, "learning_rate": 0.05, "device": device}
        wanted = reference.run(fitted, **data)
        if read_right(reference, sizes, wanted) > 0.85:  # some starts learn less in so few steps
            break
    got = student.run(fitted, **data)
    expect.form(got["weights"], weights, "the weights")
    # Over sixty steps rounding grows, and a unit that flips moves the end by a third of the way. Weights from
    # elsewhere, other starts and other images end more than a whole way off.
    off = distance(got["weights"], wanted["weights"], weights)
    sentence = f"The weights are off by {off:.2g} times the way that this training goes."
    expect.true(off < 0.7, sentence, kind="trajectory")
    expect.at_least("the share of held-out digits read right", read_right(reference, sizes, got), 0.8)


def read_right(reference, sizes, trained):
    """The share of the held-out digits that a trained network reads: counted here, on images that never went out."""
    digits = load_digits()
    parameters = {"weights": trained["weights"], "statistics": trained["statistics"]}
    outputs = reference.run(scores, kind="cnn", sizes=sizes, **parameters, x=digits.x_test[:, None])
    return float(np.mean(outputs.argmax(axis=1) == digits.y_test))


def run_of(draw, epochs):
    sizes = (4, 5, 3)
    x, y = rows(draw, 7, sizes)
    x_val, y_val = rows(draw, 6, sizes)
    data = {"kind": "norm", "sizes": sizes, "weights": start(draw, "norm", sizes), "x": x, "y": y, "x_val": x_val}
    return data | {"y_val": y_val, "batch_size": 4, "epochs": epochs, "learning_rate": 0.1, "device": "cpu"}


PLAINLY_LAST = "the last by every rule"
RATES = {PLAINLY_LAST: 0.1, "not the lowest training loss": 1.5}
"""learning rates: a small one for losses that fall, a large one for losses that do not"""
BY_LITTLE = "the last by little"
"""its loss is less than a thousandth below the lowest before it"""
RULES = ("not the last", "not the lowest training loss", "not the highest accuracy", "the last", BY_LITTLE)


def run_with_best(reference, draw, rule, epochs=4, pool=40, many=3000):
    """A run whose lowest validation loss is where it tells wrong rules from the right one.

    The judge looks at the outputs of the model in each validation, and picks rows and labels to validate on from many.
    """
    last, best = epochs - 1, None
    rate = RATES.get(rule, 0.6)
    for _ in range(20):
        data = run_of(draw, epochs) | {"learning_rate": rate}
        x, y = rows(draw, pool, data["sizes"])
        found = reference.run(outputs_at_validation, **data | {"x_val": x, "y_val": y, "batch_size_val": pool})
        lowest = int(np.argmin(found["train"]))
        log_p = np.stack([log_softmax(outputs) for outputs in found["outputs"]])
        chosen, labels = draw.integers(0, pool, (many, 6)), draw.integers(0, data["sizes"][2], (many, 6))
        losses = -log_p[:, chosen, labels].mean(axis=2)
        hits = (log_p.argmax(axis=2)[:, chosen] == labels).sum(axis=2)
        at, worst, most = losses.argmin(axis=0), losses.argmax(axis=0), hits.argmax(axis=0)
        fits = {
            "not the last": (at != last) & (at != 0) & (most != lowest),
            "not the lowest training loss": (at != lowest) & (at != last) & (lowest != last) & (worst != lowest),
            "not the highest accuracy": (at != most) & (most != last) & (most != worst) & (most != lowest),
            "the last": (at == last) & (most != lowest),
            BY_LITTLE: (at == last) & (most != lowest),
            PLAINLY_LAST: (at == last) & (most == last) & (lowest == last),
        }[rule]
        # The numbers tell their neighbors apart: the share of wrong answers, means over batches of 4 and of 2 rows.
        of_batches = (log_p.argmax(axis=2)[:, chosen] == labels)[..., :4].sum(axis=2)
        fits = fits & np.any(2 * hits != 6, axis=0) & np.any(3 * of_batches != 2 * hits, axis=0)
        of_first = -log_p[:, chosen, labels][..., :4].mean(axis=2)
        of_last = -log_p[:, chosen, labels][..., 4:].mean(axis=2)
        fits = fits & np.any(np.abs((of_first + of_last) / 2 - losses) > 0.01 * losses, axis=0)
        margins = np.full(many, 1.0)
        if epochs > 1:
            least = np.sort(losses, axis=0)
            fits = fits & (np.sum(hits == hits.max(axis=0), axis=0) == 1)
            margins = least[1] / least[0] - 1
            if rule == BY_LITTLE:
                fits = fits & (margins > 2e-4) & (least[1] - least[0] < 9e-4)
        picked = int(np.argmax(fits * margins))
        best = data | {"x_val": x[chosen[picked]], "y_val": labels[picked]}
        least_margin = 0.0 if rule == BY_LITTLE else 0.03
        if fits[picked] and margins[picked] > least_margin and first_epoch_tells(reference, best):
            break
    return best


def first_epoch_tells(reference, data):
    one_epoch = data | {"epochs": 1}
    return tells(*losses_of_batches(reference, fitted, one_epoch, lambda answer: answer["history"]["loss/train"][0]))


def short_run(reference, draw):
    """One epoch whose numbers tell mistakes apart."""
    return run_with_best(reference, draw, PLAINLY_LAST, 1)


def log_softmax(outputs):
    outputs = np.asarray(outputs, dtype=np.float64)
    return outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))


def require_fit(student, reference, expect, data):
    require_fitted(expect, data, student.run(fitted, **data), reference.run(fitted, **data))


def require_fitted(expect, data, got, wanted):
    history = got["history"]
    keys = ", ".join(map(str, history)) if type(history) is dict else f"a value of type {type(history).__name__}"
    sentence = f"fit should return a dict with the keys {', '.join(KEYS)}; it returned {keys}."
    expect.true(type(history) is dict and set(KEYS) <= set(history), sentence, kind="keys")
    for key in KEYS:
        values = history[key]
        plain = type(values) is list and all(isinstance(value, float) for value in values)
        tensors = type(values) is list and any(getattr(value, "framework", "") == "torch" for value in values)
        sentence = f'history["{key}"] should be a list of floats; it is {shown(values)}.'
        expect.true(plain, sentence, kind="type", fault="result-is-a-tensor" if tensors else "")
        expect.close(history[key], wanted["history"][key], f'history["{key}"]', rtol=1e-3, atol=1e-4)
    steps = data["epochs"] * math.ceil(len(data["x"]) / data["batch_size"])
    expect.trajectory(got["weights"], wanted["weights"], data["weights"], steps=steps, name="the weights")
    expect.close(got["statistics"], wanted["statistics"], "the running statistics", rtol=1e-3, atol=1e-4)
    require_outputs(expect, got, wanted)


# --- shared ---------------------------------------------------------------------------------------------------------


def start(draw, kind, sizes):
    """Weights to start from, of a size at which signals neither vanish nor explode."""
    weights = {}
    for name, shape in training.shapes(kind, sizes).items():
        if len(shape) > 1:
            weights[name] = draw.normal(shape, math.sqrt(1.5 / math.prod(shape[1:])), np.float32)
        elif name.endswith("weight"):
            weights[name] = draw.uniform(shape, 0.5, 1.5, np.float32)
        else:
            weights[name] = draw.normal(shape, 0.1, np.float32)
    return weights


def rows(draw, n, sizes):
    """`n` rows and their labels."""
    return draw.normal((n, sizes[0]), 1.0, np.float32), draw.labels(n, sizes[2])


def numbered(name, times):
    return [f"{name} {i + 1}" for i in range(times)]


def many(draw):
    """A number of batches that nobody can count on."""
    return int(draw.integers(6, 10, ()))


def require_float(expect, function, value, form="a float"):
    fault = "result-is-a-tensor" if getattr(value, "framework", "") == "torch" else ""
    sentence = f"{function} should return {form}; it returned {shown(value)}."
    expect.true(isinstance(value, float), sentence, kind="type", fault=fault)


def require_outputs(expect, got, wanted):
    """The trained model works where it was asked to be."""
    expect.close(got["outputs"], wanted["outputs"], "the outputs of the model afterwards", rtol=0.05, atol=0.02)


def require_devices(expect, got, name, what):
    wanted = "cuda:0" if name == "cuda" else name
    for part in what:
        found = sorted(set(got[part]))
        sentence = f"With device {name!r} the {part} should be on {wanted}; they are on {', '.join(found) or 'none'}."
        expect.true(found == [wanted], sentence)


def shown(value):
    kind = getattr(value, "framework", "")
    if kind:
        return f"a {kind} tensor of shape {value.array.shape}"
    if type(value) in (tuple, list):
        return f"a {type(value).__name__} of {', '.join(shown(v) for v in value[:4]) or 'nothing'}"
    return f"a value of type {type(value).__name__}"
