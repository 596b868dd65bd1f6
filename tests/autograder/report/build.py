"""A small assignment in the likeness of a1, a class that did it, and what a parser sees of the pages."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from autograder.records import (
    Assignment,
    Cell,
    CellRun,
    CheckResult,
    Evidence,
    Flag,
    Item,
    Limits,
    Notebook,
    Report,
    Role,
    Submission,
    SubmittedNotebook,
    Trust,
    Verdict,
)
from course_lib.compare import Difference

NOTEBOOK = "a1_numpy_backprop"

SMALL_GRAPH = '''def small_graph(x, y, z):
    """Value and gradients of c = sum(x * y + z)."""
    c = np.sum(x * y + z)
    return c, y, x, np.ones_like(z)'''

BACKWARD = '''def two_layer_backward(dscores, cache):
    """Gradients of the parameters, as a dict like params."""
    x, hidden, params = cache
    grads = {}
    grads["W2"] = hidden.T @ dscores
    grads["b2"] = dscores.sum(axis=0)
    dhidden = dscores @ params["W2"].T
    grads["W1"] = x.T @ dhidden
    grads["b1"] = dhidden.sum(axis=0)
    return grads'''

SOFTMAX = '''def softmax_cross_entropy(scores, labels):
    """Mean cross-entropy of softmax(scores), and its gradient."""
    p = np.exp(scores)
    p /= p.sum(axis=1, keepdims=True)
    n = len(labels)
    loss = -np.log(p[np.arange(n), labels]).mean()
    p[np.arange(n), labels] -= 1
    return loss, p / n'''

TRAIN = '''def train(x, labels, params, learning_rate, batches):
    """Stochastic gradient descent over the given batches."""
    losses = []
    for batch in batches:
        while loss > 0.1:
            step(x[batch], labels[batch])
    return params, losses'''

PROSE = """ReLU passes the gradient on where its input was **positive**, and stops it elsewhere.

So a unit that is never active never learns."""

RELU_WORDS = (
    "Your hidden gradient ignores ReLU: `dhidden` flows back through units whose input was negative. A unit that gave "
    "0 passes no gradient on. Look at the line between `dhidden` and `W1`."
)
NO_NOTEBOOK = "a1.ipynb is not a notebook: JSON ends after 512 bytes"


def assignment() -> Assignment:
    """Four graded functions and one paragraph to be read by a person: 16 points."""

    def part(number: int, name: str, title: str, points: float) -> tuple[Cell, ...]:
        return (
            Cell("markdown", f"## {number}. {title}\n\nWrite `{name}`.", Role.LOCKED, f"about_{name}"),
            Cell("code", "SECRET SOLUTION", Role.SOLUTION, name, released=f"def {name}(): raise NotImplementedError()"),
            Cell("code", f"checks.{name}({name})", Role.TESTS, f"test_{name}", points),
        )

    cells = (
        Cell("markdown", "# Backpropagation by hand, in NumPy\n\nYou write four functions."),
        *part(1, "small_graph", "A small graph", 2),
        *part(2, "two_layer_backward", "Two layers, backward", 4),
        *part(3, "softmax_cross_entropy", "Softmax and cross-entropy", 4),
        *part(4, "train", "Training", 4),
        Cell("markdown", "## 5. In your own words", Role.LOCKED, "about_words"),
        Cell("markdown", "# SECRET MODEL ANSWER", Role.MANUAL, "dead_units", 2, released="Your answer here."),
    )
    limits = Limits(cell_s=20, notebook_s=120)
    return Assignment(NOTEBOOK, Path("a1"), (Notebook(NOTEBOOK, cells),), checks=Path("checks.py"), limits=limits)


A1 = assignment()


def check(name: str, sentence: str, verdict: Verdict = Verdict.PASSED, **more: Any) -> CheckResult:
    return CheckResult(name, verdict, sentence, **more)


VALUE = check("test_value_of_the_small_graph", "c = sum(x * y + z) is right for inputs of any shape.")
GRADIENTS = check(
    "test_gradients_of_the_small_graph",
    "The three gradients of c = sum(x * y + z) are right, and x, y, z stay as they were.",
    weight=2.0,
)
LAST = check("test_last_layer", "The gradients of W2 and b2 are right.")
FIRST = check("test_first_layer", "The gradients of W1 and b1 are right where some hidden units are off.")
LOSS = check("test_loss", "The loss is the mean over the rows.")
LARGE = check("test_large_scores", "Scores of 1000 give a finite loss.")
STEP = check("test_one_step", "One step of SGD moves every parameter by -learning_rate times its gradient.")
READS = check("test_reads_batches", "Each batch is read once, in the given order.", evidence=Evidence.OBSERVED)

FIRST_WRONG = replace(
    FIRST,
    verdict=Verdict.FAILED,
    fault="relu-derivative-missing",
    message=RELU_WORDS,
    difference=Difference(
        what='grads["W1"]',
        kind="values",
        sentence='Some values of grads["W1"] are wrong: 2 of 6.',
        index=(0, 1),
        yours="-0.48",
        expected="0",
        case="x = np.array([[0.3, -1.2]])\nW1 = np.array([[0.5, -0.1], [1.1, 0.4]])\ndscores = np.array([[0.4, -0.4]])",
    ),
)
LARGE_WRONG = replace(
    LARGE,
    verdict=Verdict.FAILED,
    difference=Difference(
        "loss", "not finite", "loss is not finite.", (), "nan", "0.3133", "scores = np.array([[1000.0, 999.0]])"
    ),
)


def item(grade_id: str, points: float, most: float, verdict: Verdict, *checks: CheckResult, message: str = "") -> Item:
    fault = next((c.fault for c in checks if c.fault), None)
    return Item(NOTEBOOK, grade_id, points, most, verdict, fault, message, tuple(checks))


def run(
    grade_id: str | None, status: Verdict = Verdict.PASSED, output: str = "", error: str = "", origin: str = "student"
) -> CellRun:
    return CellRun(NOTEBOOK, grade_id, origin, status, output, error, 0.01)


GOOD_ITEMS = (
    item("test_small_graph", 2, 2, Verdict.PASSED, VALUE, GRADIENTS),
    item("test_two_layer_backward", 4, 4, Verdict.PASSED, LAST, FIRST),
    item("test_softmax_cross_entropy", 4, 4, Verdict.PASSED, LOSS, LARGE),
    item("test_train", 4, 4, Verdict.PASSED, STEP, READS),
    item("dead_units", 0, 2, Verdict.NEEDS_MANUAL, message="A person will grade this."),
)
ANSWERS = (
    ("small_graph", SMALL_GRAPH),
    ("two_layer_backward", BACKWARD),
    ("softmax_cross_entropy", SOFTMAX),
    ("train", TRAIN),
    ("dead_units", PROSE),
)
GOOD_RUNS = tuple(run(name) for name, _ in ANSWERS[:-1])


def report(student: str, items: tuple[Item, ...] = GOOD_ITEMS, **more: Any) -> Report:
    values: dict[str, Any] = {
        "score": sum(i.points for i in items),
        "max_score": 16.0,
        "state": Verdict.NEEDS_MANUAL,
        "trust": Trust.JUDGED_APART,
        "device": "cpu",
        "seconds": 1.25,
        "runs": GOOD_RUNS,
        "digest": hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest(),
        "sandbox": "namespaces, Landlock, seccomp",
    }
    return Report(student, NOTEBOOK, items=items, **{**values, **more})


def submission(student: str, answers: tuple[tuple[str, str], ...] = ANSWERS, **more: Any) -> Submission:
    notebook = SubmittedNotebook(NOTEBOOK, (), tuple(name for name, _ in answers), answers)
    return Submission(student, NOTEBOOK, (notebook,), **more)


def with_items(**changed: Item) -> tuple[Item, ...]:
    """The good items with those of these grade ids replaced."""
    return tuple(changed.get(i.grade_id, i) for i in GOOD_ITEMS)


def a_class() -> dict[str, Report]:
    """One student for each way that grading can end."""
    relu = item("test_two_layer_backward", 2, 4, Verdict.PARTIAL, LAST, FIRST_WRONG, message=RELU_WORDS)
    unstable = item(
        "test_softmax_cross_entropy", 2, 4, Verdict.PARTIAL, LOSS, LARGE_WRONG, message="loss is not finite."
    )
    stopped: dict[str, Any] = {
        "verdict": Verdict.TIME,
        "message": "When your code was called, it was stopped after 20 s.",
    }
    endless = item("test_train", 0, 4, Verdict.TIME, replace(STEP, **stopped), replace(READS, **stopped),
                   message="The cell train did not run to its end: stopped after 20 s")  # fmt: skip
    unnamed: dict[str, Any] = {"verdict": Verdict.FAILED}
    name_error = "NameError: name 'xx' is not defined"
    broken = item("test_small_graph", 0, 2, Verdict.FAILED, replace(VALUE, **unnamed), replace(GRADIENTS, **unnamed),
                  message=f"The cell small_graph did not run to its end: {name_error}")  # fmt: skip
    untouched = item("test_train", 0, 4, Verdict.NOT_ATTEMPTED, message="The cell is as you received it.")
    ended = "The cell softmax_cross_entropy did not run to its end: the process ended"
    loss = replace(LOSS, verdict=Verdict.CRASH)
    crashed = item("test_softmax_cross_entropy", 0, 4, Verdict.CRASH, loss, message=ended)
    rejected, ours = (
        tuple(Item(NOTEBOOK, i.grade_id, 0, i.max_points, verdict, message=message) for i in GOOD_ITEMS)
        for verdict, message in ((Verdict.REJECTED, "not JSON"), (Verdict.GRADER_ERROR, "A person will look at this."))
    )
    alike: dict[str, Any] = {"digest": "c0ffee" * 10}
    reports = [
        report("ada.lovelace"),
        report(
            "bela.bartok",
            with_items(test_two_layer_backward=relu, test_softmax_cross_entropy=unstable),
            flags=(
                Flag("renamed", "'Copy of a1 (1).ipynb' was taken for a1_numpy_backprop.ipynb."),
                Flag(
                    "duplicate-cell",
                    "Cell 'two_layer_backward' is there 2 times; the last one worked on counts.",
                    "two_layer_backward",
                ),
                Flag("forbidden-import", "The answer 'train' imports torch, which is forbidden here.", "train"),
            ),
            runs=(*GOOD_RUNS[:1], run("two_layer_backward", output="(1, 3)\n(2, 3)\n"), *GOOD_RUNS[2:]),
        ),
        report(
            "carla.bruni",
            with_items(test_train=endless, test_small_graph=broken),
            runs=(
                run("small_graph", Verdict.FAILED, error=name_error),
                *GOOD_RUNS[1:3],
                run("train", Verdict.TIME, "step 0\nstep 1\nstep 2\n" * 200, "stopped after 20 s"),
                run(None, Verdict.FAILED, error="ModuleNotFoundError: No module named 'seaborn'", origin="extra"),
            ),
        ),
        report(
            "dmitri", with_items(test_train=untouched, test_softmax_cross_entropy=crashed, test_two_layer_backward=relu)
        ),
        report("emil.zatopek", rejected, state=Verdict.REJECTED, reason=NO_NOTEBOOK),
        report("frida", ours, state=Verdict.GRADER_ERROR, reason="KernelFailed: /opt/secret/zygote did not answer"),
        report("grace.hopper", flags=(Flag("identical", "The same bytes as the submission of heinz."),), **alike),
        report("heinz", flags=(Flag("skip-tag", "Cell 'test_train' carries the tag skip-execution."),), **alike),
    ]
    return {r.student: r for r in reports}


CLASS = a_class()
REPORTS = list(CLASS.values())


class Page(HTMLParser):
    """A page as its parser sees it: every tag with its attributes, and the text outside style sheets."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._in_style = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._in_style = tag == "style"
        self.text += " " if tag == "br" else ""

    def handle_endtag(self, tag: str) -> None:
        self._in_style = self._in_style and tag != "style"
        if tag in ("td", "th", "dt", "dd", "summary"):
            self.text += " "

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]
