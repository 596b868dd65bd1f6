"""A wrong value is told apart in words; a right one in another form or precision is let through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.compare.values import Difference, compare, compare_form, show_both, tolerance_for

RIGHT = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -0.25]])
SQUARE = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -0.25], [2.5, 0.75, -6.0]])

finite_arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(max_dims=3, max_side=4),
    elements=st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 3)),
)


def told(got: Any, wanted: Any = RIGHT, **options: Any) -> Difference:
    found = compare("grad", got, wanted, **options)
    assert found is not None
    assert found.sentence.endswith(".") and "\n" not in found.sentence
    return found


def kind_of(got: Any, wanted: Any) -> str:
    return told(got, wanted).kind


@given(finite_arrays)
def test_every_array_equals_itself_in_every_form_and_rounding_to_float32_is_no_mistake(array: np.ndarray) -> None:
    for form in (array, array.tolist(), np.asfortranarray(array), array.astype(np.float32)):
        assert compare("a", form, array) is None
    assert compare("a", array, array.astype(np.float32)) is None


@pytest.mark.parametrize(("got", "wanted"), [
    (5.5, np.float64(5.5)), (np.array(5.5), 5.5), (np.float32(0.1), 0.1), (5, 5.0), ([1.0, 2.0], np.array([1.0, 2.0])),
    ([np.float64(1.0), np.array(2.0)], np.array([1.0, 2.0])), ([1.0, 2.0], (1.0, 2.0)), ((1, RIGHT), [1, RIGHT]),
    ({"b": 1.0, "a": RIGHT}, {"a": RIGHT, "b": 1.0}), (np.int32(3), 3),
    (np.array([1, 2], dtype=np.uint8), np.array([1, 2])),
    (np.array([np.inf, np.nan, 1.0]), np.array([np.inf, np.nan, 1.0])), (np.zeros((0, 3)), np.zeros((0, 3))),
    (np.array([1 + 2j]), np.array([1 + 2j])), ("relu", "relu"), (np.bool_(True), True), (None, None),
])  # fmt: skip
def test_another_form_of_the_same_value_is_right(got: Any, wanted: Any) -> None:
    assert compare("value", got, wanted) is None


def test_the_tolerance_follows_the_coarser_dtype() -> None:
    float64, float32, int64 = np.dtype("float64"), np.dtype("float32"), np.dtype("int64")
    assert tolerance_for(float64, float32) == tolerance_for(float32) > tolerance_for(float64)
    assert tolerance_for(int64) == (0, 0, 0)
    assert tolerance_for(float64, rtol=0.1) == (0.1, 0, 0)
    assert compare("a", np.float32(1.00005), 1.0) is None and compare("a", np.float32(1.001), 1.0) is not None
    assert compare("a", 1.00005, 1.0) is not None
    assert compare("a", 1.00005, 1.0, atol=1e-3) is None
    assert compare("zero but for rounding", np.full(4, 1e-17), np.zeros(4)) is None
    assert compare("a", np.full(4, 1e-3), np.zeros(4)) is not None


@pytest.mark.parametrize(("got", "wanted", "kind"), [
    (None, RIGHT, "none"), ((1.0, None), (1.0, 2.0), "none"), (None, {"a": 1.0}, "none"), ("1.0", 1.0, "type"),
    ([[1.0], [1.0, 2.0]], RIGHT, "type"), (["a", "b"], RIGHT, "type"),
    (np.array([1, None]), np.array([1.0, 2.0]), "type"), ({1.0}, RIGHT, "type"), (RIGHT, (1.0, 2.0), "type"),
    (RIGHT, {"a": 1.0}, "type"), (1, "1", "type"), (1, True, "type"), ((1.0,), (1.0, 2.0), "length"),
    ({"a": 1.0, "c": 1.0}, {"a": 1.0, "b": 1.0}, "keys"), (RIGHT[:, :2], RIGHT, "shape"),
    (RIGHT.T, RIGHT, "transposed"), (RIGHT.T + 1, RIGHT, "shape"), (RIGHT.astype(int), RIGHT, "dtype"),
    (RIGHT > 0, RIGHT, "dtype"), (RIGHT + 0j, RIGHT, "dtype"), (np.array([1.0, 2.0]), np.array([1, 2]), "dtype"),
    (np.array([1, 0]), np.array([True, False]), "dtype"), (np.where(RIGHT > 3, np.nan, RIGHT), RIGHT, "not finite"),
    (np.inf, 1.0, "not finite"), (np.zeros((2, 3)), RIGHT, "zero"), (SQUARE.T, SQUARE, "transposed"),
    (-RIGHT, RIGHT, "sign"), (4 * RIGHT, RIGHT, "factor"), (-RIGHT / 2, RIGHT, "factor"),
    (RIGHT + 0.5, RIGHT, "offset"), (RIGHT + (RIGHT > 3), RIGHT, "values"), (RIGHT**2, RIGHT, "values"),
    (3.3, 1.0, "values"), (np.array([1, 3]), np.array([1, 2]), "values"), ("tanh", "relu", "values"),
])  # fmt: skip
def test_the_kind_of_mistake_is_told(got: Any, wanted: Any, kind: str) -> None:
    assert kind_of(got, wanted) == kind


def test_a_factor_of_the_batch_size_is_called_by_its_name() -> None:
    assert "8 times (the number of rows, N = 8)" in told(8 * RIGHT, batch=8).sentence
    assert "1/8 times (one over the number of rows, N = 8)" in told(RIGHT / 8, batch=8).sentence
    assert "minus 8 times" in told(-8 * RIGHT, batch=8).sentence
    third = told(RIGHT / 3, batch=8).sentence
    assert "1/3 times" in third and "rows" not in third
    assert "1e-05 times" in told(RIGHT * 1e-5, batch=8).sentence
    assert "8 times" in told(8.0, 1.0, batch=8).sentence
    assert "times" not in told(RIGHT * 0.99997).sentence, "1/1 times"


def test_what_is_not_finite_is_told_with_its_sign() -> None:
    assert told(np.where(RIGHT > 3, -np.inf, RIGHT)).sentence.endswith("not finite (-inf).")
    assert told(np.array([np.nan, -np.inf]), np.ones(2)).sentence.endswith("not finite (nan and -inf).")


def test_any_two_numbers_have_a_ratio_so_only_a_telling_one_is_told() -> None:
    assert kind_of(3.7, 1.0) == "values"
    assert kind_of(2.0, 1.0) == "factor"
    assert kind_of(np.full(4, 3.7), np.ones(4)) == "offset"


def test_an_offset_by_the_mean_is_said_to_be_one() -> None:
    assert "that is the mean" in told(RIGHT - RIGHT.mean()).sentence
    other = told(RIGHT - 0.1).sentence
    assert "too small by 0.1" in other and "mean" not in other


def test_the_largest_difference_is_shown_with_both_values() -> None:
    wrong = RIGHT + np.array([[0, 0.01, 0], [0, 0, 7]])
    sentence = "grad: 2 of 6 values are wrong; the others are right."
    assert told(wrong) == Difference("grad", "values", sentence, (1, 2), "6.75", "-0.25")


def test_wrong_values_that_lie_together_are_said_to() -> None:
    wrong, masked = SQUARE + np.array([[0, 0, 0], [1, 2, 3], [0, 0, 0]]), SQUARE * (SQUARE > 0)
    for got, wanted, words in (
        (wrong, SQUARE, "all in row 1"), (wrong.T, SQUARE.T, "all in column 1"),
        (masked, SQUARE, "all where you have 0"), (SQUARE, masked, "all where it should be 0"),
    ):  # fmt: skip
        assert words in told(got, wanted).sentence


def test_numbers_are_shown_with_as_many_digits_as_it_takes() -> None:
    assert show_both(1.0, 2.0) == ("1", "2")
    assert show_both(0.41001, 0.41002) == ("0.41001", "0.41002")
    assert show_both(-0.0, 1e-3) == ("0", "0.001")


@pytest.mark.parametrize(("got", "wanted", "words"), [
    (np.ones((1, 3)), np.ones(3), "an axis of length 1 is too many"),
    (np.ones(3), np.ones((3, 1)), "an axis of length 1 is too few"),
    (np.ones((1, 3)), np.zeros((3, 1)), "in the wrong place"),
    (np.ones((4, 3)), np.ones(3), "axis 0 is still there"), (1.0, np.ones(3), "a single number"),
])  # fmt: skip
def test_shapes_that_differ_by_an_axis_are_explained(got: Any, wanted: Any, words: str) -> None:
    assert told(got, wanted).kind == "shape" and words in told(got, wanted).sentence


def test_parts_are_called_by_their_names() -> None:
    assert told((1.0, -RIGHT), (1.0, RIGHT), names=("c", "grad_x")).what == "grad_x"
    assert told({"W1": RIGHT, "b1": -RIGHT}, {"W1": RIGHT, "b1": RIGHT}).what == 'grad["b1"]'
    assert told([1.0, {"a": (2.0, 3.5)}], [1.0, {"a": (2.0, 3.0)}]).what == 'grad[1]["a"][1]'
    with pytest.raises(ValueError, match="1 names for 2 values"):
        compare("returned", (1.0, 2.0), (1.0, 2.0), names=("c",))


def test_form_alone_looks_at_everything_but_the_values() -> None:
    assert compare_form("a", {"W": 3 * RIGHT}, {"W": RIGHT}) is None
    assert compare_form("a", "tanh", "relu") is None
    for got, kind in ((RIGHT[0], "shape"), (RIGHT.astype(int), "dtype"), (RIGHT * np.nan, "not finite")):
        found = compare_form("a", {"W": got}, {"W": RIGHT})
        assert found is not None and found.kind == kind


class AlwaysEqual(np.ndarray):
    def __eq__(self, other: object) -> Any:
        return True

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return np.True_


class Agreeable(float):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 1.0


class Chameleon:
    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return RIGHT


class LyingDict(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return RIGHT


@pytest.mark.parametrize(
    "got", [RIGHT.view(AlwaysEqual), np.ma.masked_all((2, 3)), Agreeable(2.0), Chameleon(), [Agreeable(1.0)] * 6]
)
def test_a_type_of_the_students_own_is_not_taken_for_a_value(got: Any) -> None:
    assert kind_of(got, RIGHT) == "type"
    assert kind_of((got,), (RIGHT,)) == "type"
    assert kind_of(LyingDict(W=0), {"W": RIGHT}) == "type"
