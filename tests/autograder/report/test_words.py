from __future__ import annotations

import pytest

from autograder.records import Flag, Limits, Verdict
from autograder.report import words


def test_every_verdict_has_a_mark_of_its_own_and_a_word() -> None:
    assert set(words.VERDICT_STYLES) == set(Verdict)
    assert len({look.mark for look in words.VERDICT_STYLES.values()}) == len(Verdict)
    assert all(len(look.mark) == 1 and look.word for look in words.VERDICT_STYLES.values())


@pytest.mark.parametrize(
    "verdict", sorted(set(Verdict) - {Verdict.PASSED, Verdict.PARTIAL, Verdict.FAILED, Verdict.REJECTED})
)
def test_every_end_that_no_check_explains_has_a_next_step(verdict: Verdict) -> None:
    advice = words.advice(verdict, Limits())
    assert advice and advice.happened and advice.next_step


def test_limits_are_named_in_the_assignments_own_numbers() -> None:
    limits = Limits(cell_s=7.5, memory_bytes=3 << 30, output_bytes=1 << 20, output_messages=500)
    assert "7.5 seconds" in words.advice(Verdict.TIME, limits).happened
    assert "3 GiB" in words.advice(Verdict.MEMORY, limits).happened
    assert "1 MiB or 500 messages" in words.advice(Verdict.OUTPUT, limits).happened


@pytest.mark.parametrize(
    "kind", ["forbidden-import", "skip-tag", "identical", "shadow-module", "grader-error", "somebody-adds-this-later"]
)
def test_a_suspicion_and_an_unknown_kind_are_for_the_instructor_alone(kind: str) -> None:
    flag = Flag(kind, "A sentence.")
    assert not words.flags_for_student([flag])
    assert words.for_review([flag])


def test_a_repair_is_told_and_needs_no_review_and_an_edited_test_cell_is_looked_at_too() -> None:
    repair, edited = [Flag("duplicate-cell", "A sentence.")], [Flag("edited-locked-cell", "A sentence.")]
    assert words.flags_for_student(repair) and words.repairs(repair) and not words.for_review(repair)
    assert words.flags_for_student(edited) and words.for_review(edited) and not words.repairs(edited)


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (2.5, "2.5"), (8 / 3, "2.67"), (0.0, "0"), (-0.0001, "0"), (100.0, "100")]
)
def test_points_are_written_without_needless_digits(value: float, text: str) -> None:
    assert words.points(value) == text
