"""The hidden checks of a7: the sentences of the notebook, on networks and data that nobody has seen.

Each docstring is what the student reads. Numbers are compared with the reference's on the same inputs. What was only
watched (names, devices) stands in checks of its own.
"""

from __future__ import annotations

import numpy as np
import pytest
from probes import (
    codes_of_an_export,
    codes_of_files,
    codes_of_two_encoders,
    compiled_steps,
    files_of_an_export,
    graph_after_steps,
    graph_values,
    graph_with_other_variables,
    input_of_an_export,
    norms_and_gradients,
    orders_of_a_dataset,
    passes_over_a_dataset,
    places_of_towers,
    scores_of_towers,
    session_training,
    steps_in_turns,
    tape_training,
)

from course_lib.compare import compare
from course_lib.virtual_cuda import tensorflow as virtual_gpus

# The reference places its towers in this process, as the notebook's own cell lets the student's do in theirs.
virtual_gpus.enable(devices=2, force=True, quiet=True)

DROPPED = "The rows that do not fill a batch are missing in every epoch."
CROSSING = "There are fewer batches than every epoch for itself would give, and no row is missing."
VALUES = ("the distance", "the loss", "grad_w", "grad_b")


# --- 1. build_graph -------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_build_graph", weight=2, search="single")
@pytest.mark.parametrize("sizes", [(1, 1), (3, 2)])
def test_distance_loss_and_gradients(student, reference, draw, expect, sizes):
    """Distance, loss and both gradients are right, for batches of several sizes."""
    w, b = weights(draw, sizes)
    data = {"w": w, "b": b, "learning_rate": 0.5, "batches": [rows(draw, n, sizes[0]) for n in (1, 4)]}
    got, wanted = student.run(graph_values, **data), reference.run(graph_values, **data)
    for mine, right in zip(got, wanted, strict=True):
        expect.close(mine, right, names=VALUES)


@pytest.mark.cell("test_build_graph", weight=2, search="single")
def test_step_alone_makes_a_step(student, reference, draw, expect):
    """To run `step` alone makes one step with the learning rate; `init` sets the variables back."""
    got, wanted = stepped(student, reference, draw, (3, 2))
    for number, (mine, right) in enumerate(zip(got["steps"], wanted["steps"], strict=True), 1):
        expect.close(mine[1:], right[1:], names=(f"w after step {number}", f"b after step {number}"))
    expect.close(got["again"], wanted["again"], "the loss after init has run again")


@pytest.mark.cell("test_build_graph", weight=2, search="single")
def test_value_of_step(student, reference, draw, expect):
    """The value of `step` is the loss after the step."""
    got, wanted = stepped(student, reference, draw, (2, 3))
    for number, (mine, right) in enumerate(zip(got["steps"], wanted["steps"], strict=True), 1):
        expect.close(mine[0], right[0], f"the value of step {number}")


@pytest.mark.cell("test_build_graph", weight=2, search="single")
def test_shared_variables(student, reference, draw, expect):
    """The trainable variables are encoder/w and encoder/b alone, and with other values in them the loss is another."""
    w, b = weights(draw, (3, 2))
    new_w, new_b = weights(draw, (3, 2))
    data = {"w": w, "b": b, "learning_rate": 0.5, "batch": rows(draw, 4, 3), "new_w": new_w, "new_b": new_b}
    got = student.run(graph_with_other_variables, **data)
    wanted = reference.run(graph_with_other_variables, **data)
    found = f"The trainable variables are {', '.join(got['names']) or 'none'}."
    expect.true(got["names"] == ["encoder/b", "encoder/w"], found, fault=variables_fault(got["names"]))
    expect.close(got["values"], wanted["values"], names=VALUES[:2])


def variables_fault(names):
    if len(names) == 2:
        return "graph-variables-by-other-names"
    return "graph-more-variables" if len(names) > 2 else ""


def stepped(student, reference, draw, sizes):
    w, b = weights(draw, sizes)
    rate = float(draw.uniform((), 0.2, 0.4))
    data = {"w": w, "b": b, "learning_rate": rate, "batches": [rows(draw, n, sizes[0]) for n in (3, 1)]}
    return student.run(graph_after_steps, **data), reference.run(graph_after_steps, **data)


def weights(draw, sizes):
    return draw.normal(sizes, 0.8, np.float32), draw.normal(sizes[1:], 0.5, np.float32)


def rows(draw, n, inputs):
    x1, x2 = (draw.normal((n, inputs), 1.0, np.float32) for _ in range(2))
    return {"x1": x1, "x2": x2, "y": draw.uniform((n,), 0.2, 2.0, np.float32)}


# --- 2. run_training ------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_run_training", search="single")
def test_session_trains(student, reference, draw, expect):
    """Losses before each step and the last value of w are right."""
    require_training(student, reference, draw, expect, [(4, None)] * 3)


@pytest.mark.cell("test_run_training", search="single")
def test_session_feeds(student, reference, draw, expect):
    """Batches of other sizes, and batches that feed other placeholders, are trained on as they should be."""
    require_training(student, reference, draw, expect, [(3, None), (1, 0.5), (4, None), (2, 2.0)])


@pytest.mark.cell("test_run_training", search="single")
def test_finalized_graph(student, reference, draw, expect):
    """Training works on a graph that has been finalized."""
    require_training(student, reference, draw, expect, [(2, None), (3, 1.5)], finalized=True)


@pytest.mark.cell("test_run_training", search="single")
def test_session_reads_late(student, reference, draw, expect):
    """The losses are those before each step in a graph too whose loss reads w by itself, and late."""
    require_training(student, reference, draw, expect, [(2, None), (3, None)], late=True)


def require_training(student, reference, draw, expect, batches, **options):
    made = []
    for n, scale in batches:
        batch = {"x": draw.normal((n, 2), 1.0, np.float32), "y": draw.normal((n,), 1.0, np.float32)}
        made.append(batch if scale is None else batch | {"scale": np.float32(scale)})
    data = {"w": draw.normal((2,), 1.0, np.float32), "learning_rate": 0.3, "batches": made} | options
    got, wanted = student.run(session_training, **data), reference.run(session_training, **data)
    require_floats(expect, "losses", got["losses"], len(batches), "session-losses-not-floats")
    expect.close(got["losses"], wanted["losses"], "the losses", names=numbered("the loss of batch", len(batches)))
    require_array(expect, "w", got["w"])
    expect.close(got["w"], wanted["w"], "w")


def require_array(expect, name, value, fault=""):
    kind = type(value).__name__
    sentence = f"{name} is of type {kind}; an array is asked for."
    expect.true(type(value) is np.ndarray, sentence, kind="type", fault=fault if kind == "Tensor" else "")


def require_floats(expect, name, values, n, fault=""):
    listed = type(values) in (list, tuple)
    expect.true(listed and len(values) == n, f"{name} should be a list of {n} floats; it is {shown(values)}.")
    for value in values:
        kind = value if isinstance(value, str) else type(value).__name__
        sentence = f"{name} holds a value of type {kind}; Python floats are asked for."
        numeric = hasattr(value, "dtype")  # of NumPy or a framework
        expect.true(type(value) is float, sentence, kind="type", fault=fault if numeric else "")


def numbered(what, n):
    return tuple(f"{what} {k}" for k in range(1, n + 1))


def shown(value):
    return repr(value)[:80]


# --- 3. train_with_tape ---------------------------------------------------------------------------------------------


@pytest.mark.cell("test_train_with_tape", search="single")
@pytest.mark.parametrize("steps", [3, 1])
def test_tape_trains(student, reference, draw, expect, steps):
    """After one step and after three, w and b are right; each loss is the one before its step."""
    require_taped(student, reference, draw, expect, steps)


@pytest.mark.cell("test_train_with_tape", search="single")
def test_tape_counts(student, reference, draw, expect):
    """w and b, and the losses, are right with an optimizer that counts its steps: its learning rate falls with each."""
    require_taped(student, reference, draw, expect, 3, decay=0.5)
    require_taped(student, reference, draw, expect, 2, decay=0.5, again=[tuple(rows(draw, 3, 3).values())])


def require_taped(student, reference, draw, expect, steps, **options):
    got, wanted = taped(student, reference, draw, (3, 2), [4, 1, 5][:steps], **options)
    start = got["start"]
    made = steps + len(options.get("again", ()))
    expect.trajectory(got["after"], wanted["after"], start, steps=made, name="w and b")
    require_floats(expect, "losses", got["losses"], steps, "tape-losses-not-floats")
    expect.close(got["losses"], wanted["losses"], "the losses", names=numbered("the loss of batch", steps))


@pytest.mark.cell("test_train_with_tape", weight=2, search="single")
@pytest.mark.parametrize("steps", [1, 2])
def test_sensitivities(student, reference, draw, expect, steps):
    """The gradients with respect to x1, taken before each step, are right."""
    got, wanted = taped(student, reference, draw, (2, 3), [3, 4][:steps])
    names = numbered("the sensitivity of batch", steps)
    for name, value in zip(names, got["sensitivities"], strict=False):
        require_array(expect, name, value, "tape-sensitivities-as-tensors")
    expect.close(got["sensitivities"], wanted["sensitivities"], "sensitivities", names=names)


def taped(student, reference, draw, sizes, batches, **options):
    w, b = weights(draw, sizes)
    data = {"w": w, "b": b, "settings": {"learning_rate": 0.2, "momentum": 0.5}} | options
    data["batches"] = [tuple(rows(draw, n, sizes[0]).values()) for n in batches]
    got, wanted = student.run(tape_training, **data), reference.run(tape_training, **data)
    return got | {"start": {"w": w, "b": b}}, wanted


# --- 4. make_step ---------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_make_step", weight=2, search="single")
def test_two_steps_in_turns(student, reference, draw, expect):
    """Two steps of two calls of `make_step`, called in turns, train their own variables, with one loss_fn too."""
    starts = [draw.normal((3,), 1.0, np.float32) for _ in range(2)]
    calls = compiled(draw, [(2, 0.25), (3, 0.25)])[2]
    for one_loss, fault in ((False, "step-shared-between-calls"), (True, "step-shared-by-loss-function")):
        data = {"starts": starts, "calls": calls, "one_loss": one_loss}
        got, wanted = student.run(steps_in_turns, **data), reference.run(steps_in_turns, **data)
        moved = [not np.array_equal(start, after) for start, after in zip(starts, got["after"], strict=True)]
        sentence = "The variables of the second step are as they were; those of the first have moved."
        expect.true(moved != [True, False], sentence, fault=fault)
        expect.close(got["after"], wanted["after"], "the variables", names=("of the first step", "of the second step"))
        for mine, right in zip(got["returned"], wanted["returned"], strict=True):
            expect.close(mine, right, "the losses", names=("of the first step", "of the second step"))
        for mine, right in zip(got["history"], wanted["history"], strict=True):
            require_history(expect, mine, 2)
            expect.close(mine, right, "the history", names=numbered("entry", 2))


@pytest.mark.cell("test_make_step", weight=0.5, search="single")
def test_steps_of_one_kind(student, reference, draw, expect):
    """With one batch size and one learning rate each call makes one step and returns the loss before it, as a tensor or
    a Python float.
    """
    require_steps(student, reference, expect, *compiled(draw, [(3, 0.25)] * 3), typed=True)


@pytest.mark.cell("test_make_step", weight=2, search="single")
def test_batch_sizes(student, reference, draw, expect):
    """With batches of several sizes Python runs loss_fn once, and the steps are right."""
    require_steps(student, reference, expect, *compiled(draw, [(2, 0.25), (1, 0.25), (2, 0.25), (4, 0.25)]))


@pytest.mark.cell("test_make_step", weight=2, search="single")
@pytest.mark.parametrize(
    ("kinds", "arrays"), [(("float",), [False]), (("float", "tensor", "int"), [True]), (("float",), [True, False])]
)
def test_learning_rates(student, reference, draw, expect, kinds, arrays):
    """With learning rates that change, in value and in kind, and with arrays and tensors, Python runs loss_fn once."""
    # The first one comes again, which tells whether each number is traced or each call.
    rates = [0.25, 0.125, 1.0 if "int" in kinds else 0.5, 0.25]
    w, b, calls = compiled(draw, [(2, rate) for rate in rates])
    require_steps(student, reference, expect, w, b, calls, traced_numbers, kinds=list(kinds), arrays=arrays)


def traced_numbers(runs):
    return "step-retraced-for-numbers" if runs == 3 else ""


@pytest.mark.cell("test_make_step", search="single")
def test_history(student, reference, draw, expect):
    """The history has the loss of each call, as Python floats, behind what it held before."""
    for before in ([], [float(draw.uniform((), 5.0, 9.0))]):
        w, b, calls = compiled(draw, [(2, 0.25)] * 3)
        data = {"w": w, "b": b, "calls": calls, "history": before}
        got, wanted = student.run(compiled_steps, **data), reference.run(compiled_steps, **data)
        sentence = f"The list held {shown(before)} before; after 3 calls of step it holds {shown(got['history'])}."
        kept = all(entry in got["history"] for entry in before)
        expect.true(kept, sentence, fault="step-history-not-kept")
        require_history(expect, got["history"], 3, len(before))
        names = numbered("entry", len(before) + 3)
        expect.close(got["history"], wanted["history"], "the history", names=names)


def compiled(draw, sizes_and_rates):
    calls = [
        (draw.normal((n, 3), 0.6, np.float32), draw.normal((n,), 1.0, np.float32), rate) for n, rate in sizes_and_rates
    ]
    return draw.normal((3,), 1.0, np.float32), np.float32(draw.normal((), 1.0, np.float32)), calls


def require_steps(student, reference, expect, w, b, calls, fault_of=lambda runs: "", **options):
    data = {"w": w, "b": b, "calls": calls} | options
    got, wanted = student.run(compiled_steps, **data), reference.run(compiled_steps, **data)
    runs = int(got["runs"])
    sentence = f"In {len(calls)} calls of step Python has run loss_fn {runs} times."
    expect.true(runs == 1, sentence, fault=fault_of(runs))
    for number, (mine, right) in enumerate(zip(got["after"], wanted["after"], strict=True), 1):
        expect.close(mine, right, names=(f"w after call {number}", f"b after call {number}"))
    for kind in (value for value in got["returned"] if isinstance(value, str)):
        sentence = f"step returns a value of type {kind}; a scalar tensor or a Python float is asked for."
        expect.true(False, sentence, kind="type", fault="" if kind == "NoneType" else "step-returns-another-type")
    n = len(calls)
    expect.close(got["returned"], wanted["returned"], "the losses", names=numbered("the loss of call", n))


def require_history(expect, history, n, before=0):
    sentence = f"After {n} calls of step the history has {len(history)} entries"
    sentence += f"; it had {before} before." if before else "."
    expect.true(len(history) == before + n, sentence)
    require_floats(expect, "the history", history, before + n)


# --- 5. row_norms ---------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_row_norms", weight=2, search="single")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 2), (3, 3), (4, 1)])
def test_norms(student, reference, draw, expect, dtype, shape):
    """Norms and gradients of rows of moderate size are right, in the dtype of x, for every upstream gradient."""
    x = draw.away_from_zero(shape, dtype=dtype)
    require_norms(student, reference, draw, expect, x)
    for factor in (500, 0.002):
        require_norms(student, reference, draw, expect, x, factor=factor)


@pytest.mark.cell("test_row_norms", weight=2, search="single")
@pytest.mark.parametrize("sizes", [(1e29, 1e29, 1e29), (1e-29, 1e-29, 1e-29), (1e-29, 1, 1e29)])
def test_norms_of_extreme_rows(student, reference, draw, expect, sizes):
    """Norms and gradients are right where the squares of entries are beyond the range of float32, in all or one."""
    x = draw.away_from_zero((3, 3), dtype=np.float32)
    # What is wrong here and right there comes from the sizes.
    require_norms(student, reference, draw, expect, x)
    require_norms(student, reference, draw, expect, x * np.float32(sizes)[:, None], units=sizes)


@pytest.mark.cell("test_row_norms", search="single")
@pytest.mark.parametrize("sign", [1, -1])
def test_norms_of_mixed_rows(student, reference, draw, expect, sign):
    """Norms and gradients are right where a row has entries of very different sizes, and where all are negative."""
    x = sign * draw.uniform((4, 3), 0.3, 1.0, np.float32)
    require_norms(student, reference, draw, expect, x)
    # Large rows alone come first: what happens to small ones is another question.
    require_norms(student, reference, draw, expect, x * np.float32(1e30), units=(1e30,) * 4)
    sizes = [[1e30, 1e30, 1e30], [4e-30, 4e-30, 4e-30], [1e-29, 1.0, 1e30], [1e30, 0.0, 4e-30]]
    require_norms(student, reference, draw, expect, x * np.float32(sizes), units=(1e30, 4e-30, 1e30, 1e30))


@pytest.mark.cell("test_row_norms", weight=2, search="single")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_of_zeros(student, reference, draw, expect, dtype):
    """A row of zeros has norm 0 and receives the gradient 0, and its neighbors are right."""
    x = draw.away_from_zero((3, 3), dtype=dtype)
    x[1] = 0
    x[2, 0] = 0
    require_norms(student, reference, draw, expect, x)


@pytest.mark.cell("test_row_norms", weight=2.5, search="single")
def test_norms_in_a_function(student, reference, draw, expect):
    """Norms and gradients are right inside a `tf.function` whose shapes are not known, of zeros and large rows too."""
    x = draw.away_from_zero((4, 2), dtype=np.float32)
    require_norms(student, reference, draw, expect, x, compiled=True)
    for sizes in ((1.0, 1e29, 1e29, 1.0), (1.0, 1e29, 1e-29, 1.0)):
        rows_of = x * np.float32(sizes)[:, None]
        require_norms(student, reference, draw, expect, rows_of, sizes, compiled=True)
    x[1] = 0
    require_norms(student, reference, draw, expect, x, compiled=True)


def require_norms(student, reference, draw, expect, x, units=None, factor=1, **options):
    upstream = draw.away_from_zero(x.shape[:1], least=0.5, dtype=x.dtype) * x.dtype.type(factor)
    data = {"x": x, "upstream": upstream} | options
    got, wanted = student.run(norms_and_gradients, **data), reference.run(norms_and_gradients, **data)
    name = f"the norms over {', '.join(f'{unit:g}' for unit in units)}" if units else "the norms"
    units = np.array(units or 1.0, dtype=x.dtype)
    expect.close(np.asarray(got["norms"]) / units, wanted["norms"] / units, name)
    wrong = compare("the gradient of x", got["gradient"], wanted["gradient"])
    if wrong and units.ndim:
        shown = {"yours": wrong.yours, "expected": wrong.expected, "kind": wrong.kind}
        expect.true(False, wrong.sentence, fault="norms-gradient-of-extreme-rows", **shown)
    expect.close(got["gradient"], wanted["gradient"], "the gradient of x")
    same = got["norms"].dtype == x.dtype and got["gradient"].dtype == x.dtype
    expect.true(same, f"For x in {x.dtype} the norms are {got['norms'].dtype}.", kind="dtype")


# --- 6. make_dataset ------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_make_dataset", weight=2, search="single")
@pytest.mark.parametrize(("n", "batch_size", "epochs"), [(4, 4, 3), (7, 3, 2)])
def test_every_row_once(student, draw, expect, n, batch_size, epochs):
    """The batches have the right sizes, and in every epoch each row occurs once, with its label."""
    found, _, y = passed(student, draw, n, batch_size, epochs, [seed(draw)])
    sizes = [batch_size] * (n // batch_size) + [n % batch_size] * (n % batch_size > 0)
    got = [len(labels) for _, labels in found[0]]
    if n % batch_size:
        expect.true(got != [batch_size] * (n // batch_size) * epochs, DROPPED, fault="dataset-last-batch-dropped")
        crossing = max(got, default=0) <= batch_size and sum(got) == n * epochs and len(got) < len(sizes) * epochs
        expect.true(not crossing, CROSSING, fault="dataset-batches-across-epochs")
    expect.equal(got, sizes * epochs, "the sizes of the batches")
    for number, (order, labels, _) in enumerate(by_epoch(found[0], n, epochs, expect), 1):
        sentence = f"In epoch {number} the labels do not belong to their rows."
        expect.true(np.array_equal(labels, y[order]), sentence, fault="dataset-labels-of-other-rows")
        sentence = f"The labels come as {labels.dtype}; they are int64."
        expect.true(labels.dtype == np.int64, sentence, kind="dtype", fault="dataset-labels-of-another-type")
        sentence = f"Among the {n} rows of epoch {number} there are {len(set(order))} different ones."
        expect.true(len(set(order)) == n, sentence, fault="dataset-epochs-mixed")


@pytest.mark.cell("test_make_dataset", weight=2, search="single")
def test_orders(student, draw, expect):
    """Epochs differ in their order, the seed decides the orders, and every row may come first."""
    n, batch_size, epochs = 24, 4, 3
    one, other = seed(draw), seed(draw)
    found, _, _ = passed(student, draw, n, batch_size, epochs, [one, one, other, 0, 0])
    orders = [[order for order, _, _ in by_epoch(batches, n, epochs, expect)] for batches in found]
    flat = [order for of in orders for order in of]
    for order in flat:
        expect.equal(np.sort(order), np.arange(n), "the numbers of the rows of an epoch, sorted")
    unshuffled = all(np.array_equal(order, np.arange(n)) for order in flat)
    sentence = "In every epoch the rows come in the order of the arrays."
    expect.true(not unshuffled, sentence, fault="dataset-not-shuffled")
    first, again, third, zero, zero_again = orders
    pairs = ((0, 1), (0, 2), (1, 2))
    differ = not any(np.array_equal(of[i], of[j]) for of in orders for i, j in pairs)
    expect.true(differ, "Two epochs have the same order.", fault="dataset-same-order-each-epoch")
    same = all(map(np.array_equal, first, again)) and all(map(np.array_equal, zero, zero_again))
    expect.true(same, "Two data sets with the same seed have different orders.", fault="dataset-seed-not-used")
    sentence = "Two data sets with different seeds have the same orders."
    expect.true(not any(map(np.array_equal, first, third)), sentence, fault="dataset-seed-ignored")
    together = {tuple(sorted(set(map(frozenset, order.reshape(-1, batch_size))), key=min)) for order in flat}
    sentence = "The same rows are together in a batch in every epoch."
    expect.true(len(together) > 1, sentence, fault="dataset-shuffled-after-batch")
    # With all rows to choose from, one chance in 10**12 is that in six epochs none moves so far to the front.
    reach = max(int((order - np.arange(n)).max()) for of in (first, third) for order in of)
    sentence = f"In six epochs of {n} rows none comes more than {reach} places before its place in the arrays."
    expect.true(reach >= n // 2, sentence, fault="dataset-shuffle-buffer-small")
    # A buffer of 10,000 rows, which many think enough, or of some batches. A right one fails by no chance at all.
    n = 12_500
    order = student.run(orders_of_a_dataset, n=n, batch_size=10, epochs=1, seed=one)
    expect.equal(np.sort(order), np.arange(n), "the numbers of the rows, sorted")
    reach = int((order - np.arange(n)).max())
    sentence = f"Of {n} rows none comes more than {reach} places before its place in the arrays."
    expect.true(reach >= 10_000, sentence, fault="dataset-shuffle-buffer-small")
    # Or one that lacks a single row: here the last comes first in half of the epochs.
    order = student.run(orders_of_a_dataset, n=2, batch_size=2, epochs=50, seed=one)
    expect.equal(np.sort(order), np.repeat([0, 1], 50), "the numbers of two rows in 50 epochs, sorted")
    sentence = "Of two rows the second one comes first in none of 50 epochs."
    expect.true(order[::2].any(), sentence, fault="dataset-shuffle-buffer-small")


@pytest.mark.cell("test_make_dataset", weight=2, search="single")
def test_decoded_once_and_augmented_again(student, draw, expect):
    """Every row is decoded once in all epochs together, and augmented once in each."""
    n, batch_size, epochs = 5, 2, 3
    found, x, _ = passed(student, draw, n, batch_size, epochs, [seed(draw)])
    for number, (order, _, whole) in enumerate(by_epoch(found[0], n, epochs, expect), 1):
        expect.close(whole[:, : x.shape[1]], x[order], f"the features of the rows of epoch {number}")
        decoded, augmented, features = whole[:, -3], whole[:, -2], whole[:, -1]
        sentence = f"In epoch {number} a row has been decoded {int(decoded.max())} times."
        expect.true((decoded == 1).all(), sentence, fault="dataset-decodes-each-epoch")
        sentence = f"In epoch {number} a row has been augmented {int(augmented.min())} times."
        fault = "dataset-augmentation-cached" if augmented.max() < number else ""
        expect.true((augmented == number).all(), sentence, fault=fault)
        expect.close(features, 2 * x[order, 0], "what augment returned")


@pytest.mark.cell("test_make_dataset", search="single")
def test_second_pass(student, draw, expect):
    """A second pass gives all epochs again, augmented anew; each row is decoded at most once in it."""
    n, batch_size, epochs = 5, 2, 2
    found, x, _ = passed(student, draw, n, batch_size, epochs, [seed(draw)], passes=2)
    got = [len(labels) for _, labels in found[0]]
    expect.equal(got, [2, 2, 1] * (2 * epochs), "the sizes of the batches of two passes")
    for number, (order, _, whole) in enumerate(by_epoch(found[0], n, 2 * epochs, expect), 1):
        expect.equal(np.sort(order), np.arange(n), "the numbers of the rows of an epoch, sorted")
        expect.close(whole[:, : x.shape[1]], x[order], f"the features of the rows of epoch {number}")
        decoded, augmented = whole[:, -3], whole[:, -2]
        sentence = f"At the end of two passes a row has been decoded {int(decoded.max())} times."
        fault = "dataset-decodes-in-a-later-pass" if number > epochs else "dataset-decodes-each-epoch"
        expect.true((decoded <= 1 + (number > epochs)).all(), sentence, fault=fault)
        sentence = (
            f"In epoch {number} of two passes of {epochs} epochs a row has been augmented {int(augmented.min())} times."
        )
        expect.true((augmented == number).all(), sentence)


def passed(student, draw, n, batch_size, epochs, seeds, **options):
    x = draw.normal((n, 2), 1.0, np.float32)
    x[:, 0] = np.arange(n)  # a row's number
    y = draw.permutation(n) + 10
    data = {"x": x, "y": y, "batch_size": batch_size, "epochs": epochs, "seeds": seeds} | options
    return student.run(passes_over_a_dataset, **data), x, y


def by_epoch(batches, n, epochs, expect):
    """The rows of each epoch: their numbers, labels, and all columns."""
    whole, labels = (np.concatenate([batch[part] for batch in batches]) for part in (0, 1))
    expect.true(len(whole) == n * epochs, f"In {epochs} epochs of {n} rows the data set has {len(whole)}.")
    expect.true(whole.ndim == 2 and whole.shape[1] == 5, f"The rows of a batch have the shape {whole.shape[1:]}.")
    for k in range(epochs):
        part = slice(k * n, (k + 1) * n)
        order = whole[part, 0].astype(np.int64)
        expect.true(((order >= 0) & (order < n)).all(), "A row is none of those that were given.")
        yield order, labels[part], whole[part]


def seed(draw):
    return int(draw.integers(0, 2**31, 1)[0])


# --- 7. TwoTowers ---------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_two_towers", search="single")
def test_scores(student, reference, draw, expect):
    """Variables and scores are right, in an eager call and inside a `tf.function`, and follow the variables."""
    sizes = (3, 2, 4)
    data = towers(draw, sizes) | {"batches": [pair(draw, n, sizes) for n in (1, 4)]}
    data |= {f"new_{name}": value for name, value in towers(draw, sizes).items()}
    got, wanted = student.run(scores_of_towers, **data), reference.run(scores_of_towers, **data)
    expect.close(got["trainable"], wanted["trainable"], "the sum of the squares of model.trainable_variables")
    for when in ("before", "after"):
        for mine, right in zip(got[when], wanted[when], strict=True):
            expect.close(mine, right, names=("the scores of an eager call", "the scores of a traced call"))


@pytest.mark.cell("test_two_towers", search="none")
def test_places_of_variables(student, reference, draw, expect):
    """The variables of the first tower lie on GPU:0, those of the second on GPU:1, and the scores are right."""
    got = placed(student, reference, draw, expect)
    for tower, places, wanted in zip(("first", "second"), got["variables"], ("GPU:0", "GPU:1"), strict=True):
        sentence = f"The variables of the {tower} tower lie on {' and '.join(places)}; they belong on {wanted}."
        expect.true(places == [wanted] * 2, sentence, fault="towers-variables-misplaced")


@pytest.mark.cell("test_two_towers", search="none")
def test_places_of_operations(student, reference, draw, expect):
    """The first tower is computed on GPU:0, the second on GPU:1, the score on GPU:0, and the scores are right."""
    got = placed(student, reference, draw, expect)
    for name, wanted in (("x1", "GPU:0"), ("x2", "GPU:1"), ("both", "GPU:0")):
        of, places = "x1 and x2" if name == "both" else f"{name} alone", got["operations"][name]
        sentence = f"What is computed from {of} is placed on {' and '.join(places)}; it belongs on {wanted}."
        fault = "towers-score-misplaced" if name == "both" else "towers-operations-misplaced"
        expect.true(places == [wanted], sentence, fault=fault)


def placed(student, reference, draw, expect):
    sizes = (3, 2, 4)
    data = towers(draw, sizes)
    data["x1"], data["x2"] = pair(draw, 5, sizes)
    got, wanted = student.run(places_of_towers, **data), reference.run(places_of_towers, **data)
    expect.close(got["scores"], wanted["scores"], "the scores")
    return got


def towers(draw, sizes):
    n1, n2, hidden = sizes
    return {"first": weights(draw, (n1, hidden)), "second": weights(draw, (n2, hidden))}


def pair(draw, n, sizes):
    return draw.normal((n, sizes[0]), 1.0, np.float32), draw.normal((n, sizes[1]), 1.0, np.float32)


# --- 8. export_encoder, load_encoder --------------------------------------------------------------------------------


@pytest.mark.cell("test_export_encoder", search="single")
def test_signature(student, reference, draw, expect):
    """The signature gives the codes of batches of several sizes."""
    require_codes(student, reference, draw, expect, (3, 2), (1, 4, 2))


@pytest.mark.cell("test_export_encoder", search="single")
def test_signature_computes_with_variables(student, reference, draw, expect):
    """After other values are assigned to w and b of the loaded object, the signature gives other codes."""
    new = dict(zip(("new_w", "new_b"), weights(draw, (2, 3)), strict=True))
    require_codes(student, reference, draw, expect, (2, 3), (2,), **new)


@pytest.mark.cell("test_export_encoder", search="none")
def test_input_of_the_signature(student, reference, draw, expect):
    """The input of the signature has the shape (None, N), and its codes are right."""
    w, b = weights(draw, (3, 2))
    data = {"w": w, "b": b, "x": draw.normal((4, 3), 1.0, np.float32)}
    got, wanted = student.run(input_of_an_export, **data), reference.run(input_of_an_export, **data)
    expect.close(got["codes"], wanted["codes"], "the codes")
    shape = got["shape"] and tuple(got["shape"])
    sentence = f"The input x has the shape {shape}; it should have (None, 3)."
    expect.true(shape is None or shape[0] is None, sentence, fault="export-batch-size-fixed")
    expect.true(shape == (None, 3), sentence, fault="export-width-open")


@pytest.mark.cell("test_export_encoder", search="single")
def test_two_folders(student, reference, draw, expect):
    """Functions that were loaded from two folders give the codes of their own, and so does one of others' folder."""
    data = {"weights": [weights(draw, (2, 3)) for _ in range(2)], "x": draw.normal((4, 2), 1.0, np.float32)}
    got, wanted = student.run(codes_of_two_encoders, **data), reference.run(codes_of_two_encoders, **data)
    names = [
        f"the codes of {rows} of the {which} folder" for rows in ("4 rows", "1 row") for which in ("first", "second")
    ]
    for codes in got:
        require_array(expect, "What the function returns", codes, "export-codes-as-a-tensor")
    expect.close(got, wanted, names=tuple(names))
    w, b = weights(draw, (2, 3))
    files = {"files": reference.run(files_of_an_export, w=w, b=b), "x": data["x"]}
    got, wanted = student.run(codes_of_files, **files), reference.run(codes_of_files, **files)
    expect.close(got, wanted, "the codes of a folder that others wrote")


def require_codes(student, reference, draw, expect, sizes, batches, **new):
    w, b = weights(draw, sizes)
    data = {"w": w, "b": b, "batches": [draw.normal((n, sizes[0]), 1.0, np.float32) for n in batches]} | new
    got, wanted = student.run(codes_of_an_export, **data), reference.run(codes_of_an_export, **data)
    expect.close(got, wanted, names=tuple(f"the codes of {n} rows" for n in batches))
