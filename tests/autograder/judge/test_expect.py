"""What a check may demand, and what it says when the demand is not met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.judge.expect import Expect, Mismatch, agree
from autograder.judge.student import Call, LocalSide
from autograder.protocol.wire import Handle, Tensor

expect = Expect()


def refused(demand: Any, *arguments: Any, **options: Any) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        demand(*arguments, **options)
    return caught.value


def test_equal_values_meet_the_demand_whatever_holds_them() -> None:
    expect.close((np.ones(2), {"a": 1.0}), (np.ones(2), {"a": 1.0}))
    expect.close([1.0, 2.0], np.array([1.0, 2.0]))
    expect.close(np.float32(1 / 3), 1 / 3)


def test_a_difference_names_its_kind_the_part_the_place_and_both_values() -> None:
    wanted = (np.zeros(3), np.array([1.0, 2.0, 3.0]))
    found = refused(expect.close, (np.zeros(3), np.array([1.0, 2.0, 9.0])), wanted, names=("loss", "grad")).difference
    assert (found.what, found.index, found.yours, found.expected) == ("grad", (2,), "9", "3")
    assert "grad" in found.sentence
    for got, kind in ((None, "none"), (np.ones(3), "shape"), (-np.ones(2), "sign"), ({}, "type")):
        assert refused(expect.close, got, np.ones(2)).difference.kind == kind


def test_the_tolerance_follows_the_dtype() -> None:
    wanted = np.array([1.0, 2.0])
    expect.close((wanted * (1 + 3e-5)).astype(np.float32), wanted)
    refused(expect.close, wanted * (1 + 3e-5), wanted)


def test_equal_means_bit_for_bit() -> None:
    expect.equal(np.array([1, 2]), np.array([1, 2]))
    refused(expect.equal, np.array([1.0, 2.0 + 1e-12]), np.array([1.0, 2.0]))
    refused(expect.equal, "a", "b")


def test_form_asks_for_the_form_alone() -> None:
    expect.form((np.full(3, 1e9), -1.0), (np.zeros(3), 5.0))
    assert refused(expect.form, np.zeros(4), np.zeros(3)).difference.kind == "shape"
    assert refused(expect.form, np.array([1.0, np.inf]), np.zeros(2)).difference.kind == "not finite"


def test_a_law_and_a_bound_say_what_was_found() -> None:
    expect.true(True, "never said")
    assert refused(expect.true, False, "Rows do not sum to 1.").difference.sentence == "Rows do not sum to 1."
    expect.at_least("accuracy", 0.9, 0.9)
    found = refused(expect.at_least, "accuracy", 0.5, 0.9).difference
    assert found.kind == "bound" and "0.5" in found.sentence and "0.9" in found.sentence
    refused(expect.at_least, "accuracy", float("nan"), 0.9)


def test_framework_tensors_are_compared_by_their_values() -> None:
    tensor = Tensor(np.ones(2, np.float32), "torch", "float32")
    expect.close(tensor, np.ones(2))
    expect.close({"w": [tensor]}, {"w": [np.ones(2)]})


def side_of(function: str) -> LocalSide:
    names: dict[str, Any] = {}
    exec(function, names)
    return LocalSide(names)


def called(function: str, *arguments: Any) -> LocalSide:
    side = side_of(function)
    side.f(*arguments)
    return side


ARGUMENTS = [
    np.array([1.0, np.nan, np.inf, -0.0]),
    np.arange(6)[::2],
    np.arange(3, dtype=">i4"),
    {"W": np.ones(2), "b": [1, (2, None)]},
    [1, 2.5, "x", True, float("nan")],
    pytest.param(Tensor(np.ones((2, 2)), "torch", "float32", requires_grad=True), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda a: type(a).__name__)
def test_an_argument_that_was_only_read_is_unchanged(argument: Any) -> None:
    expect.unchanged(called("def f(x): return None", argument))


@pytest.mark.parametrize(
    ("argument", "change"),
    [
        (np.zeros(3), "x[1] = 1e-300"),
        (np.array([0.0]), "x *= -1"),
        ({"W": np.zeros(2)}, "x['W'] += 1"),
        ({"W": np.zeros(2)}, "x['W'] = x['W'].astype('float32')"),
        ({"W": 1}, "del x['W']"),
        ({"W": 1}, "x['cache'] = 2"),
        ([3, 1, 2], "x.sort()"),
        ([1], "x.append(lambda: 0)"),
        ({"W": 1}, "x['self'] = x"),
    ],
)
def test_a_change_in_place_is_seen_even_if_what_is_there_now_is_no_data(argument: Any, change: str) -> None:
    found = refused(expect.unchanged, called(f"def f(x): {change}", argument)).difference
    assert found.kind == "changed" and "argument number 1" in found.sentence


def test_the_changed_argument_is_called_by_its_place_or_its_name() -> None:
    side = side_of("def f(a, b, *, out): out[0] = 1; b[0] = 1")
    side.f([0], [0], out=[0])
    assert "argument number 2" in str(refused(expect.unchanged, side))
    side.f([0], [1], out=[0])
    assert "`out`" in str(refused(expect.unchanged, side))
    expect.unchanged(side, 1)  # type: ignore[arg-type]


def test_an_object_that_stayed_in_the_kernel_is_not_taken_for_changed() -> None:
    side = LocalSide({})
    side.calls.append(Call("", "probe", {"net": Handle(1), "x": 1}, after={"x": 1}))
    expect.unchanged(side)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1.0, 1.0 + 1e-9, True),
        (1.0, 1.1, False),
        (np.ones(3), [1, 1, 1], True),
        (np.ones(3), np.ones((3, 1)), False),
        (np.nan, np.nan, True),
        (np.nan, 1.0, False),
        (np.inf, -np.inf, False),
        ((1, 2), [1, 2], True),
        ((1, 2), (1, 2, 3), False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, 1, False),
        (None, None, True),
        (None, 0.0, False),
        ("x", "x", True),
        ("x", "y", False),
        (np.array([1e9, 1.0]), np.array([1e9, 1.0001]), True),  # against the scale of the whole
        (1 + 2j, 1 - 2j, False),
        (Handle(1), Handle(2), True),
        (Handle(1), 1, False),
    ],
)
def test_two_answers_agree_when_no_mistake_could_tell_them_apart(a: Any, b: Any, same: bool) -> None:
    assert agree(a, b, 1e-6) is same and agree(b, a, 1e-6) is same
