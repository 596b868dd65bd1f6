"""Hidden inputs: equal for all students of a run, unknown without its secret; demonstrations: tidy and public."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.judge.draw import Draw, seed_for

MAKERS = {
    "normal": lambda d: d.normal((3, 4)),
    "uniform": lambda d: d.uniform((3, 4), -2, 5),
    "away_from_zero": lambda d: d.away_from_zero((3, 4)),
    "integers": lambda d: d.integers(0, 10**6, (3, 4)),
    "labels": lambda d: d.labels(20, 7),
    "permutation": lambda d: d.permutation(20),
    "choice": lambda d: d.choice(100, 20),
}


def test_the_same_seed_gives_the_same_values_and_another_seed_others() -> None:
    assert MAKERS.keys() == {n for n, _ in inspect.getmembers(Draw, inspect.isfunction) if not n.startswith("_")}
    for name, make in MAKERS.items():
        assert make(Draw(1)).tolist() == make(Draw(1)).tolist() != make(Draw(2)).tolist(), name


def test_a_seed_depends_on_the_secret_and_on_every_name() -> None:
    seeds = {
        seed_for(b"s", "a", "check[1]"),
        seed_for(b"t", "a", "check[1]"),
        seed_for(b"s", "b", "check[1]"),
        seed_for(b"s", "a", "check[2]"),
        seed_for(b"s", "a", "check[1]", ""),
        seed_for(b"s", "a\0check[1]"[:1], "check[12]"),
    }
    assert len(seeds) == 6
    assert seed_for(b"s", "a", "b") == seed_for(b"s", "a", "b")
    assert min(seeds) > 2**64, "too large to be tried out"


@given(st.integers(0, 2**32), st.sampled_from(["float64", "float32", "float16"]))
def test_values_have_the_dtype_asked_for_and_lie_in_their_range(seed: int, dtype: str) -> None:
    for demonstration in (False, True):
        draw = Draw(seed, demonstration=demonstration)
        for low, high in ((0, 1), (-2, 5), (0.01, 0.04), (100, 100.5)):
            values = draw.uniform(50, low, high, dtype=dtype)
            assert values.dtype == dtype
            ends = np.array([low, high], dtype=dtype)
            assert (ends[0] <= values).all() and (values < ends[1]).all()
        for least in (0.1, 0.01):
            assert (np.abs(draw.away_from_zero(50, least, dtype=np.float64)) >= least).all()


@pytest.mark.parametrize("scale", [1.0, 10.0, 0.1, 1e-3])
def test_demonstration_values_are_short_and_still_differ(scale: float) -> None:
    values = Draw(0, demonstration=True).normal(20, scale)
    assert len(set(values.tolist())) > 5
    assert max(len(f"{v / 10 ** np.floor(np.log10(scale)):.10f}".rstrip("0")) for v in values) <= 6
    assert np.std(values) == pytest.approx(scale, rel=0.5)


def test_demonstrations_of_the_usual_scale_have_one_decimal_and_hidden_values_have_all() -> None:
    shown, hidden = Draw(3, demonstration=True).normal((4, 4)), Draw(3).normal((4, 4))
    assert np.array_equal(shown, np.round(hidden, 1)) and not np.array_equal(hidden, np.round(hidden, 6))


@given(st.integers(1, 40), st.integers(1, 10), st.integers(0, 1000))
def test_every_class_occurs_among_the_labels_where_there_is_room(n: int, classes: int, seed: int) -> None:
    labels = Draw(seed).labels(n, classes)
    assert labels.shape == (n,) and labels.dtype == np.int64
    assert len(set(labels.tolist())) == min(n, classes) and labels.min() >= 0 and labels.max() < classes


def test_a_permutation_holds_every_number_once_and_a_choice_repeats_only_if_it_must() -> None:
    assert sorted(Draw(5).permutation(30).tolist()) == list(range(30))
    assert len(set(Draw(5).choice(30, 30).tolist())) == 30
    assert Draw(5).choice(3, (4, 5)).shape == (4, 5)
