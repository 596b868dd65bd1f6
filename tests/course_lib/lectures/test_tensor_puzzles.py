"""A puzzle's check says what is wrong, on the smallest input tried, and never to an answer that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from course_lib.lectures.tensor_puzzles import puzzle
from tests.when_used import when_used

torch = when_used("torch")
pytestmark = pytest.mark.slow


def _outer_spec(a: Any, b: Any) -> Any:
    return torch.tensor([[one * other for other in b.tolist()] for one in a.tolist()])


def _diagonal_spec(m: Any) -> Any:
    return torch.tensor([m[i, i].item() for i in range(len(m))])


def _outer(answer: Callable[..., Any]) -> None:
    mistakes = {"Transposed.": lambda a, b: b[:, None] * a, "Too deep.": lambda a, b: (a[:, None] * b)[None]}
    puzzle("P", answer, _outer_spec, lambda draw, size: (draw(size), draw(size + 1)), mistakes=mistakes)


def _diagonal(answer: Callable[..., Any]) -> None:
    puzzle("P", answer, _diagonal_spec, lambda draw, size: (draw(size, 2 * size)[:, ::2],), view=True)


def _waits(a: Any, b: Any) -> Any:
    raise NotImplementedError


def _of_the_framework(a: Any, b: Any) -> Any:
    raise NotImplementedError("lerp_cpu not implemented for Long")


def _changes(a: Any, b: Any) -> Any:
    return a[:, None] * b.add_(1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_waits, "P: waits for you.\n"),
        (_of_the_framework, "your code raises NotImplementedError: lerp_cpu not implemented for Long"),
        (lambda a, b: a[:, None] * b, "P: right, for 12 random inputs.\n"),
        (lambda a, b: torch.einsum("i,j->ij", a, b), "P: right, for 12 random inputs.\n"),
        (
            lambda a, b: b[:, None] * a,
            "P: not yet. For [4] and [9, 3] you return [[36], [12]] of shape (2, 1); "
            "wanted [[36, 12]] of shape (1, 2).\nTransposed.\n",
        ),
        (lambda a, b: a[:, None] + b, "P: not yet. For [4] and [9, 3] you return [[13, 7]]; wanted [[36, 12]].\n"),
        (lambda a, b: a[:, None] * b / 1, "right values as torch.float32; wanted torch.int64.\n"),
        (lambda a, b: None, "P: not yet. For [4] and [9, 3] you return NoneType, not a tensor.\n"),
        (_changes, "your code changes its input."),
        (lambda a, b: a.missing, "your code raises AttributeError: 'Tensor' object has no attribute 'missing'"),
        (lambda a, b: torch.stack([one * b for one in a]), "Is there a\nloop?"),
    ],
)
def test_what_is_said_to_an_answer(answer: Callable[..., Any], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    _outer(answer)
    assert said in capsys.readouterr().out


def test_an_answer_that_is_wrong_only_for_larger_inputs_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    _outer(lambda a, b: a[:, None] * b + (len(a) > 4))
    assert "P: not yet. For [" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda m: m.diagonal(), "right, for 12 random inputs, and without a copy."),
        (lambda m: m.diagonal().clone(), "they are copies"),
        (lambda m: m.as_strided((len(m),), (len(m) + 1,)), "not yet."),
    ],
)
def test_a_view_is_asked_for(answer: Callable[..., Any], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    _diagonal(answer)
    assert said in capsys.readouterr().out


def test_the_same_inputs_are_tried_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    _outer(lambda a, b: a)
    first = capsys.readouterr().out
    torch.rand(3)
    _outer(lambda a, b: a)
    assert capsys.readouterr().out == first


def test_no_hint_is_given_for_a_mistake_that_was_not_made(capsys: pytest.CaptureFixture[str]) -> None:
    _outer(lambda a, b: b[:, None] * a + 1)
    assert "Transposed" not in capsys.readouterr().out
