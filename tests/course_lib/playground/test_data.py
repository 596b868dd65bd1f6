"""The patterns are what they say, the parts are disjoint, and a feature is the function in its name."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.playground import FEATURES, PATTERNS, features, make_data
from course_lib.playground.data import REGRESSION


@pytest.mark.parametrize("pattern", [pattern for pattern in PATTERNS if pattern not in REGRESSION])
def test_half_of_the_points_are_of_each_class_and_all_lie_in_the_square(pattern: str) -> None:
    data = make_data(pattern, points=400)
    labels = np.concatenate([data.train_labels, data.test_labels])
    assert sorted(set(labels)) == [-1, 1] and labels.sum() == 0
    assert np.abs(np.concatenate([data.train, data.test])).max() <= 6


@pytest.mark.parametrize("pattern", sorted(REGRESSION))
def test_a_number_to_predict_goes_from_minus_one_to_one_and_is_a_function_of_the_place(pattern: str) -> None:
    data = make_data(pattern)
    x1, x2 = data.train.T
    assert np.abs(data.train).max() <= 5 and 0.8 < np.abs(data.train_labels).max() <= 1.01
    wanted = (x1 + x2) / 10
    if pattern == "hills":
        bumps = ((column, row) for column in (-1, 0, 1) for row in (-1, 1))
        wanted = sum(
            (-1) ** (column + 1) * row * np.exp(-((x1 - 3.5 * column) ** 2 + (x2 - 2.5 * row) ** 2) / 2.88)
            for column, row in bumps
        )
    np.testing.assert_allclose(data.train_labels, wanted, atol=1e-12)


@pytest.mark.parametrize(("share", "count"), [(0.1, 40), (0.5, 200), (0.9, 360)])
def test_the_share_goes_to_training_and_no_point_is_in_both_parts(share: float, count: int) -> None:
    data = make_data("spiral", share=share)
    assert (len(data.train), len(data.test)) == (count, 400 - count)
    assert len(np.unique(np.concatenate([data.train, data.test]), axis=0)) == 400


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_same_seed_gives_the_same_points(pattern: str) -> None:
    one, same, other = (make_data(pattern, noise=0.2, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.train, same.train)
    assert not np.array_equal(one.train, other.train)


def test_without_noise_a_rule_tells_the_classes_apart() -> None:
    circle, xor = make_data("circle"), make_data("XOR")
    assert (((circle.train**2).sum(axis=1) < 9) == (circle.train_labels > 0)).all()
    assert (np.sign(xor.train.prod(axis=1)) == xor.train_labels).all()


def test_noise_moves_the_points_by_as_much_as_it_says_and_keeps_the_labels() -> None:
    still, moved = make_data("circle", points=4000), make_data("circle", points=4000, noise=0.2)
    assert abs((moved.train - still.train).std() - 0.6) < 0.03
    np.testing.assert_array_equal(still.train_labels, moved.train_labels)


def test_features_are_the_functions_in_their_names_up_to_a_factor() -> None:
    points = np.random.default_rng(0).uniform(-6, 6, (50, 2))
    x1, x2 = points.T
    wanted = {
        "x1": x1, "x2": x2, "x1^2": x1**2, "x2^2": x2**2, "x1*x2": x1 * x2, "sin x1": np.sin(x1), "sin x2": np.sin(x2)
    }  # fmt: skip
    assert list(FEATURES) == list(wanted)
    for column, values in zip(features(points, list(wanted)).T, wanted.values(), strict=True):
        factors = column / values
        assert np.ptp(factors) < 1e-12 and factors[0] > 0
    given = features(np.array([[3.0, 6.0]], dtype=np.float32), ["x2", "x1"])
    assert given.tolist() == [[2.0, 1.0]] and given.dtype == np.float32


@pytest.mark.parametrize(("call", "words"), [
    (lambda: make_data("moons"), "there are circle, XOR"),
    (lambda: make_data("circle", noise=2), "from 0 to 1"),
    (lambda: make_data("circle", share=1.0), "both parts"),
    (lambda: features(np.zeros((1, 2)), ["x3"]), "no feature 'x3'"),
    (lambda: features(np.zeros((1, 2)), []), "one at least"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_words(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
