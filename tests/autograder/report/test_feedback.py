from __future__ import annotations

import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CannotWrite
from autograder.records import Assignment, CellRun, Evidence, Flag, Item, Report, Trust, Verdict
from autograder.report.feedback import assignment_title, feedback_page, feedback_path, item_title, write_feedback


def page_of(build: Any, student: str, a1: Assignment, **more: Any) -> Any:
    report = replace(build.of(build.a_class(), student), **more)
    return build.Page(feedback_page(report, a1, build.submission(student)))


def test_the_page_says_score_verdicts_and_points_of_every_part(build: Any, a1: Assignment) -> None:
    text = " ".join(page_of(build, "bela.bartok", a1).text.split())
    assert "10 of 16 points" in text
    assert "2. Two layers, backward ◐ partly passed 2 / 4" in text
    assert "5. In your own words ? to be marked open / 2" in text
    assert "2 more points are still open" in text


def test_a_named_mistake_is_told_once_in_words_with_the_smallest_failing_input(build: Any, a1: Assignment) -> None:
    text = page_of(build, "bela.bartok", a1).text
    assert text.count("Your hidden gradient ignores ReLU") == 1
    assert 'grads["W1"][0, 1]' in text
    assert "-0.48" in text
    assert "x = np.array([[0.3, -1.2]])" in text


def test_it_says_plainly_when_no_known_mistake_fits(build: Any, a1: Assignment) -> None:
    assert page_of(build, "bela.bartok", a1).text.count("None of the known mistakes gives your values.") == 1


def test_the_students_own_code_stands_beside_the_verdict_with_line_numbers(build: Any, a1: Assignment) -> None:
    page = page_of(build, "bela.bartok", a1)
    assert 'grads["W1"] = x.T @ dhidden' in page.text
    assert sum(attributes.get("class") == "row" for attributes in page.all("span")) == sum(
        len(source.splitlines()) for name, source in build.ANSWERS if name != "dead_units"
    )


def test_a_stopped_cell_is_shown_with_its_error_and_the_next_step(build: Any, a1: Assignment) -> None:
    text = page_of(build, "carla.bruni", a1).text
    assert text.count("NameError: name 'xx' is not defined") == 1
    assert "Restart the kernel and run all cells from the top" in text


def test_a_limit_is_explained_in_the_assignments_numbers_once(build: Any, a1: Assignment) -> None:
    text = page_of(build, "carla.bruni", a1).text
    assert text.count("Stopped after 20 seconds of computing time") == 1


def test_an_added_cell_that_failed_is_named_though_it_carries_no_points(build: Any, a1: Assignment) -> None:
    assert "No module named 'seaborn'" in page_of(build, "carla.bruni", a1).text


def test_an_untouched_cell_has_a_kind_word_and_shows_no_code(build: Any, a1: Assignment) -> None:
    text = page_of(build, "dmitri", a1).text
    assert "The cell is as you received it." in text
    assert "def train(" not in text
    assert "def small_graph(" in text


def test_a_rejected_file_says_why_and_what_to_do_and_gives_no_score(build: Any, a1: Assignment) -> None:
    report = build.of(build.a_class(), "emil.zatopek")
    text = build.Page(feedback_page(report, a1, build.submission("emil.zatopek", (), rejected=report.reason))).text
    assert "JSON ends after 512 bytes" in text
    assert "hand it in again" in " ".join(text.split())
    assert "of 16 points" not in text
    assert "Judged apart" not in text


def test_our_own_failure_costs_nothing_and_keeps_its_details_from_the_student(build: Any, a1: Assignment) -> None:
    page = feedback_page(build.of(build.a_class(), "frida"), a1, build.submission("frida"))
    assert "Something went wrong on our side" in page
    assert "zygote" not in page


def test_where_only_one_part_failed_on_our_side_the_others_are_shown(build: Any, a1: Assignment) -> None:
    broken = build.item(
        "test_train", 0, 4, Verdict.GRADER_ERROR, message="This part could not be checked; a person will look at it."
    )
    report = build.report("ada", build.with_items(test_train=broken), state=Verdict.GRADER_ERROR, reason="secret trace")
    page = build.Page(feedback_page(report, a1, build.submission("ada")))
    assert "10 of 16 points" in " ".join(page.text.split())
    assert "This part could not be checked" in page.text
    assert "6 more points are still open" in page.text
    assert "secret trace" not in page.text


def test_a_part_that_needs_a_device_says_that_it_has_no_share_in_this_score(build: Any, a1: Assignment) -> None:
    words = "This is about a CUDA device, and this run had none."
    asked = build.check("copies", "Each batch is copied once.", Verdict.NOT_RUN, weight=0.0, message=words)
    lacking = build.item("test_train", 0, 0, Verdict.NOT_RUN, asked, message=words)
    page = build.Page(
        feedback_page(build.report("sam", build.with_items(test_train=lacking)), a1, build.submission("sam"))
    )
    assert words in page.text and "no part in this score" in page.text and "earlier stop" not in page.text


def test_what_was_only_observed_is_marked_and_the_rule_says_when_it_counts(build: Any, a1: Assignment) -> None:
    seen = build.check("copies", "Each batch is copied once.", evidence=Evidence.OBSERVED)
    part = build.item("test_train", 4, 4, Verdict.PASSED, build.check("w", "The weights are right."), seen)
    for items, told in ((build.with_items(test_train=part), True), (build.GOOD_ITEMS[:1], False)):
        text = build.Page(feedback_page(build.report("sam", items), a1, build.submission("sam"))).text
        assert ("seen while your code ran" in text) == told
        assert ("counts where another check passed too" in text) == told


def test_repairs_are_told_and_suspicions_are_not(build: Any, a1: Assignment) -> None:
    text = page_of(build, "bela.bartok", a1).text
    assert "Copy of a1 (1).ipynb" in text
    assert "is there 2 times; the last one worked on counts" in text
    assert "forbidden" not in text
    assert "skip" not in page_of(build, "heinz", a1).text
    assert "heinz" not in page_of(build, "grace.hopper", a1).text


def test_a_kind_of_flag_that_nobody_listed_is_not_shown(build: Any, a1: Assignment) -> None:
    page = page_of(build, "ada.lovelace", a1, flags=(Flag("new-suspicion", "copied from bela"),))
    assert "copied from bela" not in page.text


def test_nothing_of_the_instructors_side_reaches_the_page(build: Any, a1: Assignment) -> None:
    instructors = CellRun(build.NOTEBOOK, "test_train", "instructor", Verdict.FAILED, "HIDDEN OUTPUT", "HIDDEN ERROR")
    for report in build.a_class():
        report = replace(report, runs=(*report.runs, instructors), sandbox="HIDDEN TIER")
        page = feedback_page(report, a1, build.submission(report.student))
        assert "SECRET" not in page and "HIDDEN" not in page
        assert not [c.name for i in report.items for c in i.checks if c.name in page]


def test_the_arithmetic_shown_gives_the_points_shown(build: Any, a1: Assignment) -> None:
    weighted = replace(build.GRADIENTS, verdict=Verdict.FAILED)
    item = build.item("test_small_graph", 2 / 3, 2, Verdict.PARTIAL, build.VALUE, weighted)
    page = feedback_page(build.report("ada", build.with_items(test_small_graph=item)), a1, build.submission("ada"))
    found = re.findall(r"<td>([\d.]+) \S ([\d.]+) / ([\d.]+)</td><td class=\"number\">([\d.]+)</td>", page)
    assert len(found) == 4
    for most, passed, total, points in found:
        assert float(most) * float(passed) / float(total) == pytest.approx(float(points), abs=0.005)


def test_where_points_do_not_follow_from_the_checks_no_arithmetic_is_claimed(build: Any, a1: Assignment) -> None:
    item = build.item(
        "test_train", 0, 4, Verdict.FAILED, build.STEP, message="This cell uses a library that is not allowed."
    )
    page = feedback_page(build.report("ada", build.with_items(test_train=item)), a1, build.submission("ada"))
    assert not re.search(r"4 \S 1 / 1", page)
    assert "This cell uses a library that is not allowed." in page


def test_trust_and_device_are_each_a_sentence(build: Any, a1: Assignment) -> None:
    apart = page_of(build, "ada.lovelace", a1, device="virtual cuda").text
    beside = page_of(build, "ada.lovelace", a1, trust=Trust.IN_KERNEL).text
    assert "a separate process, which never ran your code" in apart
    assert "virtual CUDA" in apart
    assert "test cells ran beside your code" in beside


def test_a_markdown_answer_is_shown_as_it_was_typed(build: Any, a1: Assignment) -> None:
    page = page_of(build, "ada.lovelace", a1)
    assert build.PROSE in page.text
    assert not page.all("strong") or "positive" not in "".join(a.get("class", "") for a in page.all("strong"))


def test_a_page_depends_on_nothing_but_the_work(build: Any, a1: Assignment) -> None:
    slow = replace(build.of(build.a_class(), "bela.bartok"), seconds=99.0)
    slow = replace(slow, runs=tuple(replace(r, seconds=9.0) for r in slow.runs))
    fast = build.of(build.a_class(), "bela.bartok")
    submission = build.submission("bela.bartok")
    assert feedback_page(slow, a1, submission) == feedback_page(fast, a1, submission)


def test_long_code_and_long_output_are_cut_and_say_so(build: Any, a1: Assignment) -> None:
    answers = (("train", "\n".join(f"x = {n}" for n in range(5000))),)
    runs = (build.run("train", output="tick\n" * 5000),)
    report = build.report("ada", runs=runs)
    page = feedback_page(report, a1, build.submission("ada", answers))
    assert "4700 more lines" in page
    assert "4960 lines left out" in page
    assert len(page) < 100_000


def test_a_foreign_assignment_without_checks_has_a_page_too(build: Any, a1: Assignment) -> None:
    items = (Item(build.NOTEBOOK, "test_train", 4, 4, Verdict.PASSED), Item("other", "nowhere", 0, 1, Verdict.FAILED))
    report = build.report("ada", items, trust=Trust.IN_KERNEL, state=Verdict.PARTIAL)
    text = " ".join(build.Page(feedback_page(report, replace(a1, checks=None), build.submission("ada"))).text.split())
    assert "4. Training ✓ passed 4 / 4" in text
    assert "nowhere ✗ failed 0 / 1" in text
    assert "by the assignment's test cell" in text


def test_parts_are_called_by_the_headings_above_them(build: Any, a1: Assignment) -> None:
    assert assignment_title(a1) == "Backpropagation by hand, in NumPy"
    assert item_title(a1, build.GOOD_ITEMS[1]) == "2. Two layers, backward"
    bare = replace(
        a1, notebooks=(replace(a1.notebooks[0], cells=tuple(c for c in a1.notebooks[0].cells if c.kind == "code")),)
    )
    assert assignment_title(bare) == build.NOTEBOOK
    assert item_title(bare, build.GOOD_ITEMS[1]) == "two_layer_backward"


# -- the page as a document --------------------------------------------------------------------------------------------


def test_the_page_has_language_title_one_main_heading_and_headings_without_gaps(build: Any, a1: Assignment) -> None:
    for report in build.a_class():
        page = build.Page(feedback_page(report, a1, build.submission(report.student)))
        assert page.all("html") == [{"lang": "en"}]
        assert page.all("title") and report.student in page.text
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_table_heading_says_what_it_heads_and_every_verdict_has_a_word(build: Any, a1: Assignment) -> None:
    html = feedback_page(build.of(build.a_class(), "carla.bruni"), a1, build.submission("carla.bruni"))
    page = build.Page(html)
    assert page.all("th") and all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    for label in re.findall(r'<span class="verdict \w+">(.*?)</span> (.*?)</span>', html):
        assert label[1].strip()
    assert html.count('<span class="mark') == html.count('<span class="unseen">')


def test_links_within_the_page_lead_somewhere(build: Any, a1: Assignment) -> None:
    page = page_of(build, "bela.bartok", a1)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    targets = {attributes["href"].removeprefix("#") for attributes in page.all("a")}
    assert len(ids) == len(set(ids))
    assert targets and targets <= set(ids)


# -- on the disk -------------------------------------------------------------------------------------------------------


def test_pages_are_written_in_nbgraders_layout(build: Any, a1: Assignment, tmp_path: Path) -> None:
    reports = build.a_class()
    written = write_feedback(tmp_path, a1, [build.submission(r.student) for r in reports], reports)
    assert written[0] == tmp_path / "feedback/ada.lovelace/a1_numpy_backprop/feedback.html"
    assert all(path.read_text(encoding="utf-8").startswith("<!doctype html>") for path in written)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p not in written]


@pytest.mark.parametrize(
    "student", ["../../etc", "..", ".", "/root", "a/b", "a\\b", "nul\0", "", "-rf", "\ud800", "x" * 400]
)
def test_a_page_stays_below_the_run_folder_whatever_the_student_is_called(
    build: Any, a1: Assignment, tmp_path: Path, student: str
) -> None:
    (path,) = write_feedback(tmp_path, a1, [build.submission(student)], [build.report(student)])
    assert path.resolve().is_relative_to(tmp_path.resolve() / "feedback")
    assert len(path.relative_to(tmp_path).parts) == 4
    assert path.exists()


def test_ordinary_names_are_folders_under_their_own_name() -> None:
    for student in ("ada.lovelace", "Łukasz Żółć", "李小龍", "s-0123", "o'hara", "[x]"):
        assert feedback_path(student, "a1").parts[1] == student


def test_submissions_and_reports_that_do_not_belong_together_are_refused(
    build: Any, a1: Assignment, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="same students"):
        write_feedback(
            tmp_path, a1, [build.submission("a"), build.submission("b")], [build.report("b"), build.report("a")]
        )


def test_a_disk_that_says_no_leaves_no_half_page_and_a_sentence(
    build: Any, a1: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = write_feedback(tmp_path, a1, [build.submission("ada")], [build.report("ada")])
    before = old.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CannotWrite, match="No space left on device"):
        write_feedback(tmp_path, a1, [build.submission("ada")], [build.report("ada", score=0.0)])
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


def test_a_file_where_a_folder_should_be_is_a_sentence_too(build: Any, a1: Assignment, tmp_path: Path) -> None:
    (tmp_path / "feedback").write_text("in the way")
    with pytest.raises(CannotWrite, match="could not be written"):
        write_feedback(tmp_path, a1, [build.submission("ada")], [build.report("ada")])


def test_every_verdict_can_be_shown(build: Any, a1: Assignment) -> None:
    for verdict in Verdict:
        item = build.item("test_train", 0, 4, verdict, replace(build.STEP, verdict=verdict))
        report: Report = build.report(
            "ada", build.with_items(test_train=item), state=verdict, runs=(build.run("train", verdict),)
        )
        assert feedback_page(report, a1, build.submission("ada")).endswith("</html>")
