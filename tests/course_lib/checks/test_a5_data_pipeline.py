"""The statistics of a5: its false alarms, the laws of its reservoir, and the numbers of its text."""

from __future__ import annotations

import gc
import importlib
import math
import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.judge.draw import Draw
from autograder.judge.expect import Expect
from autograder.judge.faults import modules_of
from autograder.judge.student import LocalSide
from tests.course_lib.checks.visible import Visible
from tests.when_used import when_used

torch = when_used("torch")
pipeline = when_used("course_lib.checks.a5_data_pipeline")
ONE = Visible("a5_data_pipeline")
pytestmark = pytest.mark.slow


@pytest.fixture
def hidden() -> Iterator[ModuleType]:
    with modules_of(ONE.assignment.folder):
        yield importlib.import_module("checks")


def test_a_right_submission_is_refused_by_chance_less_than_once_in_a_million(
    hidden: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every count that is held against a chance is counted here, in all checks that count."""
    asked: list[tuple[int, int, float]] = []
    right = hidden.unlikely
    monkeypatch.setattr(hidden, "unlikely", lambda *given: asked.append(given) or right(*given))
    # Whether known mistakes fit decides about a name, and never about points.
    monkeypatch.setattr(hidden, "only_law", lambda laws, fits: None)
    for check in (
        hidden.test_every_group_has_the_same_chance,
        hidden.test_chances_of_rows,
        hidden.test_draws_are_independent,
        hidden.test_rules_of_the_reservoir,
        hidden.test_longer_streams,
    ):
        side = LocalSide(dict(ONE.reference))
        side.calls = []
        check(side, Draw(1), Expect())
    assert 100 < len(asked) < hidden.MOST_COMPARISONS
    assert hidden.ALPHA * hidden.MOST_COMPARISONS < 1e-6


@pytest.mark.parametrize(("n", "p"), [(400, 0.5), (1000, 1 / 3), (4800, 1 / 72), (4800, 0.25)])
def test_what_is_called_unlikely_is(hidden: ModuleType, n: int, p: float) -> None:
    """The exact probability of all counts that are refused, summed in logarithms."""
    total = 0.0
    for k in range(n + 1):
        if hidden.unlikely(k, n, p):
            log_p = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            total += math.exp(log_p + k * math.log(p) + (n - k) * math.log(1 - p))
    assert 0 < total < hidden.ALPHA
    assert hidden.unlikely(0, n, 1.0) and not hidden.unlikely(n, n, 1.0)


def test_the_laws_of_the_reservoir_are_those_of_the_reference(hidden: ModuleType) -> None:
    """Worked out over all courses of chance, and counted."""
    for name, (size, stream) in hidden.STREAMS.items():
        chances = hidden.LAWS[name][""]
        lost = np.zeros_like(chances)
        for seed in range(600):
            reservoir = ONE.reference["BalancedReservoir"](size, seed)
            for k, label in enumerate(stream):
                gone = reservoir.offer(k, label)
                if gone is not None:
                    lost[k, gone[0]] += 1
        np.testing.assert_allclose(lost / 600, chances, atol=0.12)


def test_every_mistake_of_the_reservoir_is_told_from_the_right_rules_and_from_every_other(hidden: ModuleType) -> None:
    """Some stream has a count for which one of two laws is out of the question, if the other holds."""
    for one in hidden.RULES:
        counts = {name: [np.round(row * hidden.RUNS) for row in hidden.LAWS[name][one]] for name in hidden.STREAMS}
        fit = {rule.partition("/")[0] for rule in hidden.RULES if hidden.first_unlikely(counts, rule) is None}
        assert fit == {one.partition("/")[0]}, one


def test_the_numbers_of_the_files_and_images_are_right(tmp_path: Any) -> None:
    ONE.stated("gives a tensor of shape `(3, 1, 1)` with the values 1.0, 0.2 and 0.0")
    pipeline.write_images(tmp_path, [("cat/0.png", np.array([[[255, 51, 0]]], np.uint8))])
    image, label = ONE.reference["ImageFiles"](tmp_path)[0]
    assert image.shape == (3, 1, 1) and label == 0
    np.testing.assert_allclose(image.flatten().numpy(), [1.0, 0.2, 0.0], rtol=1e-6)
    ONE.stated("5/6 ≈ 0.833", "√(5/36) ≈ 0.373", "would be 0.75")
    pixels = [0, 1, 1, 1, 1, 1]
    assert math.isclose(np.mean(pixels), 5 / 6) and math.isclose(np.std(pixels), math.sqrt(5 / 36))
    assert round(5 / 6, 3) == 0.833 and round(math.sqrt(5 / 36), 3) == 0.373 and np.mean([0.5, 1.0]) == 0.75


def test_the_numbers_of_splits_and_draws_are_right() -> None:
    ONE.stated("two patients of class 0 and one of class 1 are for validation")
    assert [max(1, int(0.25 * many)) for many in (10, 3)] == [2, 1]
    ONE.stated("rows 0 to 5 come with probability 1/12 each, rows 6 and 7 with probability 1/4 each")
    weights = ONE.reference["BalancedSampler"](np.array([0] * 6 + [7] * 2), 1, 0).weights
    np.testing.assert_allclose(weights / weights.sum(), [1 / 12] * 6 + [1 / 4] * 2)
    ONE.stated("worker 0 reads the files 0 and 3, worker 1 the files 1 and 4, worker 2 the file 2")
    assert [list(range(5))[w::3] for w in range(3)] == [[0, 3], [1, 4], [2]]
    ONE.stated("kept with probability 2/4")
    assert Fraction(Counter("aabb")["a"], "aaabba".count("a")) == Fraction(2, 4)


def test_the_example_of_the_batch_is_right() -> None:
    ONE.stated("`[[1, 2, 0], [3, 0, 0], [4, 5, 6]]`")
    items = [(torch.tensor(s)[:, None], 0) for s in ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0])]
    padded, mask, lengths, _ = ONE.reference["pad_collate"](items)
    assert padded[..., 0].tolist() == [[1, 2, 0], [3, 0, 0], [4, 5, 6]] and lengths.tolist() == [2, 1, 3]
    assert mask.tolist() == [[True, True, False], [True, False, False], [True, True, True]]


@pytest.mark.parametrize("workers", [2])
def test_copied_generators_repeat_what_the_text_says(workers: int) -> None:
    ONE.stated("With copied generators the batches 0 and 1 have the same random numbers, and so have 2 and 3")
    batches = pipeline.batches_of(pipeline.Drawing(8), workers, batch_size=2)[0]
    drawn = [batch[:, 1].tolist() for batch in batches]
    assert drawn[0] == drawn[1] and drawn[2] == drawn[3] and drawn[0] != drawn[2]


class Broken(list[int]):
    """A data set whose items raise."""

    def __getitem__(self, i: Any) -> Any:
        raise ValueError(f"no item {i}")


def test_a_pass_that_raised_leaves_no_worker_and_no_thread_to_the_garbage_collector() -> None:
    gc.collect()
    before = {*threading.enumerate(), *multiprocessing.active_children()}
    gc.disable()
    try:
        for _ in range(3):
            with pytest.raises(ValueError, match="no item 0"):
                pipeline.batches_of(Broken([1]), workers=1, batch_size=None)
        left = {*threading.enumerate(), *multiprocessing.active_children()} - before
        for thread in left:
            thread.join(5)
        assert [one for one in left if one.is_alive()] == []
    finally:
        gc.enable()
