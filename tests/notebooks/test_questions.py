"""What a lecture asks of its reader: predictions before surprises, and questions whose every answer gets a reply."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat
import pytest

LECTURES = sorted((Path(__file__).resolve().parents[2] / "notebooks" / "lectures").glob("*.ipynb"))

pytestmark = pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)


def _prose(path: Path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_the_reader_is_asked_to_predict_what_comes(path: Path) -> None:
    assert _prose(path).count("**Predict.**") >= 6


def test_six_questions_or_more_each_with_one_right_answer_and_a_reply_to_every_one(path: Path) -> None:
    questions = _prose(path).split("**Check yourself.**")[1:]
    assert len(questions) >= 6
    right = []
    for question in questions:
        answers = question.split("<details><summary>")[1:]
        choices, replies = zip(*(re.split("</summary>", answer, maxsplit=1) for answer in answers), strict=True)
        assert [choice[:3] for choice in choices] == ["A ·", "B ·", "C ·"], question[:80]
        yes = [reply.strip().startswith("Yes") for reply in replies]
        assert yes.count(True) == 1, question[:80]
        right.append("ABC"[yes.index(True)])
        assert all(len(reply.partition("</details>")[0].strip()) > 30 for reply in replies), question[:80]
    # Who always answers B should not come through the course.
    assert set(right) == set("ABC")
    assert max(right.count(letter) for letter in "ABC") <= 0.5 * len(right) + 0.5, "".join(right)


def test_every_fact_of_its_test_can_fail(path: Path) -> None:
    """A sentence that nothing can be computed for belongs into `STATED`, with the reason or the source."""
    module = ast.parse((Path(__file__).parent / f"test_lecture_{path.stem[:2]}.py").read_text(encoding="utf-8"))
    assigned = [node for node in module.body if isinstance(node, ast.Assign)]
    [facts] = [node.value for node in assigned if getattr(node.targets[0], "id", "") == "FACTS"]
    assert isinstance(facts, ast.Dict) and len(facts.values) > 50
    plain = [value.value for value in facts.values if isinstance(value, ast.Constant)]  # the rest are f-strings
    expressions = [ast.parse(text, mode="eval").body for text in plain]
    assert [ast.unparse(e) for e in expressions if isinstance(e, ast.Constant)] == []
