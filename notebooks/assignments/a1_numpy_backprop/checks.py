"""The hidden checks of a1: the sentences of the notebook, on inputs that nobody has seen.

Each docstring is what the student reads. Cases go from small to large, so that the first failing one is a small one;
square layers come first, because there a transposed product has the right shape and only its values tell. A check that
asks for untouched arguments asks for right values too: doing nothing touches nothing.
"""

from __future__ import annotations

import numpy as np
import pytest
from probes import (
    backward_after_another_forward,
    called_twice,
    central_difference_of_a_cubic,
    forward_scores,
    gradient_of_a_wave,
    gradients_twice,
    losses_of_scores_used_twice,
    pieces_of_a_step,
    scores_and_gradients,
    scores_twice,
)

from course_lib.compare import compare, compare_form
from course_lib.data import load_digits

# --- 1. small_graph -------------------------------------------------------------------------------------------------

GRAPH = ("c", "grad_x", "grad_y", "grad_z")
GRAPH_SHAPES = [(2,), (2, 3), (1, 1), (5, 4), (3, 1, 2)]


@pytest.mark.cell("test_small_graph")
@pytest.mark.parametrize("shape", GRAPH_SHAPES)
def test_value_of_the_small_graph(student, reference, draw, expect, shape):
    """c = sum(x * y + z) is right for inputs of any shape."""
    x, y, z = draw.normal(shape), draw.normal(shape), draw.normal(shape)
    got = parts(expect, "small_graph", student.small_graph(x, y, z), GRAPH)
    expect.close(got[0], reference.small_graph(x, y, z)[0], "c")


@pytest.mark.cell("test_small_graph", weight=2)
@pytest.mark.parametrize("shape", GRAPH_SHAPES)
def test_gradients_of_the_small_graph(student, reference, draw, expect, shape):
    """The three gradients of c = sum(x * y + z) are right for inputs of any shape, twice for the same x, y and z."""
    data = {"function": "small_graph", "arguments": [draw.normal(shape), draw.normal(shape), draw.normal(shape)]}
    got, again = (parts(expect, "small_graph", of, GRAPH) for of in student.run(called_twice, **data))
    wanted = reference.run(called_twice, **data)[0]
    expect.close(got[1:], wanted[1:], names=GRAPH[1:])
    require_again(student, expect, again[1:], wanted[1:], GRAPH[1:])


# --- 2. numerical_gradient ------------------------------------------------------------------------------------------

# For a small h every kind of difference is near the gradient; which kind it is shows in the check with a large h alone.
NEAR = {"rtol": 1e-3, "atol": 1e-3}


@pytest.mark.cell("test_numerical_gradient", weight=2)
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 2)])
def test_central_differences(student, reference, draw, expect, shape):
    """With a large h the result is the central difference. Here f(v) = sum(coefficients * v**3) + sum(v)**2."""
    # Only calls of f at x + h and x - h give the term in h**2 of a cubic: the value shows how it was found.
    coefficients = draw.away_from_zero(shape)
    x = draw.away_from_zero(shape)
    # Entries beyond 1 show a step of h * max(1, abs(x)) in every draw.
    data = {"x": x + np.sign(x), "coefficients": coefficients}
    steps, shares = (0.5, 0.125), []
    got = [student.run(central_difference_of_a_cubic, **data, h=h) for h in steps]
    right = [reference.run(central_difference_of_a_cubic, **data, h=h) for h in steps]
    for h, value, wanted in zip(steps, got, right, strict=True):
        expect.form(value, wanted, "numerical_gradient")
        # A step of r * h gives r ** 2 times the term in h ** 2, whatever h is. Nothing else keeps all other terms.
        shares.append((np.asarray(value) - wanted) / (coefficients * h**2) + 1)
    one, other = shares
    kept = np.all(one > 0.01) and np.allclose(one, other, rtol=0.01, atol=0.01)
    half_or_right = any(np.allclose(one, share, rtol=0.01) for share in (0.25, 1))
    fault = "difference-another-step" if kept and not half_or_right else ""
    for value, wanted in zip(got, right, strict=True):
        wrong = compare("numerical_gradient", value, wanted)
        expect.true(wrong is None, wrong.sentence if wrong else "", kind=wrong.kind if wrong else "", fault=fault)


@pytest.mark.cell("test_numerical_gradient")
@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 2), (1, 1), (2, 1, 3), (2, 2, 2, 2)])
def test_gradient_with_the_default_h(student, reference, draw, expect, shape):
    """With the default h the result is near the gradient. Here f(v) = sum(v) * sum(sin(weights * v))."""
    data = {"x": draw.away_from_zero(shape), "weights": draw.away_from_zero(shape)}
    expect.close(
        student.run(gradient_of_a_wave, **data),
        reference.run(gradient_of_a_wave, **data),
        "numerical_gradient",
        **NEAR,
    )


@pytest.mark.cell("test_numerical_gradient")
@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_x_is_put_back(student, reference, draw, expect, shape):
    """The result is right, and right again for the same x. Here f(v) = sum(v) * sum(sin(weights * v))."""
    data = {"x": draw.away_from_zero(shape), "weights": draw.away_from_zero(shape), "h": 0.005}
    got, again = student.run(gradients_twice, **data)
    wanted = reference.run(gradients_twice, **data)[0]
    # Which kind of difference it is shows in another check. x + h - 2h + h differs from x in the last digit, and that
    # is all right; an x that was not put back gives another gradient by about h.
    expect.close(got, wanted, "numerical_gradient", rtol=0.05, atol=0.05)
    expect.close(again, got, "numerical_gradient of a second call with the same x", rtol=1e-6, atol=1e-6)


# --- 3. two_layer_forward -------------------------------------------------------------------------------------------

# (N, D, H, C)
# Four rows before one: with few values, several mistakes give the same.
SIZES = [(4, 3, 3, 3), (3, 2, 4, 3), (1, 2, 2, 2), (5, 4, 3, 6), (1, 7, 5, 2), (9, 3, 8, 1)]


@pytest.mark.cell("test_two_layer_forward", weight=2)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sizes", SIZES)
def test_scores(student, reference, draw, expect, sizes, dtype):
    """The scores are right for square and non-square layers and for a single row, in float64 and float32."""
    x, params = network(draw, sizes, dtype)
    got = student.run(forward_scores, x=x, params=params)
    expect.close(got, reference.run(forward_scores, x=x, params=params), "scores", batch=sizes[0])


@pytest.mark.cell("test_two_layer_forward")
@pytest.mark.parametrize("sizes", SIZES[:2])
def test_forward_changes_nothing(student, reference, draw, expect, sizes):
    """The scores are right, and right again for the same x and params. A later call leaves an earlier cache alone."""
    x, params = network(draw, sizes)
    other_x, other_params = network(draw, sizes)
    data = {"x": x, "params": params, "other_x": other_x, "other_params": other_params}
    data |= {"dscores": draw.normal((sizes[0], sizes[3]))}
    got, again, grads = student.run(scores_twice, **data)
    wanted = reference.run(scores_twice, **data)[0]
    expect.close(got, wanted, "scores")
    require_again(student, expect, [again], [wanted], ["scores"])
    # The backward pass may be wrong, or keep something from call to call: it must say the same of both copies.
    if len(grads) == 3 and compare("grads", grads[2], grads[0]) is None:
        wrong = compare("grads of a cache after another call", grads[1], grads[0])
        sentence = f"{wrong.sentence} A copy of the cache from before that call gives other ones." if wrong else ""
        expect.true(wrong is None, sentence, kind=wrong.kind if wrong else "", fault="cache-overwritten")


# --- 4. two_layer_backward ------------------------------------------------------------------------------------------


@pytest.mark.cell("test_two_layer_backward")
@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_of_the_last_layer(student, reference, draw, expect, sizes):
    """The gradients of W2 and b2 are right for square and non-square layers and for a single row."""
    require_gradients(student, reference, draw, expect, sizes, ("W2", "b2"))


@pytest.mark.cell("test_two_layer_backward")
@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_of_the_first_layer(student, reference, draw, expect, sizes):
    """The gradients of W1 and b1 are right for square and non-square layers and for a single row."""
    require_gradients(student, reference, draw, expect, sizes, ("W1", "b1"))


@pytest.mark.cell("test_two_layer_backward")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_each_call_has_its_own_cache(student, reference, draw, expect, dtype):
    """All gradients are right after another forward pass, again for the same arrays, and for a cache used again."""
    sizes = SIZES[0]
    x, params = network(draw, sizes, dtype)
    other_x, other_params = network(draw, sizes, dtype)
    data = {"x": x, "params": params, "dscores": draw.normal((sizes[0], sizes[3]), dtype=dtype)}
    data |= {"other_x": other_x, "other_params": other_params}
    (_, got), (_, again), same_cache, of_copy, same_copy = student.run(backward_after_another_forward, **data)
    (_, wanted), *_ = reference.run(backward_after_another_forward, **data)
    # A cache that the other forward pass has changed is a mistake of two_layer_forward. It costs points there, once.
    if compare("grads", got, wanted) and compare("grads", of_copy, wanted) is None:
        got, again, same_cache = of_copy, of_copy, same_copy
    expect.close(got, wanted, "grads", batch=sizes[0])
    require_again(student, expect, [again], [wanted], ["grads"])
    # The text forbids to change arrays, not to take them out of a dict: a cache may be good for one call alone.
    same_cache = wanted if same_cache is None else same_cache
    wrong = compare("grads of a second call with the same cache", same_cache, wanted, batch=sizes[0])
    expect.true(wrong is None, wrong.sentence if wrong else "", kind=wrong.kind if wrong else "", fault="cache-spent")


@pytest.mark.cell("test_two_layer_backward")
@pytest.mark.parametrize("sizes", [(4, 3, 3, 3), (1, 2, 2, 2)])
def test_gradients_of_any_size(student, reference, draw, expect, sizes):
    """All gradients are right where dscores is a billion times larger for one class than for the next."""
    # Each hidden unit leads to one class, so no small gradient is added to a large one. Differences of the whole
    # function cannot see the small ones.
    x, params = network(draw, sizes)
    params["W2"] = params["W2"] * np.eye(sizes[2], sizes[3])
    sizes_of_classes = 1e9 ** -np.arange(sizes[3])
    data = {"x": x, "params": params, "dscores": draw.away_from_zero((sizes[0], sizes[3]), 0.3) * sizes_of_classes}
    (_, got), (_, wanted) = student.run(scores_and_gradients, **data), reference.run(scores_and_gradients, **data)
    expect.form(got, wanted, "grads")
    for k, size in enumerate(sizes_of_classes):
        here, right = ({name: grads[name][..., k] / size for name in wanted} for grads in (got, wanted))
        expect.close(here, right, f"grads of class {k}, divided by {size:g}" if k else "grads of class 0")


def require_gradients(student, reference, draw, expect, sizes, names):
    x, params = network(draw, sizes)
    data = {"x": x, "params": params, "dscores": draw.normal((sizes[0], sizes[3]))}
    _, got = student.run(scores_and_gradients, **data)
    _, wanted = reference.run(scores_and_gradients, **data)
    keys = sorted(map(str, got)) if type(got) is dict else type(got).__name__
    sentence = f"two_layer_backward should return a dict with exactly the keys W1, W2, b1, b2; it returned {keys}."
    fault = ""
    if type(got) is dict:
        fault = "gradients-have-another-key" if set(keys) >= set(wanted) else "gradients-lack-a-key"
    expect.true(keys == sorted(wanted), sentence, kind="keys", fault=fault)
    for name in names:
        expect.close(got[name], wanted[name], f'grads["{name}"]', batch=sizes[0])


# --- 5. softmax_cross_entropy ---------------------------------------------------------------------------------------

LOSS = ("loss", "dscores")
# All digits of the loss are the business of one check: a loss that was rounded to three decimals fails no other.
DIGITS = {"rtol": 1e-3, "atol": 1e-3}
# As many rows as classes comes late: there 1/N and 1/C are the same mistake.
TABLES = [(2, 3), (3, 2), (1, 2), (3, 3), (7, 10)]


@pytest.mark.cell("test_softmax_cross_entropy")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("table", TABLES)
def test_loss(student, reference, draw, expect, table, dtype):
    """The loss is right for any number of rows and classes."""
    scores, labels = scored(draw, table, dtype)
    got = parts(expect, "softmax_cross_entropy", student.softmax_cross_entropy(scores, labels), LOSS)
    expect.close(got[0], reference.softmax_cross_entropy(scores, labels)[0], "loss", batch=table[0])


@pytest.mark.cell("test_softmax_cross_entropy")
@pytest.mark.parametrize("table", TABLES)
def test_gradient_of_the_loss(student, reference, draw, expect, table):
    """dscores is the gradient of the mean loss, for any number of rows and classes."""
    scores, labels = draw.normal(table, 2.0), labels_of(draw, *table)
    got = parts(expect, "softmax_cross_entropy", student.softmax_cross_entropy(scores, labels), LOSS)
    expect.close(got[1], reference.softmax_cross_entropy(scores, labels)[1], "dscores", batch=table[0])


@pytest.mark.cell("test_softmax_cross_entropy")
@pytest.mark.parametrize("classes", [2, 4])
def test_large_scores(student, reference, draw, expect, classes):
    """Scores of 1000 and -1000 give a finite loss and the right gradient; a row that is certain and right adds 0."""
    labels = draw.labels(3, classes)
    certain = np.full((3, classes), -1000.0)
    certain[np.arange(3), labels] = 1000.0
    undecided = np.full((2, classes), 1000.0) + draw.normal((2, classes))
    low = np.full((1, classes), -1000.0)
    scores, labels = np.concatenate([certain, undecided, low]), np.concatenate([labels, draw.labels(3, classes)])
    got = parts(expect, "softmax_cross_entropy", student.softmax_cross_entropy(scores, labels), LOSS)
    right = reference.softmax_cross_entropy(scores, labels)
    expect.close(got[0], right[0], "loss", batch=len(labels), **DIGITS)
    expect.close(got[1], right[1], "dscores", batch=len(labels))

    # Certain and wrong: 2000 is exact. A logarithm that is kept away from 0 gives about 30; the text lets it through.
    wrong = (labels[:3] + 1) % classes
    got = parts(expect, "softmax_cross_entropy", student.softmax_cross_entropy(certain, wrong), LOSS)
    wanted = reference.softmax_cross_entropy(certain, wrong)[1]
    expect.form(got[1], wanted, "dscores")
    zero, found = not np.any(got[1]), "dscores is zero for rows that are certain and wrong."
    expect.true(not zero, found, kind="zero", fault="gradient-zero-where-certain-and-wrong")
    expect.close(got[1], wanted, "dscores", batch=3)
    loss = float(got[0]) if np.ndim(got[0]) == 0 else np.nan
    expect.true(np.isfinite(loss), f"the loss of rows that are certain and wrong is {loss}.", kind="not finite")
    sentence = f"the loss of rows that are certain and wrong is {loss:.4g}; at least 10 is needed."
    named = {"yours": f"{loss:.4g}", "expected": "at least 10", "fault": "loss-bounded-too-low"}
    expect.true(loss >= 10, sentence, kind="bound", **named)


@pytest.mark.cell("test_softmax_cross_entropy")
@pytest.mark.parametrize(
    ("dtype", "table"),
    # N * C is beyond what 8 bits hold: a place in the whole table is no label.
    [
        ("int64", (4, 3)),
        ("int32", (4, 3)),
        ("uint8", (4, 3)),
        ("uint64", (4, 3)),
        ("int8", (27, 10)),
        ("uint8", (27, 10)),
    ],
)
def test_labels_of_any_integer_type(student, reference, draw, expect, dtype, table):
    """Loss and gradient are right for labels of any integer dtype, and when scores and labels are used once more."""
    n, classes = table
    data = {"scores": draw.normal(table), "labels": draw.labels(n, classes).astype(dtype)}
    data |= {"another": draw.normal((n, 1))}
    got, again = (
        parts(expect, "softmax_cross_entropy", of, LOSS) for of in student.run(losses_of_scores_used_twice, **data)
    )
    wanted, wanted_again = reference.run(losses_of_scores_used_twice, **data)
    expect.close(got[0], wanted[0], "loss", batch=n, **DIGITS)
    expect.close(got[1], wanted[1], "dscores", batch=n)
    require_again(student, expect, again[:1], wanted_again[:1], LOSS[:1], **DIGITS)
    require_again(student, expect, again[1:], wanted_again[1:], LOSS[1:])


def labels_of(draw, n, classes):
    """Labels; with fewer rows than classes, and more than one, the last class is missing. Scores alone tell C."""
    return draw.labels(n, classes - (1 < n < classes))


def scored(draw, table, dtype):
    """Scores, and labels whose probabilities are such that adding 1e-7 to them leaves five digits of the loss."""
    for _ in range(50):
        scores, labels = draw.normal(table, 2.0, dtype), labels_of(draw, *table)
        if table == (1, 2):
            # A right class that is hardly likely, where adding 1e-6 does not.
            scores[0, labels] = scores[0, 1 - labels] - draw.uniform((1,), 4.7, 6.0, dtype)
        p = 1 / np.exp(scores - np.take_along_axis(scores, labels[:, np.newaxis], axis=1)).sum(axis=1)
        if np.all((p > 0.002) & (p < 0.98)):
            break
    return scores, labels


# --- 6. train -------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_parameters_after_steps(student, reference, draw, expect, steps):
    """The parameters are right after one, two and three steps with batches of different sizes."""
    data = training(reference, draw, steps)
    got = trained(student, expect, data)
    expect.close(got[0], reference.train(**data)[0], "params")


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("steps", [1, 3])
def test_losses_before_each_step(student, reference, draw, expect, steps):
    """losses holds the loss of each batch before the step that uses it."""
    data = training(reference, draw, steps)
    got = trained(student, expect, data)
    expect.close(got[1], np.array(reference.train(**data)[1]), "losses", **DIGITS)


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("steps", [1, 2])
def test_given_params_stay(student, reference, draw, expect, steps):
    """The result is right, and right again for the same arrays, params above all."""
    data = {"function": "train", "arguments": list(training(reference, draw, steps).values())}
    got, again = (parts(expect, "train", of, ("params", "losses")) for of in student.run(called_twice, **data))
    wanted = reference.run(called_twice, **data)[0]
    expect.close(got[0], wanted[0], "params")
    require_again(student, expect, again[:1], wanted[:1], ["params"])
    require_again(student, expect, again[1:], [np.array(wanted[1])], ["losses"], **DIGITS)


@pytest.mark.cell("test_train")
def test_held_out_digits(student, reference, draw, expect):
    """On handwritten digits the first steps are right, and after 80 the network reads half of the held-out images."""
    digits = load_digits()
    _, params = network(draw, (1, 64, 16, 10), scale=0.2)
    params |= {"b1": np.zeros(16), "b2": np.zeros(10)}
    batches = [draw.choice(len(digits.x_train), 16) for _ in range(80)]
    data = {"x": digits.x_train.reshape(-1, 64), "labels": digits.y_train, "params": params, "learning_rate": 0.3}
    # Many steps blow up any rounding, so only the first are compared. And a wrong step often learns to read too.
    start = data | {"batches": batches[:3]}
    expect.close(trained(student, expect, start)[0], reference.train(**start)[0], "params")
    got = trained(student, expect, data | {"batches": batches})
    wrong = compare_form("params", got[0], params)
    expect.true(wrong is None, wrong.sentence if wrong else "", kind=wrong.kind if wrong else "")
    # Counted here, from the returned arrays and with the reference's forward pass.
    scores = reference.run(forward_scores, x=digits.x_test.reshape(-1, 64), params=got[0])
    right = float(np.mean(np.argmax(scores, axis=1) == digits.y_test))
    expect.at_least("the share of held-out digits read right", right, 0.5)


# --- shared ---------------------------------------------------------------------------------------------------------


def parts(expect, function, returned, names):
    """What `function` returned, once it is known to hold one value for each of `names`."""
    form = f"the tuple ({', '.join(names)})"
    several = type(returned) in (tuple, list)
    found = f"{len(returned)} value{'s' * (len(returned) != 1)}" if several else type(returned).__name__
    sentence = f"{function} should return {form}; it returned {found}."
    expect.true(several and len(returned) == len(names), sentence, yours=found, expected=form, kind="length")
    return returned


def require_again(student, expect, again, wanted, names, **near):
    """A second call with the same arrays is right too. If it is not, an argument that has changed is named."""
    try:
        expect.close(again, wanted, names=[f"{name} of a second call with the same arrays" for name in names], **near)
    except AssertionError:
        expect.unchanged(student)
        raise


def trained(student, expect, data):
    """What the student's `train` returned, as (params, losses)."""
    student.run(pieces_of_a_step, x=data["x"][:16], labels=data["labels"][:16], params=data["params"])
    return parts(expect, "train", student.train(**data), ("params", "losses"))


def network(draw, sizes, dtype="float64", scale=1.0):
    """Rows and parameters for a network of sizes (N, D, H, C), all of them of both signs."""
    n, d, h, c = sizes
    x = draw.normal((n, d), dtype=dtype)
    params = {
        "W1": draw.normal((d, h), scale, dtype),
        "b1": draw.normal((h,), 0.2, dtype),
        "W2": draw.normal((h, c), scale, dtype),
        "b2": draw.normal((c,), scale, dtype),
    }
    if n > 1:
        # Units that are off for one row are on for another: else ReLU, or all before it, could be wrong unseen.
        x[-1] = -x[-2] / 2
    return x, params


def training(reference, draw, steps):
    """Arguments of `train`: four rows, a small square network, a large learning rate, batches that differ in size."""
    for _ in range(50):
        x, params = network(draw, (4, 3, 3, 3))
        labels, rows = draw.labels(4, 3), 1 + draw.permutation(3)
        # The first batch must show whose labels are used, even by someone who takes the first ones of all.
        if np.array_equal(labels[rows], labels[:3]):
            rows = np.roll(rows, 1)
        # A row that stands in a batch twice counts twice.
        two, three = draw.choice(4, 2), draw.choice(4, 3)
        batches = [rows, two, np.append(three, three[:1])][:steps]
        data = {"x": x, "labels": labels, "params": params, "learning_rate": 0.5, "batches": batches}
        # A row for which every unit is off counts by its label alone, whichever row it is. And what a row costs is not
        # fixed where the right class has a probability near 0.
        if np.any(x @ params["W1"] + params["b1"] > 0, axis=1).all() and max(reference.train(**data)[1]) < 2:
            break
    return data
