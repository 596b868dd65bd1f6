from __future__ import annotations

import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CannotWrite
from autograder.records import CellRun, Comment, Evidence, Flag, Item, Lateness, Mark, Report, Trust, Verdict
from autograder.report.feedback import assignment_title, feedback_page, feedback_path, item_title, write_feedback
from tests.autograder.report import build
from tests.autograder.report.build import A1, CLASS, Page


def page_of(report: Report, **submission: Any) -> Page:
    return Page(feedback_page(report, A1, build.submission(report.student, **submission)))


def text_of(report: Report, **submission: Any) -> str:
    return " ".join(page_of(report, **submission).text.split())


def with_item(item: Item, **more: Any) -> Report:
    """Everything is good but this item."""
    return build.report("sam", build.with_items(**{item.grade_id: item}), **more)


@pytest.mark.parametrize(
    ("student", "told", "once", "untold"),
    [
        # Score, verdict and points of every part; repairs, and no suspicion.
        (
            "bela.bartok",
            [
                "10 of 16 points",
                "2. Two layers, backward ◐ partly passed 2 / 4",
                "5. In your own words ? to be marked open / 2",
                "2 more points are still open",
                "Copy of a1 (1).ipynb",
                "is there 2 times; the last one worked on counts",
            ],
            [],
            ["forbidden"],
        ),
        # A named mistake in words with the smallest failing input; what was seen, where no mistake has a name.
        (
            "bela.bartok",
            ['grads["W1"][0, 1]', "-0.48", "x = np.array([[0.3, -1.2]])"],
            ["Your hidden gradient ignores ReLU", "loss is not finite."],
            [],
        ),
        # A stopped cell with its error and the next step, a limit in the assignment's numbers, an added cell that
        # failed though it carries no points.
        (
            "carla.bruni",
            ["Restart the kernel and run all cells from the top", "No module named 'seaborn'"],
            ["NameError: name 'xx' is not defined", "Stopped after 20 seconds of computing time"],
            [],
        ),
        ("dmitri", ["The cell is as you received it.", "def small_graph("], [], ["def train("]),
        # Our own failure keeps its details from the student.
        ("frida", ["Something went wrong on our side"], [], ["zygote"]),
        ("heinz", [], [], ["skip"]),
        ("grace.hopper", [], [], ["heinz"]),
    ],
)
def test_the_page_says(student: str, told: list[str], once: list[str], untold: list[str]) -> None:
    html = feedback_page(CLASS[student], A1, build.submission(student))
    text = " ".join(Page(html).text.split())
    assert [words for words in told if words not in text] == []
    assert [words for words in once if text.count(words) != 1] == []
    assert [words for words in untold if words in html] == []


def test_the_students_own_code_stands_beside_the_verdict_with_line_numbers() -> None:
    page = page_of(CLASS["bela.bartok"])
    assert 'grads["W1"] = x.T @ dhidden' in page.text
    lines = sum(len(source.splitlines()) for name, source in build.ANSWERS if name != "dead_units")
    assert sum(attributes.get("class") == "row" for attributes in page.all("span")) == lines


def test_a_rejected_file_says_why_and_what_to_do_and_gives_no_score() -> None:
    report = CLASS["emil.zatopek"]
    text = text_of(report, answers=(), rejected="work.zip is damaged. Hand in the notebook itself.")
    assert "work.zip is damaged. Hand in the notebook itself." in text
    # The reader knows what to do; advice for a broken notebook would be wrong here.
    assert "Kernel" not in text and "Jupyter" not in text
    assert "of 16 points" not in text and "Judged apart" not in text


def test_what_a_person_decided_and_wrote_stands_with_the_answer_as_text() -> None:
    report = CLASS["bela.bartok"]
    *others, essay = report.items
    assert essay.grade_id == "dead_units"
    mark = Mark(1.5, 0.25, (0.0, Verdict.NEEDS_MANUAL, "A person will grade this."))
    essay = replace(essay, points=1.75, verdict=Verdict.PARTIAL, message="", mark=mark)
    words = "Right, <script>alert(1)</script>\nbut say why: a < b."
    comments = (Comment(build.NOTEBOOK, "dead_units", words), Comment(build.NOTEBOOK, "elsewhere", "On no part."))
    page = page_of(replace(report, items=(*others, essay), comments=comments))
    text = page.text
    assert "1.5 given by a person and 0.25 extra credit" in text and "A person reads this" not in text
    assert words in text and "On no part." in text
    assert not page.all("script")
    assert "Points that a person gave count in their place." in text


OURS = "This part could not be checked; a person will look at it."
NO_DEVICE = "This is about a CUDA device, and this run had none."
FORBIDDEN = "This cell uses a library that is not allowed."
SEEN = build.check("copies", "Each batch is copied once.", evidence=Evidence.OBSERVED)
ASKED = build.check("copies", "Each batch is copied once.", Verdict.NOT_RUN, weight=0.0, message=NO_DEVICE)
BROKEN = build.item("test_train", 0, 4, Verdict.GRADER_ERROR, message=OURS)
OBSERVED = build.item("test_train", 4, 4, Verdict.PASSED, build.check("w", "The weights are right."), SEEN)
LACKING = build.item("test_train", 0, 0, Verdict.NOT_RUN, ASKED, message=NO_DEVICE)
REFUSED = build.item("test_train", 0, 4, Verdict.FAILED, build.STEP, message=FORBIDDEN)
RULE = ["seen while your code ran", "counts where another check passed too"]


@pytest.mark.parametrize(
    ("report", "told", "untold"),
    [
        # Where only one part failed on our side, the others are shown.
        (
            with_item(BROKEN, state=Verdict.GRADER_ERROR, reason="secret trace"),
            ["10 of 16 points", OURS, "6 more points are still open"],
            ["secret trace"],
        ),
        (with_item(LACKING), [NO_DEVICE, "no part in this score"], ["earlier stop"]),
        # What was only observed is marked, and the rule says when it counts.
        (with_item(OBSERVED), RULE, []),
        (build.report("sam", build.GOOD_ITEMS[:1]), [], RULE),
        # Where points do not follow from the checks, no arithmetic is claimed.
        (with_item(REFUSED), [FORBIDDEN], ["4 \N{MULTIPLICATION SIGN} 1 / 1"]),
        (build.report("sam", flags=(Flag("new", "copied from bela"),)), [], ["copied from bela"]),
        (
            build.report("sam", device="virtual cuda"),
            ["a separate process, which never ran your code", "virtual CUDA"],
            [],
        ),
        (build.report("sam", trust=Trust.IN_KERNEL), ["test cells ran beside your code"], []),
    ],
)
def test_the_page_of_a_report_says(report: Report, told: list[str], untold: list[str]) -> None:
    text = text_of(report)
    assert [words for words in told if words not in text] == []
    assert [words for words in untold if words in text] == []


def test_nothing_of_the_instructors_side_reaches_the_page() -> None:
    instructors = CellRun(build.NOTEBOOK, "test_train", "instructor", Verdict.FAILED, "HIDDEN OUTPUT", "HIDDEN ERROR")
    for report in build.REPORTS:
        report = replace(report, runs=(*report.runs, instructors), sandbox="HIDDEN TIER")
        page = feedback_page(report, A1, build.submission(report.student))
        assert "SECRET" not in page and "HIDDEN" not in page
        assert not [c.name for i in report.items for c in i.checks if c.name in page]


def test_a_figure_stands_below_what_its_cell_printed() -> None:
    drawn = replace(build.run("train", output="[figure 1]"), figures=("aQ==",))
    page = feedback_page(build.report("sam", runs=(drawn,)), A1, build.submission("sam"))
    image = '<img src="data:image/png;base64,aQ==" alt="Figure 1 of train">'
    assert f'<pre class="fold" tabindex="0">[figure 1]</pre>\n{image}' in page


def test_the_arithmetic_shown_gives_the_points_shown() -> None:
    weighted = replace(build.GRADIENTS, verdict=Verdict.FAILED)
    item = build.item("test_small_graph", 2 / 3, 2, Verdict.PARTIAL, build.VALUE, weighted)
    page = feedback_page(with_item(item), A1, build.submission("sam"))
    found = re.findall(r"<td>([\d.]+) \S ([\d.]+) / ([\d.]+)</td><td class=\"number\">([\d.]+)</td>", page)
    assert len(found) == 4
    for most, passed, total, points in found:
        assert float(most) * float(passed) / float(total) == pytest.approx(float(points), abs=0.005)


def test_a_markdown_answer_is_shown_as_it_was_typed() -> None:
    page = page_of(CLASS["ada.lovelace"])
    assert build.PROSE in page.text
    assert not page.all("strong") or "positive" not in "".join(a.get("class", "") for a in page.all("strong"))


def test_a_page_depends_on_nothing_but_the_work() -> None:
    fast, submission = CLASS["bela.bartok"], build.submission("bela.bartok")
    slow = replace(fast, seconds=99.0, runs=tuple(replace(r, seconds=9.0) for r in fast.runs))
    assert feedback_page(slow, A1, submission) == feedback_page(fast, A1, submission)


def test_long_code_and_long_output_are_cut_and_say_so() -> None:
    answers = (("train", "\n".join(f"x = {n}" for n in range(5000))),)
    report = build.report("ada", runs=(build.run("train", output="tick\n" * 5000),))
    page = feedback_page(report, A1, build.submission("ada", answers))
    assert "4700 more lines" in page and "4960 lines left out" in page and len(page) < 100_000


def test_a_foreign_assignment_without_checks_has_a_page_too() -> None:
    items = (Item(build.NOTEBOOK, "test_train", 4, 4, Verdict.PASSED), Item("other", "nowhere", 0, 1, Verdict.FAILED))
    report = build.report("ada", items, trust=Trust.IN_KERNEL, state=Verdict.PARTIAL)
    text = " ".join(Page(feedback_page(report, replace(A1, checks=None), build.submission("ada"))).text.split())
    assert "4. Training ✓ passed 4 / 4" in text and "nowhere ✗ failed 0 / 1" in text
    assert "by the assignment's test cell" in text


def test_parts_are_called_by_the_headings_above_them() -> None:
    assert assignment_title(A1) == "Backpropagation by hand, in NumPy"
    assert item_title(A1, build.GOOD_ITEMS[1]) == "2. Two layers, backward"
    (notebook,) = A1.notebooks
    bare = replace(A1, notebooks=(replace(notebook, cells=tuple(c for c in notebook.cells if c.kind == "code")),))
    assert assignment_title(bare) == build.NOTEBOOK
    assert item_title(bare, build.GOOD_ITEMS[1]) == "two_layer_backward"


# -- the page as a document --------------------------------------------------------------------------------------------


def test_the_page_has_language_title_one_main_heading_and_headings_without_gaps() -> None:
    for report in build.REPORTS:
        page = page_of(report)
        assert page.all("html") == [{"lang": "en"}]
        assert page.all("title") and report.student in page.text
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_table_heading_says_what_it_heads_and_every_verdict_has_a_word() -> None:
    html = feedback_page(CLASS["carla.bruni"], A1, build.submission("carla.bruni"))
    page = Page(html)
    assert page.all("th") and all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    for label in re.findall(r'<span class="verdict \w+">(.*?)</span> (.*?)</span>', html):
        assert label[1].strip()
    assert html.count('<span class="mark') == html.count('<span class="unseen">')


def test_links_within_the_page_lead_somewhere() -> None:
    page = page_of(CLASS["bela.bartok"])
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    targets = {attributes["href"].removeprefix("#") for attributes in page.all("a")}
    assert len(ids) == len(set(ids))
    assert targets and targets <= set(ids)


# -- on the disk -------------------------------------------------------------------------------------------------------


def written(folder: Path, *reports: Report) -> list[Path]:
    return write_feedback(folder, A1, [build.submission(r.student) for r in reports], reports)


def test_pages_are_written_in_nbgraders_layout(tmp_path: Path) -> None:
    pages = written(tmp_path, *build.REPORTS)
    assert pages[0] == tmp_path / "feedback/ada.lovelace/a1_numpy_backprop/feedback.html"
    assert all(path.read_text(encoding="utf-8").startswith("<!doctype html>") for path in pages)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p not in pages]


@pytest.mark.parametrize(
    "student", ["../../etc", "..", ".", "/root", "a/b", "a\\b", "nul\0", "", "-rf", "\ud800", "x" * 400]
)
def test_a_page_stays_below_the_run_folder_whatever_the_student_is_called(tmp_path: Path, student: str) -> None:
    (path,) = written(tmp_path, build.report(student))
    assert path.resolve().is_relative_to(tmp_path.resolve() / "feedback")
    assert len(path.relative_to(tmp_path).parts) == 4
    assert path.exists()


def test_ordinary_names_are_folders_under_their_own_name() -> None:
    for student in ("ada.lovelace", "Łukasz Żółć", "李小龍", "s-0123", "o'hara", "[x]"):
        assert feedback_path(student, "a1").parts[1] == student


def test_submissions_and_reports_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    submissions, reports = [build.submission(name) for name in "ab"], [build.report(name) for name in "ba"]
    with pytest.raises(ValueError, match="same students"):
        write_feedback(tmp_path, A1, submissions, reports)


def test_a_disk_that_says_no_leaves_no_half_page_and_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = written(tmp_path, build.report("ada"))
    before = old.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CannotWrite, match="No space left on device"):
        written(tmp_path, build.report("ada", score=0.0))
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


def test_a_file_where_a_folder_should_be_is_a_sentence_too(tmp_path: Path) -> None:
    (tmp_path / "feedback").write_text("in the way")
    with pytest.raises(CannotWrite, match="could not be written"):
        written(tmp_path, build.report("ada"))


def test_every_verdict_can_be_shown() -> None:
    for verdict in Verdict:
        item = build.item("test_train", 0, 4, verdict, replace(build.STEP, verdict=verdict))
        report = with_item(item, state=verdict, runs=(build.run("train", verdict),))
        assert feedback_page(report, A1, build.submission("sam")).endswith("</html>")


LATE = Lateness("2026-10-03T12:00:00+02:00", "2026-10-01T23:59:00+02:00", 2, 20.0, "Handed in <b>late</b>.")


def test_what_being_late_cost_is_told_with_the_sum_before_and_after() -> None:
    text = text_of(build.report("sam", late=LATE))
    for words in (
        "10.8 of 16 points",
        "Handed in <b>late</b>. Your work earned 14 points; 3.2 were taken off.",
        "Sum 14 Late \N{MINUS SIGN}3.2 Score 10.8",
    ):
        assert words in text
    assert "taken off" not in text_of(build.report("sam", late=replace(LATE, percent=0.0, sentence="")))
