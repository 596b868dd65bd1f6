from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from autograder.records import Assignment, Flag, Report, Verdict
from autograder.report.class_report import class_report, write_class_report
from autograder.report.feedback import write_feedback
from autograder.report.figures import bins, tones
from autograder.report.summary import scores

INFO = {"finished": "2026-05-04T12:00:00+00:00", "workers": 2, "seconds": 312.0, "python": "3.11.9"}


def large_class(build: Any, count: int) -> list[Report]:
    kinds = build.a_class()
    return [
        replace(kinds[n % len(kinds)], student=f"student{n:04}", digest=str(n), seconds=n / 100) for n in range(count)
    ]


def text_of(build: Any, a1: Assignment, reports: list[Report], info: Any = INFO) -> str:
    return " ".join(build.Page(class_report(info, a1, reports)).text.split())


def test_it_says_in_short_what_the_class_did(build: Any, a1: Assignment, reports: list[Report]) -> None:
    text = text_of(build, a1, reports)
    assert "6 of 8 submissions graded." in text
    assert "The median is 12 of 16 points." in text  # of 4, 8, 10, 14, 14, 14
    assert "The hardest part was train" in text
    assert "The most frequent known mistake is relu-derivative-missing: 2 students." in text


def test_the_costliest_checks_and_faults_come_with_points_words_and_students(
    build: Any, a1: Assignment, reports: list[Report]
) -> None:
    text = text_of(build, a1, reports)
    assert "Your hidden gradient ignores ReLU" in text
    assert re.search(r"relu-derivative-missing .* two_layer_backward 4 2: bela.bartok, dmitri", text)
    check = "The gradients of W1 and b1 are right where some hidden units are off. test_first_layer"
    assert f"{check} two_layer_backward ✗ failed 2 4" in text
    assert "The cell was left as it was handed out. train ○ not attempted 1 4" in text


def test_what_could_not_be_graded_stands_there_with_its_reason(
    build: Any, a1: Assignment, reports: list[Report]
) -> None:
    text = text_of(build, a1, reports)
    assert "emil.zatopek R could not be read a1.ipynb is not a notebook: JSON ends after 512 bytes" in text
    assert "frida ! grader error KernelFailed: /opt/secret/zygote did not answer" in text


def test_suspicions_are_for_review_with_student_and_sentence_and_repairs_apart(
    build: Any, a1: Assignment, reports: list[Report]
) -> None:
    text = text_of(build, a1, reports)
    review, _, repairs = text.partition("Repairs What was put right")
    assert "bela.bartok: The answer 'train' imports torch, which is forbidden here." in review
    assert "heinz: Cell 'test_train' carries the tag skip-execution" in review
    assert "grace.hopper, heinz: the same to the byte." in review
    assert "was taken for a1_numpy_backprop.ipynb" in repairs


def test_identical_submissions_are_told_once(build: Any, a1: Assignment, reports: list[Report]) -> None:
    assert "The same bytes as the submission of heinz." not in text_of(build, a1, reports)
    alone = [build.report("a", flags=(Flag("identical", "The same bytes as the submission of b."),))]
    assert "The same bytes as the submission of b." in text_of(build, a1, alone)


def test_how_the_run_was_done_is_said(build: Any, a1: Assignment, reports: list[Report]) -> None:
    text = text_of(build, a1, reports)
    for fact in (
        "5 min 12 s",
        "Workers 2",
        "namespaces, Landlock, seccomp",
        "Device cpu",
        "judged apart",
        "--seed-file",
    ):
        assert fact in text


def test_a_run_that_says_nothing_of_itself_has_a_report_too(build: Any, a1: Assignment, reports: list[Report]) -> None:
    assert "6 of 8 submissions graded." in text_of(build, a1, reports, {})


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_a_class_of_any_size_has_a_report_with_every_student(build: Any, a1: Assignment, count: int) -> None:
    reports = large_class(build, count)
    page = build.Page(class_report(INFO, a1, reports))
    rows = [a["href"] for a in page.all("a") if a["href"].startswith("feedback/")]
    assert {unquote(link.split("/")[1]) for link in rows} == {r.student for r in reports}


def test_a_class_with_nothing_gradable_has_a_report_that_says_so(
    build: Any, a1: Assignment, reports: list[Report]
) -> None:
    text = text_of(build, a1, [r for r in reports if r.state in (Verdict.REJECTED, Verdict.GRADER_ERROR)])
    assert "0 of 2 submissions graded." in text
    assert "No submission could be graded" in text


def test_an_assignment_without_points_has_a_report(build: Any, a1: Assignment) -> None:
    item = build.item("test_train", 0, 0, Verdict.PASSED)
    report = build.report("ada", (item,), max_score=0.0, state=Verdict.PASSED)
    assert "This assignment gives no points." in text_of(build, a1, [report])


def test_three_hundred_students_take_less_than_three_seconds(build: Any, a1: Assignment) -> None:
    reports = large_class(build, 300)
    class_report(INFO, a1, reports[:1])  # imports and templates are read once
    began = time.process_time()
    class_report(INFO, a1, reports)
    assert time.process_time() - began < 3


def test_the_order_of_the_reports_makes_no_difference(build: Any, a1: Assignment) -> None:
    reports = large_class(build, 30)
    assert class_report(INFO, a1, reports) == class_report(INFO, a1, list(reversed(reports)))


def test_links_lead_to_the_pages_that_were_written(build: Any, a1: Assignment, tmp_path: Path) -> None:
    reports = [
        build.report(name) for name in ("ada", "Łukasz Żółć", "a#b?c%20d", "o'hara", "../x", "javascript:alert(1)")
    ]
    write_feedback(tmp_path, a1, [build.submission(r.student) for r in reports], reports)
    path = write_class_report(tmp_path, INFO, a1, reports)
    assert path == tmp_path / "report.html"
    links = [a["href"] for a in build.Page(path.read_text(encoding="utf-8")).all("a") if not a["href"].startswith("#")]
    assert len(set(links)) == len(reports)
    assert all((tmp_path / unquote(link)).is_file() for link in links)


def test_figures_stand_in_the_page_with_words_and_without_a_color_of_their_own(
    build: Any, a1: Assignment, reports: list[Report]
) -> None:
    html = class_report(INFO, a1, reports)
    svgs = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(svgs) == 2
    for svg in svgs:
        assert re.match(r'<svg viewBox="[^"]+" role="img" aria-label="[^"]{40,}"', svg)
        assert "var(--" in svg
        assert "#fe01" not in svg and "<style" not in svg and "<metadata" not in svg
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', html)) <= set(ids)


def test_every_submission_is_in_one_bar_of_the_histogram(build: Any) -> None:
    reports = [build.report(str(n), score=float(n % 17)) for n in range(100)]
    found = scores(reports)
    assert found
    assert sum(count for _, _, count in bins(found)) == 100


def test_the_histograms_table_tells_the_same_as_the_bars(build: Any, a1: Assignment, reports: list[Report]) -> None:
    found = scores(reports)
    assert found
    text = text_of(build, a1, reports)
    for left, right, count in bins(found):
        assert f"{round(left, 2):g} to {round(right, 2):g} {count}" in text


def test_a_bar_counts_verdicts_by_color_and_leaves_out_what_did_not_occur() -> None:
    counted = tones({Verdict.PASSED: 3, Verdict.TIME: 1, Verdict.CRASH: 2, Verdict.FAILED: 0})
    assert counted == {"passed": 3, "limit": 3}
