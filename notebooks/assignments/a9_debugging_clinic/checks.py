"""The hidden checks of a9: the mended scripts on data that nobody has seen, and what was written about them.

What a student's script was like when it was handed out follows from the identifier in the first cell; it is read from
the text, as are the diagnoses. The healthy script is the same for everybody: the reference.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from faults import NAMES, copies, renamed
from probes import digits_run, forecast_run, half_run, keras_run, long_economy, long_interrupted, long_run, pets_run

from course_lib.checks import clinic
from course_lib.checks.a9_debugging_clinic import CATALOG

F = "float32"
CLOSE = {"rtol": 1e-3, "atol": 1e-4}
HALF = {"rtol": 3e-2, "atol": 1e-3}
SPARE = 2, 4
"""statements that may change beyond what the shortest mend takes: so many, and so many more for each fault"""
RESULTS, TEXTS = 5.0, 2.5
"""weights of the checks of a script"""


# --- what was handed out, and what was handed in --------------------------------------------------------------------


def healthy(number):
    notebook = json.loads((Path(__file__).parent / "a9_debugging_clinic.ipynb").read_text(encoding="utf-8"))
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return "".join(notebook["cells"][ids.index(f"script_{number}")]["source"])


def identifier(submission, expect):
    """What the student typed into the first cell."""
    found = assigned(submission.sources.get("student", ""), "student")
    said = 'The first cell has no line student = "..." with your identifier, so nobody knows which scripts are yours.'
    expect.true(len(found) == 1 and found[0].strip(), said)
    return found[0]


def assigned(source, name):
    """The texts in what a cell assigns to a name, the last time that it does."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return []
    targets = [
        (node, node.targets if isinstance(node, ast.Assign) else [node.target]) for node in body if _assigns(node)
    ]
    values = [node.value for node, named in targets if any(isinstance(t, ast.Name) and t.id == name for t in named)]
    if not values or values[-1] is None:
        return []
    constants = [node.value for node in ast.walk(values[-1]) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def _assigns(node):
    return isinstance(node, (ast.Assign, ast.AnnAssign))


def planted(number, student):
    """The codes of what was planted in a student's script, and the healthy script with the names of that copy."""
    many, copy = clinic.copy_of(number, student)
    several = copies(number, many)
    faults, names = several[copy % len(several)]
    codes = {fault.id.removeprefix(f"{NAMES[number]}-") for fault in faults}
    return codes, renamed(number, healthy(number), names)


def statements(source):
    """How often each statement occurs; of a compound one its head. Without docstrings, comments and imports."""
    found = Counter()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            continue
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone or isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(getattr(node, field, None), list):
                setattr(node, field, [])
        found[ast.unparse(node)] += 1
    return found


def functions(source):
    """Arguments of the functions and methods: by place, by name alone, and those that may be left out."""
    found = {}
    for node in ast.parse(source).body:
        inner = [(f"{node.name}.", part) for part in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        found |= {where + part.name: _arguments(part.args) for where, part in inner if _defines(part)}
    return found


def _defines(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _arguments(args):
    places, named = ([a.arg for a in several] for several in (args.posonlyargs + args.args, args.kwonlyargs))
    spare = {name for name, default in zip(named, args.kw_defaults, strict=True) if default is not None}
    return places, named, spare | set(places[len(places) - len(args.defaults) :])


def kept(given, own):
    """Whether a function can be called as the one that was handed out, by place and by name."""
    if own is None or own[0][: len(given[0])] != given[0]:
        return False
    more = {*own[0][len(given[0]) :], *own[1]}
    return more >= set(given[1]) and more - set(given[1]) <= own[2]


def untouched(source):
    """Whether a cell is as students receive it."""
    with contextlib.suppress(SyntaxError):
        return ast.unparse(ast.parse(source)) == "raise NotImplementedError()"
    return False


def changes(one, other):
    """How many statements are in one of two programs and not in the other."""
    return ((one - other) + (other - one)).total()


def require_diagnosis(submission, expect, flag, number):
    student = identifier(submission, expect)
    if submission.student and " ".join(student.split()).casefold() != submission.student.casefold():
        said = f"The first cell says {student!r}, and this was handed in by {submission.student!r}"
        flag(f"{said}: whose scripts are these?")
    written = submission.sources.get(f"diagnosis_{number}", "")
    said = f"The cell diagnosis_{number} is as you received it."
    expect.true(not untouched(written), said, fault="script-or-diagnosis-untouched")
    wanted, _ = planted(number, student)
    given = set(assigned(written, f"diagnosis_{number}"))
    expect.true(given, f"diagnosis_{number} names no code.", fault="diagnosis-not-given")
    unknown = ", ".join(sorted(given - set(CATALOG)))
    expect.true(not unknown, f"Not in the catalog: {unknown}.", fault="diagnosis-not-in-the-catalog")
    wrong = len(given - wanted)
    said = f"{len(given & wanted)} of the {len(given)} codes in diagnosis_{number} are right"
    expect.true(not wrong, f"{said}.", fault="diagnosis-wrong")
    expect.true(given == wanted, f"{said}, and the script had {len(wanted)} faults.", fault="diagnosis-incomplete")


def require_little_change(submission, expect, number):
    student = identifier(submission, expect)
    codes, mended = planted(number, student)
    given, own = clinic.script(number, student), submission.sources.get(f"script_{number}", "")
    said = f"The cell script_{number} is as you received it."
    expect.true(not untouched(own), said, fault="script-or-diagnosis-untouched")
    try:
        same = ast.unparse(ast.parse(given)) == ast.unparse(ast.parse(own))
    except SyntaxError as error:
        expect.true(False, f"The cell script_{number} is no Python: {error.msg}.")
    # A fault may be mended by moving a statement, which changes none.
    expect.true(not same, f"Script {number} is as it was handed out.", fault="script-as-handed-out")
    handed_out = statements(given)
    changed, needed = changes(handed_out, statements(own)), changes(handed_out, statements(mended))
    limit = needed + SPARE[0] + SPARE[1] * len(codes)
    said = f"{changed} statements of script {number} are new or gone; the shortest mend takes {needed}."
    expect.true(changed <= limit, said, fault="script-rewritten")
    mine = functions(own)
    lost = [name for name, arguments in functions(given).items() if not kept(arguments, mine.get(name))]
    said = f"Not the name and the arguments with which they were handed out: {', '.join(lost)}."
    expect.true(not lost, said, fault="script-arguments-changed")


# --- data -----------------------------------------------------------------------------------------------------------


def rows(draw, n, features, classes, noise=0.8):
    """Rows of several classes around centers of their own, and their labels."""
    labels = draw.labels(n, classes)
    centers = draw.normal((classes, features), 1.0, F)
    return (centers[labels] + draw.normal((n, features), noise, F) + np.float32(0.5)).astype(F), labels


def split(draw, sizes, features, classes, noise):
    """Rows of one kind in several sets: x and y of the first, of the second, ..."""
    x, y = rows(draw, sum(sizes), features, classes, noise)
    ends = np.cumsum(sizes)
    return [part for end, size in zip(ends, sizes, strict=True) for part in (x[end - size : end], y[end - size : end])]


def place_on(device, place):
    """Where a case runs: at the place that it names, if there is a device."""
    return place if device == "cuda" else "cpu"


def seed(draw):
    return int(draw.integers(0, 2**31, 1)[0])


def stops_early(history, epochs, patience):
    """Whether a run tells what chose its end: it stopped before its last epoch, its best was not its first, and by the
    training loss it would have gone on.
    """
    losses, training = history["val_loss"], history["train_loss"]
    goes_on = np.argmin(training) > len(training) - 1 - patience
    return np.argmin(losses) > 0 and len(losses) < epochs and goes_on


def require_history(expect, got, wanted, tolerances=CLOSE):
    expect.true(set(got) >= set(wanted), f"The history has the keys {', '.join(sorted(got))}.", kind="keys")
    for name, values in wanted.items():
        expect.close(got[name], values, f'history["{name}"]', **tolerances)


# --- 1. digits ------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_1", weight=RESULTS)
@pytest.mark.parametrize(("n", "m", "place"), [(37, 19, "cpu"), (37, 21, "cuda")])
def test_digits(student, reference, draw, expect, device, n, m, place):
    """Mended, script 1 trains and tests as a healthy one does, on other data: the same weights, the same numbers."""
    x_train, y_train, x_test, y_test = split(draw, (n, m), 5, 3, 1.0)
    data = {"x_train": x_train, "y_train": y_train, "x_test": x_test + np.float32(0.7), "y_test": y_test}
    options = {"hidden": 6, "classes": 3, "epochs": 4, "lr": 0.1, "seed": seed(draw), "device": place_on(device, place)}
    start = reference.run(digits_run, **data, options=options | {"epochs": 0})["weights"]
    got, wanted = (side.run(digits_run, **data, options=options) for side in (student, reference))
    expect.trajectory(got["weights"], wanted["weights"], start, steps=12, name="the weights")
    expect.close(got["statistics"], wanted["statistics"], "the running statistics", **CLOSE)
    require_history(expect, got["history"], wanted["history"])
    expect.close(got["outputs"], wanted["outputs"], "the outputs for the test rows", **CLOSE)
    # The loss that `evaluate_digits` is given may take means or sums: the caller is the script itself.
    tested, right = got["tested"], wanted["tested"][0]
    nearest = tested[np.argmin(np.abs(tested[:, 0] - right[0]))]
    expect.close(nearest, right, "loss and accuracy by `evaluate_digits`, for batches of 16 rows and fewer", **CLOSE)


# --- 2. mixed precision ---------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_2", weight=RESULTS, needs="cuda")
@pytest.mark.parametrize(
    ("n", "group", "bound", "largest", "place"),
    [
        *((57, 3, 0.2, 0, "cuda"), (33, 2, 0.3, 0, "cuda"), (9, 2, 0.3, 0, "cuda")),  # the last batch has one row
        *((48, 3, 0.2, 0, "cuda:1"), (61, 2, 0.3, 6e3, "cuda")),
    ],
)
def test_half(student, reference, draw, expect, n, group, bound, largest, place):
    """Mended, script 2 makes the updates of a healthy one, on other data: the same rates, norms, losses and weights."""
    x, y = rows(draw, n, 5, 3)
    if largest:  # gradients overflow in float16, and the scaler takes a smaller scale from then on
        x[:3], y[:3] = np.float32(largest), (0, 1, 2)
    options = {"hidden": 6, "classes": 3, "epochs": 2, "lr": 0.2, "group": group, "max_norm": bound}
    options |= {"seed": seed(draw), "device": place}
    got, wanted = (side.run(half_run, x=x, y=y, options=options) for side in (student, reference))
    require_history(expect, got["history"], wanted["history"], HALF)
    expect.close(got["weights"], wanted["weights"], "the weights", **HALF)


# --- 3. fine-tuning -------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_3", weight=RESULTS)
@pytest.mark.parametrize(("epochs", "patience", "place"), [(14, 3, "cpu"), (16, 4, "cuda"), (11, 11, "cpu")])
def test_pets(student, reference, draw, expect, device, epochs, patience, place):
    """Mended, script 3 tunes the head as a healthy one does, on other data, and keeps the weights of the best epoch."""
    options = {"classes": 3, "epochs": epochs, "patience": patience, "lr": 0.05, "device": place_on(device, place)}
    for _ in range(100):  # about four, until each rule for the best epoch gives another course
        data = pets(draw) | {"options": options | {"seed": seed(draw)}}
        whole = reference.run(pets_run, **data | {"options": data["options"] | {"patience": epochs}})["history"]
        losses = whole["val_loss"], whole["train_loss"]
        courses = [course(*rule, patience) for rule in itertools.product(losses, repeat=2)]
        ends, best = courses[0]
        if 0 < best < ends - 1 and len(set(courses)) == 4:
            break
    got, wanted = student.run(pets_run, **data), reference.run(pets_run, **data)
    require_history(expect, got["history"], wanted["history"])
    expect.close(got["outputs"], wanted["outputs"], "the outputs for the validation rows", **CLOSE)
    expect.close(got["head"], wanted["head"], "the weights of the head", **CLOSE)
    expect.close(got["first"], wanted["first"], "the outputs of `trained` after the call", **CLOSE)


def course(compared, kept, patience):
    """After how many epochs a run ends and which one it calls the best, by the losses that it compares and keeps."""
    lowest, best = np.inf, 0
    for epoch, (loss, noted) in enumerate(zip(compared, kept, strict=True)):
        if loss < lowest:
            lowest, best = noted, epoch
        if epoch - best == patience:
            break
    return epoch + 1, best


def pets(draw):
    x_train, y_train, x_val, y_val = split(draw, (24, 15), 4, 3, 1.6)
    trained = {"backbone.0.weight": draw.normal((6, 4), 0.7, F), "head.weight": draw.normal((2, 6), 0.5, F)}
    trained |= {"backbone.1.weight": draw.uniform(6, 0.8, 1.2, F), "backbone.1.bias": draw.normal(6, 0.3, F)}
    trained["head.bias"] = draw.normal(2, 0.3, F)
    statistics = {"backbone.1.running_mean": draw.normal(6, 0.5, F)}
    statistics["backbone.1.running_var"] = draw.uniform(6, 0.5, 2.0, F)
    sets = {"x_train": x_train, "y_train": y_train, "x_val": x_val, "y_val": y_val}
    return sets | {"trained": trained, "statistics": statistics}


# --- 4. a forecast --------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_4", weight=RESULTS)
@pytest.mark.parametrize(
    ("length", "window", "held_out", "place"), [(40, 4, 9, "cpu"), (60, 5, 9, "cuda"), (40, 4, 1, "cpu")]
)
def test_forecast(student, reference, draw, expect, device, length, window, held_out, place):
    """Mended, script 4 learns from the windows of a healthy one, on another series, and is tested as that one is."""
    steps = np.arange(length)
    series = (3 + 0.05 * steps + 2 * np.sin(steps / draw.uniform((), 1.0, 2.0)) + draw.normal(length, 0.2)).astype(F)
    options = {"window": window, "hidden": 4, "held_out": held_out, "epochs": 2, "lr": 0.05}
    options["device"] = place_on(device, place)
    data = {"series": series, "options": options | {"seed": seed(draw)}}
    got, wanted = student.run(forecast_run, **data), reference.run(forecast_run, **data)
    require_history(expect, got["history"], wanted["history"])
    expect.close(got["weights"], wanted["weights"], "the weights", **CLOSE)
    expect.close(got["outputs"], wanted["outputs"], "the predictions of the network for windows", **CLOSE)
    for name in ("windows", "targets"):
        expect.close(got[name], wanted[name], f"the {name} of `make_windows`", **CLOSE)


# --- 5. a long run --------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_5", weight=RESULTS / 2)
@pytest.mark.parametrize(
    ("n", "stops", "steps", "place"),
    [(20, [3], 0, "cpu"), (20, [2, 4], 0, "cpu"), (37, [1, 3, 5], 0, "cuda"), (20, [4], 7, "cpu")],
)
def test_long(student, reference, draw, expect, device, n, stops, steps, place):
    """Mended, script 5 ends with the weights and the losses of a healthy one, on other data, interrupted or not."""
    x, y = rows(draw, n, 4, 3)
    options = {"hidden": 5, "classes": 3, "lr": 0.2, "seed": seed(draw), "device": place_on(device, place)}
    probe, how = long_run, {"stops": stops}
    if steps:  # interrupted in its last epoch; that it goes on with other labels tells what was done before
        probe, how = long_interrupted, {"later": (y + 1) % 3, "until": stops[0], "steps": steps}
    got, wanted = (side.run(probe, x=x, y=y, options=options, **how) for side in (student, reference))
    expect.close(got["losses"], wanted["losses"], "the losses", **CLOSE)
    expect.close(got["weights"], wanted["weights"], "the weights", **CLOSE)


@pytest.mark.cell("test_script_5", weight=RESULTS / 2, needs="cuda", search="none")
def test_economy_of_long(student, reference, draw, expect):
    """Mended, script 5 copies its data to the device once, and its checkpoint says how many epochs are done."""
    x, y = rows(draw, 60, 40, 3)
    options = {"hidden": 8, "classes": 3, "lr": 0.1, "seed": seed(draw), "device": "cuda"}
    data = {"x": x, "y": y, "until": 2, "options": options}
    got, wanted = student.run(long_economy, **data), reference.run(long_economy, **data)
    expect.close(got["weights"], wanted["weights"], "the weights", **CLOSE)
    copied, due = got["copied"], wanted["copied"]
    said = f"{copied} bytes go to the device; {due} are due."
    # Rows chosen by an index on the CPU copy the index, twice more in each epoch.
    expect.true(copied <= due + 4 * y.nbytes, said, fault="long-copied-every-step")
    done, epochs, later = got["done"], got["epochs"], got["later"]
    # A run that goes on as if the number was right: the reader makes up for it.
    fault = "long-checkpoint-one-too-low" if (done, later) == (epochs - 1, epochs + 1) else ""
    expect.true(done == epochs, f"The checkpoint says {done} epochs; {epochs} are done.", fault=fault)


# --- 6. Keras -------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_6", weight=RESULTS)
def test_keras(student, reference, draw, expect):
    """Mended, script 6 trains, stops and is tested as a healthy one is, on other data, and its outputs are logits."""
    options = {"hidden": 8, "classes": 3, "epochs": 9, "patience": 2, "lr": 0.3}
    for _ in range(30):
        sets = split(draw, (48, 21, 19), 4, 3, 1.8)
        sets[4] = sets[4] + np.float32(0.4)
        names = ("x_train", "y_train", "x_val", "y_val", "x_test", "y_test")
        data = dict(zip(names, sets, strict=True)) | {"options": options | {"seed": seed(draw)}}
        wanted = reference.run(keras_run, **data)
        if stops_early(wanted["history"], options["epochs"], options["patience"]):
            break
    got = student.run(keras_run, **data)
    require_history(expect, got["history"], wanted["history"])
    expect.close(got["weights"], wanted["weights"], "the trained weights", **CLOSE)
    expect.form(got["outputs"], wanted["outputs"], "the outputs for the validation rows")
    likely = np.exp(wanted["outputs"])
    probabilities = likely / likely.sum(axis=1, keepdims=True) - 1 / options["classes"]
    said = "The outputs of the model are probabilities, and they should be logits."
    equal = np.allclose(got["outputs"], probabilities, atol=1e-3)
    expect.true(not equal, said, fault="keras-probabilities-for-logits")


# --- what was written -----------------------------------------------------------------------------------------------


@pytest.mark.cell("test_script_1", weight=TEXTS)
def test_diagnosis_1(submission, expect, flag):
    """The diagnosis of script 1 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 1)


@pytest.mark.cell("test_script_1", weight=TEXTS)
def test_rest_of_script_1(submission, expect):
    """What was right in script 1 is as it was."""
    require_little_change(submission, expect, 1)


@pytest.mark.cell("test_script_2", weight=TEXTS)
def test_diagnosis_2(submission, expect, flag):
    """The diagnosis of script 2 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 2)


@pytest.mark.cell("test_script_2", weight=TEXTS)
def test_rest_of_script_2(submission, expect):
    """What was right in script 2 is as it was."""
    require_little_change(submission, expect, 2)


@pytest.mark.cell("test_script_3", weight=TEXTS)
def test_diagnosis_3(submission, expect, flag):
    """The diagnosis of script 3 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 3)


@pytest.mark.cell("test_script_3", weight=TEXTS)
def test_rest_of_script_3(submission, expect):
    """What was right in script 3 is as it was."""
    require_little_change(submission, expect, 3)


@pytest.mark.cell("test_script_4", weight=TEXTS)
def test_diagnosis_4(submission, expect, flag):
    """The diagnosis of script 4 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 4)


@pytest.mark.cell("test_script_4", weight=TEXTS)
def test_rest_of_script_4(submission, expect):
    """What was right in script 4 is as it was."""
    require_little_change(submission, expect, 4)


@pytest.mark.cell("test_script_5", weight=TEXTS)
def test_diagnosis_5(submission, expect, flag):
    """The diagnosis of script 5 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 5)


@pytest.mark.cell("test_script_5", weight=TEXTS)
def test_rest_of_script_5(submission, expect):
    """What was right in script 5 is as it was."""
    require_little_change(submission, expect, 5)


@pytest.mark.cell("test_script_6", weight=TEXTS)
def test_diagnosis_6(submission, expect, flag):
    """The diagnosis of script 6 names the faults that it was handed out with, all of them and no others."""
    require_diagnosis(submission, expect, flag, 6)


@pytest.mark.cell("test_script_6", weight=TEXTS)
def test_rest_of_script_6(submission, expect):
    """What was right in script 6 is as it was."""
    require_little_change(submission, expect, 6)
