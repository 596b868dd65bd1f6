from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table

from autograder.records import Flag, Lateness, Verdict
from autograder.report.terminal import (
    SHOWN_WHOLE,
    bank_table,
    below_full,
    confusion_table,
    margin_table,
    reasons,
    summary_table,
)
from autograder.sandbox.tier import Tier
from autograder.selftest import ConfusionRow, Margin, Row
from tests.autograder.report import build
from tests.autograder.report.build import CLASS, REPORTS


def shown(table: Table, width: int = 120, color: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None).print(table)
    return out.getvalue()


def test_each_student_has_score_marks_state_and_named_mistakes() -> None:
    lines = shown(summary_table(REPORTS)).splitlines()
    (bela,) = [line for line in lines if "bela.bartok" in line]
    assert [cell.strip() for cell in bela.strip("│").split("│")] == [
        "bela.bartok", "10 / 16", "✓", "◐", "◐", "✓", "?",
        "to be marked: relu-derivative-missing; look at: forbidden-import",
    ]  # fmt: skip


def test_what_could_not_be_graded_has_no_score_but_a_reason() -> None:
    (emil,) = [line for line in shown(summary_table(REPORTS)).splitlines() if "emil" in line]
    assert "0 / 16" not in emil
    (why,) = [line.plain for line in reasons(REPORTS) if "emil" in line.plain]
    assert "JSON ends after 512 bytes" in why


def test_a_submission_with_an_undecided_cell_says_which_check_broke() -> None:
    flags = (Flag("grader-error", "test_loss: RuntimeError: mine"), Flag("renamed", "A cell was renamed."))
    (why,) = reasons([replace(REPORTS[0], state=Verdict.GRADER_ERROR, flags=flags)])
    assert why.plain.endswith(": test_loss: RuntimeError: mine")


def test_a_sandbox_below_the_full_tier_is_told() -> None:
    assert below_full([replace(REPORTS[0], sandbox=Tier.FULL.sentence), replace(REPORTS[1], sandbox="")]) == []
    (line,) = below_full([replace(REPORTS[0], sandbox=Tier.LIMITS.sentence), REPORTS[1]])
    assert line.plain.startswith("sandbox: tier limits, where 10 promises")


def test_the_caption_spells_out_the_numbers_and_only_the_marks_that_occur() -> None:
    text = shown(summary_table(REPORTS))
    assert "2 two_layer_backward" in text
    assert "T time limit" in text
    assert "memory limit" not in text


def test_of_a_large_class_only_who_was_graded_now_has_a_row() -> None:
    many = [replace(REPORTS[0], student=f"s{number:03}") for number in range(SHOWN_WHOLE + 1)]
    text = shown(summary_table(many, {"s007"}))
    assert "101 of 101 submissions graded" in text and re.findall(r"s\d{3}", text) == ["s007"]
    assert len(re.findall(r"s\d{3}", shown(summary_table(many[1:], {"s007"})))) == SHOWN_WHOLE


def test_an_empty_class_is_a_table_too() -> None:
    assert "0 of 0 submissions graded" in shown(summary_table([]))


def test_names_are_text_not_markup_and_not_links() -> None:
    names = ["[bold red]x[/]", "[link=//evil.example]y[/link]", "[/]", ":skull:"]
    text = shown(summary_table([build.report(name) for name in names]))
    assert all(name in text for name in names)


@pytest.mark.parametrize("field", ["student", "reason", "fault", "assignment"])
def test_no_escape_sequence_of_a_students_reaches_the_terminal(field: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b]8;;http://evil.example\x1b\\x\b\rfake: passed\u202e\ud800"
    report = CLASS["emil.zatopek" if field == "reason" else "bela.bartok"]
    if field == "fault":
        report = replace(report, items=tuple(replace(i, fault=evil, checks=()) for i in report.items))
    else:
        report = replace(report, **{field: evil})
    plain = shown(summary_table([report]))
    assert not set(plain) & set("\x1b\x07\x9b\b\r\u202e\ud800")
    colored = shown(summary_table([report]), color=True)
    assert "\x1b]" not in colored and "\x1b[2J" not in colored and "\x9b" not in colored


def test_the_selftest_has_a_row_for_each_submission_and_spells_out_what_is_not_a_plain_pass() -> None:
    rows = [
        Row("einsum", "correct", "test_a", "passed", "passed"),
        Row("einsum", "correct", "test_b", "passed", "passed"),
        Row("no_relu", "fault", "test_a", "passed", "passed"),
        Row("no_relu", "fault", "test_b", "failed:relu", "failed:relu"),
        Row("forged", "attack", "test_a", "failed", "passed"),
        Row("plain", "correct", "test_a", "passed", "failed:relu"),
    ]
    text = shown(bank_table(rows))
    lines = (
        next(line for line in text.splitlines() if row in line) for row in ("einsum", "no_relu", "forged", "plain ")
    )
    einsum, relu, forged, plain = lines
    assert einsum.count("all passed") == 2 and "✓ ok" in einsum
    assert "b: failed:relu" in relu and "the same" in relu and "✓ ok" in relu
    assert "a: failed" in forged and "a: passed" in forged and "✗ wrong" in forged
    assert "a: passed" in plain and "a: failed:relu" in plain and "✗ wrong" in plain
    assert "correct 1 of 2, fault 1 of 1, attack 0 of 1" in text


def test_the_confusion_table_has_a_row_for_each_planted_mistake_and_sums_up() -> None:
    text = shown(
        confusion_table([ConfusionRow("relu", 3, {}), ConfusionRow("bias", 4, {"relu": 1, "no name": 1, "passed": 1})])
    )
    relu, bias = (next(line for line in text.splitlines() if name in line) for name in ("relu", "bias"))
    assert relu.count("3") == 2
    assert "relu (1), no name (1), passed (1)" in bias
    summed = "planted 7 times: named rightly 4, by another name 1, failed without a name 1, passed 1"
    assert summed in " ".join(text.split())


def test_margins_are_shown_in_tolerances() -> None:
    text = shown(margin_table([Margin("test_steps", 0.0123, 456.7, "wrong_sum"), Margin("test_losses", 0.5, None)]))
    steps, losses = (next(line for line in text.splitlines() if name in line) for name in ("steps", "losses"))
    assert "0.012" in steps and "457" in steps and "wrong_sum" in steps
    assert "0.5" in losses and "None" not in losses


def test_the_score_is_the_one_after_a_late_penalty() -> None:
    (line,) = [x for x in shown(summary_table([replace(REPORTS[0], late=Lateness(percent=50.0, days=1))])).splitlines()
               if REPORTS[0].student in x]  # fmt: skip
    assert "6 / 16" in line and "1 day late: 14 \N{MINUS SIGN} 8" in line
