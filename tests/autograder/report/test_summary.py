from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.records import CheckResult, Flag, Item, Report, Trust, Verdict
from autograder.report import summary
from autograder.report.summary import ItemKey
from tests.autograder.report.build import REPORTS


def check(name: str, verdict: Verdict, weight: float = 1.0, fault: str | None = None) -> CheckResult:
    message = f"words of {fault}" if fault else ""
    return CheckResult(name, verdict, f"{name} holds.", weight, fault=fault, message=message)


def graded(student: str, *items: Item, state: Verdict = Verdict.PARTIAL, digest: str = "") -> Report:
    score, most = sum(i.points for i in items), sum(i.max_points for i in items)
    return Report(student, "a", score, most, state, Trust.JUDGED_APART, "cpu", items, digest=digest)


def test_every_lost_point_is_counted_once() -> None:
    # What the class lost, counted the plain way.
    open_ones = (Verdict.NEEDS_MANUAL, Verdict.GRADER_ERROR, Verdict.REJECTED)
    lost = sum(i.max_points - i.points for r in REPORTS for i in r.items if i.verdict not in open_ones)
    assert sum(loss.points for loss in summary.losses(REPORTS)) == pytest.approx(lost)


def test_a_failed_check_loses_its_weight_of_the_points() -> None:
    checks = (check("light", Verdict.PASSED), check("heavy", Verdict.FAILED, 2))
    item = Item("n", "test_f", 2, 6, Verdict.PARTIAL, checks=checks)
    (loss,) = summary.losses([graded("a", item), graded("b", item)])
    assert (loss.check, loss.points, loss.students) == ("heavy", 8, ("a", "b"))


def test_an_untouched_cell_is_one_loss_of_the_cell_not_one_of_each_check() -> None:
    checks = (check("one", Verdict.NOT_ATTEMPTED), check("two", Verdict.NOT_ATTEMPTED))
    (loss,) = summary.losses([graded("a", Item("n", "test_f", 0, 6, Verdict.NOT_ATTEMPTED, checks=checks))])
    assert (loss.check, loss.verdict, loss.points) == ("", Verdict.NOT_ATTEMPTED, 6)


def test_points_taken_off_a_cell_whose_checks_passed_are_not_blamed_on_a_check() -> None:
    item = Item("n", "test_f", 0, 6, Verdict.FAILED, checks=(check("one", Verdict.PASSED),))
    (loss,) = summary.losses([graded("a", item)])
    assert (loss.check, loss.points) == ("", 6)


def test_what_waits_for_a_person_or_for_us_has_lost_nothing() -> None:
    waiting = Item("n", "essay", 0, 5, Verdict.NEEDS_MANUAL)
    ours = Item("n", "test_f", 0, 5, Verdict.GRADER_ERROR, checks=(check("one", Verdict.GRADER_ERROR),))
    assert summary.losses([graded("a", waiting, ours)]) == ()
    (only,) = summary.items([graded("a", waiting)])
    assert only.mean is None


def test_a_cell_of_which_the_grader_could_not_run_a_check_has_lost_nothing_yet() -> None:
    checks = (check("ours", Verdict.GRADER_ERROR), check("right", Verdict.PASSED), check("wrong", Verdict.FAILED))
    undecided = Item("n", "test_f", 2, 6, Verdict.GRADER_ERROR, checks=checks)
    assert summary.losses([graded("a", undecided)]) == ()


def test_a_fault_counts_each_student_once_and_all_the_points_it_cost() -> None:
    failed = [check(name, Verdict.FAILED, fault="f") for name in ("one", "two")]
    checks = (*failed, check("three", Verdict.PASSED))
    item = Item("n", "test_f", 2, 6, Verdict.PARTIAL, "f", "words of f", checks)
    (fault,) = summary.faults([graded("a", item), graded("b", item)])
    assert (fault.students, fault.points, fault.words) == (("a", "b"), 8, "words of f")
    assert fault.keys == (ItemKey("n", "test_f"),)


def test_a_fault_named_on_the_item_alone_is_counted_too() -> None:
    (fault,) = summary.faults([graded("a", Item("n", "test_f", 0, 6, Verdict.FAILED, "f", "words"))])
    assert (fault.fault, fault.points) == ("f", 6)


def test_a_rejected_submission_is_in_no_mean() -> None:
    good = graded("a", Item("n", "test_f", 6, 6, Verdict.PASSED))
    bad = graded("b", Item("n", "test_f", 0, 6, Verdict.REJECTED), state=Verdict.REJECTED)
    (item,) = summary.items([good, bad])
    scores = summary.scores([good, bad])
    assert item.mean == 6
    assert scores and scores.values == (6,)


def test_without_any_gradable_submission_there_are_no_scores() -> None:
    assert summary.scores([graded("b", state=Verdict.REJECTED)]) is None
    assert summary.scores([]) is None


def test_items_keep_the_notebooks_order_even_if_the_first_report_has_none() -> None:
    reversed_class = [replace(REPORTS[0], items=()), *reversed(REPORTS)]
    expected = ["test_small_graph", "test_two_layer_backward", "test_softmax_cross_entropy", "test_train", "dead_units"]
    assert [key.grade_id for key in summary.item_keys(reversed_class)] == expected


def test_identical_submissions_are_found_by_their_bytes_and_empty_digests_are_not_alike() -> None:
    reports = [graded("a", digest="1"), graded("c", digest="2"), graded("b", digest="1"), graded("d"), graded("e")]
    assert summary.identical(reports) == (("a", "b"),)


def test_names_of_cells_are_as_short_as_tells_them_apart() -> None:
    one, two, other = ItemKey("n", "test_f"), ItemKey("n", "f"), ItemKey("m", "test_f")
    assert summary.short_names([one]) == {one: "f"}
    assert summary.short_names([one, two]) == {one: "test_f", two: "f"}
    assert summary.short_names([one, other]) == {one: "n: test_f", other: "m: test_f"}


def test_who_handed_in_together_did_not_copy_from_each_other() -> None:
    group, copied = Flag("group", "Together."), Flag("identical", "The same bytes.")
    pair = [replace(graded(name, digest="1"), flags=(group,)) for name in ("a", "b")]
    assert summary.identical(pair) == ()
    three = [*(replace(one, flags=(group, copied)) for one in pair), graded("c", digest="1")]
    assert summary.identical(three) == (("a", "b", "c"),)
