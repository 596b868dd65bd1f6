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


def _raising(*said: str) -> Callable[..., Any]:
    def answer(a: Any, b: Any) -> Any:
        raise NotImplementedError(*said)

    return answer


@pytest.mark.parametrize(("answer", "said"), [
    (_raising(), "P: waits for you.\n"),
    (_raising("lerp_cpu not implemented for Long"), "your code raises NotImplementedError: lerp_cpu not implemented"),
    (lambda a, b: a[:, None] * b, "P: right, for 12 random inputs.\n"),
    (lambda a, b: torch.einsum("i,j->ij", a, b), "P: right, for 12 random inputs.\n"),
    (lambda a, b: b[:, None] * a,
     "P: not yet. For [4] and [9, 3] you return [[36], [12]] of shape (2, 1); wanted [[36, 12]] of shape (1, 2).\n"
     "Transposed.\n"),
    (lambda a, b: a[:, None] + b, "P: not yet. For [4] and [9, 3] you return [[13, 7]]; wanted [[36, 12]].\n"),
    (lambda a, b: a[:, None] * b + (len(a) > 4), "P: not yet. For ["),  # wrong only for larger inputs
    (lambda a, b: a[:, None] * b / 1, "right values as torch.float32; wanted torch.int64.\n"),
    (lambda a, b: None, "P: not yet. For [4] and [9, 3] you return NoneType, not a tensor.\n"),
    (lambda a, b: a[:, None] * b.add_(1), "your code changes its input."),
    (lambda a, b: a.missing, "your code raises AttributeError: 'Tensor' object has no attribute 'missing'"),
    (lambda a, b: torch.stack([one * b for one in a]), "Is there a\nloop?"),
])  # fmt: skip
def test_what_is_said_to_an_answer(answer: Callable[..., Any], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    _outer(answer)
    out = capsys.readouterr().out
    assert said in out and ("Transposed" in out) == ("Transposed" in said), "no hint for a mistake that was not made"


@pytest.mark.parametrize(("answer", "said"), [
    (lambda m: m.diagonal(), "right, for 12 random inputs, and without a copy."),
    (lambda m: m.diagonal().clone(), "they are copies"),
    (lambda m: m.as_strided((len(m),), (len(m) + 1,)), "not yet."),
])  # fmt: skip
def test_a_view_is_asked_for(answer: Callable[..., Any], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    _diagonal(answer)
    assert said in capsys.readouterr().out


def test_the_same_inputs_are_tried_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for _ in range(2):
        _outer(lambda a, b: b[:, None] * a + 1)
        said.append(capsys.readouterr().out)
        torch.rand(3)
    assert said[0] == said[1] and "Transposed" not in said[0]
