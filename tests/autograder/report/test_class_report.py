from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from autograder.records import Flag, Lateness, Report, Verdict
from autograder.report.class_report import class_report, write_class_report
from autograder.report.feedback import write_feedback
from autograder.report.figures import bins, tones
from autograder.report.summary import scores
from autograder.sandbox.tier import PROMISES, Tier
from tests.autograder.report import build
from tests.autograder.report.build import A1, REPORTS, Page

INFO = {"finished": "2026-05-04T12:00:00+00:00", "workers": 2, "seconds": 312.0, "python": "3.11.9"}
FULL = Tier.FULL.sentence


def large_class(count: int) -> list[Report]:
    kinds = [REPORTS[n % len(REPORTS)] for n in range(count)]
    return [replace(r, student=f"student{n:04}", digest=str(n), seconds=n / 100) for n, r in enumerate(kinds)]


def text_of(reports: list[Report] = REPORTS, info: Any = INFO) -> str:
    return " ".join(Page(class_report(info, A1, reports)).text.split())


@pytest.mark.parametrize(
    "words",
    [
        # What the class did, in short.
        "6 of 8 submissions graded.",
        "The median is 12 of 16 points.",  # of 4, 8, 10, 14, 14, 14
        "The hardest part was train",
        "The most frequent known mistake is relu-derivative-missing: 2 students.",
        # The costliest faults and checks, with points, words and students.
        "Your hidden gradient ignores ReLU",
        "relu-derivative-missing .* two_layer_backward 4 2: bela.bartok, dmitri",
        "The gradients of W1 and b1 are right where some hidden units are off. test_first_layer two_layer_backward "
        "✗ failed 2 4",
        "The cell was left as it was handed out. train ○ not attempted 1 4",
        # What could not be graded, with its reason.
        "emil.zatopek R could not be read a1.ipynb is not a notebook: JSON ends after 512 bytes",
        "frida ! grader error KernelFailed: /opt/secret/zygote did not answer",
        # Suspicions for review with student and sentence, and repairs apart.
        "bela.bartok: The answer 'train' imports torch, which is forbidden here.*Repairs What was put right",
        "heinz: Cell 'test_train' carries the tag skip-execution.*Repairs What was put right",
        "grace.hopper, heinz: the same to the byte.*Repairs What was put right",
        "Repairs What was put right.*was taken for a1_numpy_backprop.ipynb",
        # How the run was done.
        "5 min 12 s.*Workers 2|Workers 2.*5 min 12 s",
        "namespaces, Landlock, seccomp",
        "Device cpu",
        "judged apart",
        "--seed-file",
    ],
)
def test_the_report_says(words: str) -> None:
    assert re.search(words, text_of())


@pytest.mark.parametrize("tier", Tier, ids=lambda tier: tier.name.lower())
def test_below_the_full_tier_the_report_says_what_is_not_promised_and_what_to_do(tier: Tier) -> None:
    # One submission of the class ran on a weaker machine than the others.
    text = text_of([replace(REPORTS[0], sandbox=tier.sentence), *(replace(r, sandbox=FULL) for r in REPORTS[1:])])
    expected = [promise.otherwise for promise in PROMISES if promise.lowest > tier]
    assert [p.otherwise for p in PROMISES if p.otherwise.replace("`", "") in text] == expected
    assert (f"reached only tier {tier.name.lower()}" in text) is bool(expected)
    assert tier.advice.replace("`", "") in text


def test_identical_submissions_are_told_once() -> None:
    assert "The same bytes as the submission of heinz." not in text_of()
    pair = [replace(build.report(name), digest="the same") for name in ("a", "b")]
    assert re.search(r"For a person to look at, below: 2 submissions, flagged .?identical.? \(2\)\.", text_of(pair))
    alone = [build.report("a", flags=(Flag("identical", "The same bytes as the submission of b."),))]
    assert "The same bytes as the submission of b." in text_of(alone)


def test_a_run_that_says_nothing_of_itself_has_a_report_too() -> None:
    assert "6 of 8 submissions graded." in text_of(info={})


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_a_class_of_any_size_has_a_report_with_every_student(count: int) -> None:
    reports = large_class(count)
    page = Page(class_report(INFO, A1, reports))
    rows = [a["href"] for a in page.all("a") if a["href"].startswith("feedback/")]
    assert {unquote(link.split("/")[1]) for link in rows} == {r.student for r in reports}


def test_a_class_with_nothing_gradable_and_an_assignment_without_points_have_reports_that_say_so() -> None:
    text = text_of([r for r in REPORTS if r.state in (Verdict.REJECTED, Verdict.GRADER_ERROR)])
    assert "0 of 2 submissions graded." in text and "No submission could be graded" in text
    item = build.item("test_train", 0, 0, Verdict.PASSED)
    text = text_of([build.report("ada", (item,), max_score=0.0, state=Verdict.PASSED)])
    assert "This assignment gives no points." in text


def test_a_thousand_students_with_all_there_is_to_tell_are_two_megabytes_at_most() -> None:
    flags = tuple(Flag(kind, "x" * 500) for kind in ("forbidden-import", "odd-result", "renamed") for _ in range(9))
    reports = [replace(r, student=f"Łukasz Żółć {n}", flags=flags) for n, r in enumerate(large_class(1000))]
    info = INFO | {"left_out": {f"{n}.txt": "is no notebook" for n in range(2000)}}
    assert len(class_report(info, A1, reports).encode()) < 2e6


def test_points_that_no_check_accounts_for_have_a_reason() -> None:
    for checks, words in (((), "own test cell failed"), ((build.LAST,), "A forbidden library was used, or")):
        item = build.item("test_train", 0, 4, Verdict.FAILED, *checks)
        assert words in text_of([build.report("ada", (item,))])


def test_three_hundred_students_take_less_than_three_seconds() -> None:
    reports = large_class(300)
    class_report(INFO, A1, reports[:1])  # imports and templates are read once
    began = time.process_time()
    class_report(INFO, A1, reports)
    assert time.process_time() - began < 3


def test_the_order_of_the_reports_makes_no_difference() -> None:
    reports = large_class(30)
    assert class_report(INFO, A1, reports) == class_report(INFO, A1, list(reversed(reports)))


def test_links_lead_to_the_pages_that_were_written(tmp_path: Path) -> None:
    names = ("ada", "Łukasz Żółć", "a#b?c%20d", "o'hara", "../x", "javascript:alert(1)")
    reports = [build.report(name) for name in names]
    write_feedback(tmp_path, A1, [build.submission(r.student) for r in reports], reports)
    path = write_class_report(tmp_path, INFO, A1, reports)
    assert path == tmp_path / "report.html"
    links = [a["href"] for a in Page(path.read_text(encoding="utf-8")).all("a") if not a["href"].startswith("#")]
    assert len(set(links)) == len(reports)
    assert all((tmp_path / unquote(link)).is_file() for link in links)


def test_figures_stand_in_the_page_with_words_and_without_a_color_of_their_own() -> None:
    html = class_report(INFO, A1, REPORTS)
    svgs = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(svgs) == 2
    for svg in svgs:
        assert re.match(r'<svg viewBox="[^"]+" role="img" aria-label="[^"]{40,}"', svg)
        assert "var(--" in svg
        assert "#fe01" not in svg and "<style" not in svg and "<metadata" not in svg
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', html)) <= set(ids)


def test_every_submission_is_in_one_bar_of_the_histogram_and_its_table_tells_the_same() -> None:
    many, few = scores([build.report(str(n), score=float(n % 17)) for n in range(100)]), scores(REPORTS)
    assert many and sum(count for _, _, count in bins(many)) == 100
    assert few
    for left, right, count in bins(few):
        assert f"{round(left, 2):g} to {round(right, 2):g} {count}" in text_of()


def test_a_bar_counts_verdicts_by_color_and_leaves_out_what_did_not_occur() -> None:
    counted = tones({Verdict.PASSED: 3, Verdict.TIME: 1, Verdict.CRASH: 2, Verdict.FAILED: 0})
    assert counted == {"passed": 3, "limit": 3}


def test_the_report_says_who_was_late_who_is_missing_and_whose_time_nothing_tells() -> None:
    reports = [build.report("ada", late=Lateness(days=2, percent=20.0, sentence="x")), build.report("bob")]
    people = {"attendance": {"missing": ["<i>Cyd</i>"], "unknown": ["bob"]}, "no_time": ["bob"]}
    text = text_of(reports, {"people": people})
    assert "ada 2 days late: 14 \N{MINUS SIGN} 3.2 10.8 / 16" in text
    assert "Handed in nothing: 1 student <i>Cyd</i>" in text and "Not in the list of people: bob" in text
    assert "handed in is not known, so nothing was taken off: bob" in text
