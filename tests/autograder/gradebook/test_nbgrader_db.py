from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CannotWrite, RunFolderInUse
from autograder.gradebook.course import student_id
from autograder.gradebook.nbgrader_db import Marks, create_database, read_marks, write_gradebook
from autograder.records import Comment, Flag, Item, Verdict
from tests.when_used import when_used

pytestmark = pytest.mark.slow

nbformat = when_used("nbformat")
Gradebook = when_used("nbgrader.api.Gradebook")
compute_checksum = when_used("nbgrader.utils.compute_checksum")

NAME, ZOE = "a9_demo", "Zoë O'Hara"


@contextlib.contextmanager
def gradebook(run: Path) -> Iterator[Any]:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as opened:
        yield opened


def autograded(run: Path, student: str) -> Any:
    return nbformat.read(run / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)


def cell_of(notebook: Any, grade_id: str) -> Any:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def test_the_tables_and_their_version_are_those_of_nbgrader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    create_database(tmp_path / "ours.db")
    Gradebook(f"sqlite:///{tmp_path / 'theirs.db'}").close()
    schemas = []
    for name in ("ours.db", "theirs.db"):
        with contextlib.closing(sqlite3.connect(tmp_path / name)) as database:
            rows = database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
            version = database.execute("SELECT version_num FROM alembic_version").fetchall()
            schemas.append((version, [(table, " ".join((sql or "").rstrip(";").split())) for table, sql in rows]))
    assert schemas[0] == schemas[1]


def test_the_assignment_has_the_points_and_checksums_of_the_source(run: Path, students: Any) -> None:
    with gradebook(run) as gb:
        assignment = gb.find_assignment(NAME)
        assert assignment.max_score == 3 + 2 + 4 + 5
        notebook = gb.find_notebook(NAME, NAME)
        assert {c.name: c.max_score for c in notebook.grade_cells} == {"test_double": 3, "test_mean_of": 2, "why": 4}
        assert {c.name for c in notebook.solution_cells} == {"double", "mean_of", "why"}
        assert {c.name: c.max_score for c in notebook.task_cells} == {"study": 5}
        assert json.loads(notebook.kernelspec)["name"] == "python3"
        sources = {c.name: c for c in notebook.source_cells}
        assert "BEGIN HIDDEN TESTS" in sources["test_mean_of"].source
        shown = nbformat.read(run / "submitted" / "ada" / NAME / f"{NAME}.ipynb", as_version=4)
        for name in ("test_double", "intro"):
            cell = cell_of(shown, name)
            assert sources[name].checksum == compute_checksum(cell) == cell.metadata.nbgrader.checksum


def test_points_of_test_cells_are_auto_scores_and_written_answers_and_tasks_wait_for_a_person(module_run: Path) -> None:
    with gradebook(module_run) as gb:
        scores = {s: gb.find_submission(NAME, s).score for s in ("ada", "bob", ZOE, "dan")}
        assert scores == {"ada": 5, "bob": 3.5, ZOE: 0, "dan": 0}
        grade = gb.find_grade("test_double", NAME, NAME, "bob")
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (1.5, None, False)
        assert grade.failed_tests
        for name in ("why", "study"):
            grade = gb.find_grade(name, NAME, NAME, "ada")
            assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
        assert gb.find_grade("why", NAME, NAME, ZOE).auto_score == 0
        assert gb.find_comment("why", NAME, NAME, ZOE).comment == "No response."
        assert gb.find_comment("why", NAME, NAME, "ada").comment is None


def test_a_rejected_submission_is_there_with_the_reason_and_costs_nothing_yet(module_run: Path, students: Any) -> None:
    reason = students.submit("dan", None).rejected
    with gradebook(module_run) as gb:
        submission = gb.find_submission(NAME, "dan")
        assert submission.needs_manual_grade
        for grade in submission.notebooks[0].grades:
            assert (grade.auto_score, grade.needs_manual_grade) == (None, True)
        assert reason in gb.find_comment("double", NAME, NAME, "dan").comment
    assert reason in autograded(module_run, "dan").cells[0].source


def test_a_grader_error_waits_for_a_person(tmp_path: Path, students: Any) -> None:
    submission = students.submit("ada")
    report = students.report(submission)
    broken = Item(NAME, "test_double", 0.0, 3.0, Verdict.GRADER_ERROR)
    report = dataclasses.replace(report, items=(broken, *report.items[1:]))
    write_gradebook(tmp_path, students.assignment, [submission], [report])
    with gradebook(tmp_path) as gb:
        grade = gb.find_grade("test_double", NAME, NAME, "ada")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)


def test_a_flag_marks_the_notebook_until_a_person_takes_it_away(tmp_path: Path, students: Any) -> None:
    submission = dataclasses.replace(students.submit("ada"), flags=(Flag("renamed", "A cell was renamed."),))
    for _ in range(2):
        students.write_gradebook(tmp_path, (submission, {}), (students.submit("bob"), {}))
        with gradebook(tmp_path) as gb:
            flags = {s: gb.find_submission_notebook(NAME, NAME, s).flagged for s in ("ada", "bob")}
    assert flags == {"ada": True, "bob": False}
    with gradebook(tmp_path) as gb:
        gb.find_submission_notebook(NAME, NAME, "ada").flagged = False
        gb.db.commit()
    students.write_gradebook(tmp_path, (submission, {}))
    with gradebook(tmp_path) as gb:
        assert gb.find_submission_notebook(NAME, NAME, "ada").flagged is False


def test_the_folder_is_a_course_with_source_public_files_and_valid_notebooks(module_run: Path) -> None:
    assert "BEGIN SOLUTION" in (module_run / "source" / NAME / f"{NAME}.ipynb").read_text()
    assert (module_run / "autograded" / "ada" / NAME / "table.csv").read_text() == "a,b\n1,2\n"
    assert not list(module_run.rglob("checks.py")) and not list(module_run.rglob(".*.part"))
    notebooks = list(module_run.rglob("*.ipynb"))
    assert len(notebooks) == 1 + 2 * 4
    for path in notebooks:
        nbformat.validate(nbformat.read(path, as_version=4))


def test_test_cells_show_the_verdict_and_cells_what_they_printed(module_run: Path) -> None:
    notebook = autograded(module_run, "bob")
    told = cell_of(notebook, "test_double").outputs[0]
    assert (told.output_type, told.name) == ("stream", "stdout")
    assert "partial: 1.5 of 3 points" in told.text and "Something is wrong in test_double." in told.text
    assert "failed: Doubling is right." in told.text
    assert cell_of(notebook, "mean_of").outputs[0].text == "printed by mean_of"
    assert notebook.cells[9].outputs[0].text == "printed by double(21)"


def test_a_students_own_cell_shows_its_own_output(tmp_path: Path, students: Any) -> None:
    extra = (("code", "first = 1"), ("code", ""), ("code", "second = 2"))
    students.write_gradebook(tmp_path, (students.submit("ada", extra=extra), {}))
    printed = {c.source: c.outputs[0].text for c in autograded(tmp_path, "ada").cells if c.get("outputs")}
    assert printed["first = 1"] == "printed by first = 1" and printed["second = 2"] == "printed by second = 2"


def test_a_plot_that_a_person_marks_is_shown_where_it_was_drawn(tmp_path: Path, students: Any) -> None:
    submission = students.submit("ada")
    report = students.report(submission, {})
    runs = [replace(run, figures=("aQ==",)) if run.grade_id == "mean_of" else run for run in report.runs]
    write_gradebook(tmp_path, students.assignment, [submission], [replace(report, runs=tuple(runs))])
    text, figure = cell_of(autograded(tmp_path, "ada"), "mean_of").outputs
    assert text.text == "printed by mean_of" and figure.data == {"image/png": "aQ=="}


def test_hidden_tests_are_not_in_what_feedback_pages_are_made_of(module_run: Path) -> None:
    for path in (module_run / "autograded").rglob("*.ipynb"):
        assert "HIDDEN TESTS" not in path.read_text() and "3.5, 9.0" not in path.read_text()


def test_escape_sequences_and_control_characters_are_dropped(tmp_path: Path, students: Any) -> None:
    submission = students.submit("ada")
    report = students.report(submission)
    hostile = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\x00\u202egnp"
    runs = tuple(dataclasses.replace(r, output=hostile if r.grade_id == "double" else "") for r in report.runs)
    write_gradebook(tmp_path, students.assignment, [submission], [dataclasses.replace(report, runs=runs)])
    assert cell_of(autograded(tmp_path, "ada"), "double").outputs[0].text == "]0;ownedredgnp"


def test_two_odd_names_stay_two_students(tmp_path: Path, students: Any) -> None:
    students.write_gradebook(tmp_path, (students.submit("<a>"), {}), (students.submit("(a)"), {"test_double": 0.0}))
    assert len({student_id("<a>"), student_id("(a)")}) == 2
    with gradebook(tmp_path) as gb:
        assert gb.find_submission(NAME, student_id("<a>")).score == 5


def give(run: Path, student: str, cell: str, manual: float | None, extra: Any = None, comment: str = "") -> None:
    """What formgrader does when a person grades a cell."""
    with gradebook(run) as gb:
        grade = gb.find_grade(cell, NAME, NAME, student)
        grade.manual_score, grade.extra_credit = manual, extra
        grade.needs_manual_grade = manual is None and grade.auto_score is None
        if comment:
            gb.find_comment(cell, NAME, NAME, student).manual_comment = comment
        gb.db.commit()


def look(run: Path, student: str, cell: str) -> tuple[float | None, float | None, float | None, bool]:
    with gradebook(run) as gb:
        grade = gb.find_grade(cell, NAME, NAME, student)
        return grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade


def comment_on(run: Path, cell: str) -> str | None:
    with gradebook(run) as gb:
        return gb.find_comment(cell, NAME, NAME, "ada").comment


def test_scores_and_comments_given_by_hand_survive_a_regrade(run: Path, students: Any) -> None:
    give(run, "ada", "why", 3.5, 0.5, "Nicely put.")
    give(run, "ada", "test_double", 2.0)
    students.write_gradebook(run, (students.submit("ada"), {"test_double": 1.0}))
    assert look(run, "ada", "why") == (None, 3.5, 0.5, False)
    assert look(run, "ada", "test_double") == (1.0, 2.0, None, False)
    assert comment_on(run, "why") == "Nicely put."
    with gradebook(run) as gb:
        assert gb.find_submission(NAME, "ada").score == 4 + 2 + 2


def test_an_answer_that_changed_is_graded_by_hand_again_and_the_old_score_told(run: Path, students: Any) -> None:
    give(run, "ada", "why", 3.5, 0.5, "Nicely put.")
    for words in ("No idea.", "Still none."):  # however often it changes before a person looks
        students.write_gradebook(run, (students.submit("ada", {**students.right, "why": words}), {}))
    assert look(run, "ada", "why") == (None, None, None, True)
    with gradebook(run) as gb:
        comment = gb.find_comment("why", NAME, NAME, "ada")
        assert comment.manual_comment is None
        assert "Graded by hand before (3.5 of 4 and 0.5 extra credit)" in comment.comment
        assert "Nicely put." in comment.comment


def test_a_changed_solution_asks_again_for_a_score_given_to_its_tests_until_a_person_answers(
    run: Path, students: Any
) -> None:
    give(run, "ada", "test_double", 2.0)
    changed = students.submit("ada", {**students.right, "double": "def double(x):\n    return x + x"})
    for _ in range(2):
        students.write_gradebook(run, (changed, {}))
        assert look(run, "ada", "test_double") == (3.0, None, None, True)
        assert "Graded by hand before (2 of 3)" in (comment_on(run, "double") or "")
    give(run, "ada", "test_double", None)  # formgrader's Resolve
    students.write_gradebook(run, (changed, {}))
    assert look(run, "ada", "test_double") == (3.0, None, None, False) and comment_on(run, "double") is None


def test_a_change_elsewhere_leaves_a_score_given_by_hand(run: Path, students: Any) -> None:
    give(run, "ada", "why", 4.0)
    students.write_gradebook(run, (students.submit("ada", {**students.right, "mean_of": "mean_of = np.mean"}), {}))
    assert look(run, "ada", "why") == (None, 4.0, None, False)


def test_a_rejected_file_graded_by_hand_keeps_its_score_while_it_is_the_same_file(run: Path, students: Any) -> None:
    give(run, "dan", "why", 1.0)
    students.write_gradebook(run, (students.submit("dan", None), {}))
    assert look(run, "dan", "why")[1] == 1.0
    students.write_gradebook(run, (students.submit("dan"), {}))
    assert look(run, "dan", "why") == (None, None, None, True)


def test_grading_one_student_leaves_the_others_all_ids_and_names_that_were_entered(run: Path, students: Any) -> None:
    with gradebook(run) as gb:
        gb.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        before = {s.student.id: (s.id, s.notebooks[0].id) for s in gb.find_assignment(NAME).submissions}
    students.write_gradebook(run, (students.submit("eve"), {}), (students.submit("ada"), {"test_double": 0.0}))
    with gradebook(run) as gb:
        after = {s.student.id: (s.id, s.notebooks[0].id) for s in gb.find_assignment(NAME).submissions}
        assert {k: after[k] for k in before} == before and "eve" in after
        assert gb.find_submission(NAME, "bob").score == 3.5
        assert gb.find_submission(NAME, "ada").score == 2 and gb.find_student("ada").last_name == "Lovelace"


def test_cells_that_the_source_gained_and_lost_are_gained_and_lost(run: Path, students: Any, course: Any) -> None:
    def revise(notebook: Any) -> None:
        notebook.cells[3].metadata.nbgrader.update(points=6)
        notebook.cells[5].metadata.nbgrader.update(grade_id="test_mean")

    give(run, "ada", "why", 4.0)
    revised = dataclasses.replace(students, assignment=course.change(revise))
    revised.write_gradebook(run, (revised.submit("ada"), {}))
    with gradebook(run) as gb:
        assert gb.find_assignment(NAME).max_score == 6 + 2 + 4 + 5
        names = {g.name for g in gb.find_submission_notebook(NAME, NAME, "bob").grades}
        assert names == {"test_double", "test_mean", "why", "study"}
        assert gb.find_grade("test_mean", NAME, NAME, "bob").needs_manual_grade
        assert gb.find_submission(NAME, "ada").score == 6 + 2 + 4
        assert {c.name for c in gb.find_notebook(NAME, NAME).source_cells} >= {"test_mean", "intro"}
    with contextlib.closing(sqlite3.connect(run / "gradebook.db")) as database:
        orphans = "SELECT count(*) FROM grade WHERE cell_id NOT IN (SELECT id FROM base_cell)"
        assert database.execute(orphans).fetchone() == (0,)


def test_writing_the_same_run_twice_changes_nothing(run: Path, students: Any) -> None:
    def content() -> list[str]:
        with contextlib.closing(sqlite3.connect(run / "gradebook.db")) as database:
            lines = [line for line in database.iterdump() if "INSERT" in line and '"source_cell"' not in line]
            return sorted(lines)

    entries = [(students.submit("ada"), {}), (students.submit("dan", None), {})]
    students.write_gradebook(run, *entries)
    before = content()
    students.write_gradebook(run, *entries)
    assert content() == before


def test_what_was_entered_by_hand_is_read_back(run: Path) -> None:
    give(run, "ada", "why", 3.5, 0.5, "Nicely put.")
    give(run, "bob", "test_double", None, 1.0)
    marks = read_marks(run, NAME)
    assert marks.grades == {("ada", NAME, "why"): (3.5, 0.5, False), ("bob", NAME, "test_double"): (None, 1.0, False)}
    assert marks.comments == {"ada": (Comment(NAME, "why", "Nicely put."),)}
    assert read_marks(run / "elsewhere", NAME) == Marks({}, {})


def test_a_gradebook_that_another_program_holds_is_left_alone(
    run: Path, students: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.gradebook.nbgrader_db.BUSY_S", 0.1)
    with contextlib.closing(sqlite3.connect(run / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunFolderInUse, match="another program holds the gradebook"):
            students.write_gradebook(run, (students.submit("ada"), {"test_double": 0.0}))
    assert look(run, "ada", "test_double")[0] == 3.0


def test_a_file_that_is_no_gradebook_is_not_replaced(tmp_path: Path, students: Any) -> None:
    (tmp_path / "gradebook.db").write_text("my notes, quite a few of them, that are no database" * 9)
    with pytest.raises(CannotWrite, match="not a database"):
        students.write_gradebook(tmp_path, (students.submit("ada"), {}))
    assert (tmp_path / "gradebook.db").read_text().startswith("my notes")


def test_a_gradebook_of_another_version_of_nbgrader_is_not_touched(run: Path, students: Any) -> None:
    with contextlib.closing(sqlite3.connect(run / "gradebook.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'b6d005d67074'")
    with pytest.raises(CannotWrite, match="nbgrader db upgrade"):
        students.write_gradebook(run, (students.submit("ada"), {"test_double": 0.0}))
    with contextlib.closing(sqlite3.connect(run / "gradebook.db")) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("b6d005d67074",)


def test_a_folder_in_the_way_is_named(tmp_path: Path, students: Any) -> None:
    (tmp_path / "autograded").write_text("a file")
    with pytest.raises(CannotWrite, match=r"autograded.*cannot be written"):
        students.write_gradebook(tmp_path, (students.submit("ada"), {}))
    assert not (tmp_path / "gradebook.db").exists()


FULL_DISK = """
import resource, signal, sys
sys.path[:0] = sys.argv[4:]
from pathlib import Path
from autograder.assignment import load_assignment
from autograder.errors import CannotWrite
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.records import Submission
assignment = load_assignment("a9_demo", Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
students = [Submission(f"student{i:04}", assignment.name, rejected="No notebook.") for i in range(200)]
try:
    write_gradebook(Path(sys.argv[2]), assignment, students, [])
except CannotWrite as error:
    print(error)
"""


MORE = [pytest.param(limit, marks=pytest.mark.exhaustive) for limit in (0, 1000, 100_000)]


@pytest.mark.parametrize("limit", [200_000, *MORE])
def test_a_full_disk_is_told_and_the_old_gradebook_stays(limit: int, run: Path, course: Any) -> None:
    """Files beyond `limit` bytes cannot be written, as on a full disk."""
    before = (run / "gradebook.db").read_bytes()
    command = [sys.executable, "-c", FULL_DISK, str(course.root), str(run), str(limit), *sys.path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "cannot be" in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert (run / "gradebook.db").read_bytes() == before
    assert not list(run.rglob(".*.part"))


def test_a_class_of_three_hundred_takes_seconds(tmp_path: Path, students: Any) -> None:
    one = students.submit("ada")
    submissions = [dataclasses.replace(one, student=f"student{i:03}") for i in range(300)]
    reports = [students.report(s, {"test_double": i % 4}) for i, s in enumerate(submissions)]
    began = time.perf_counter()
    write_gradebook(tmp_path, students.assignment, submissions, reports)
    first = time.perf_counter() - began
    write_gradebook(tmp_path, students.assignment, submissions, reports)
    assert first < 10 and time.perf_counter() - began < 20
    with gradebook(tmp_path) as gb:
        assert gb.find_assignment(NAME).num_submissions == 300
        assert gb.average_assignment_score(NAME) == pytest.approx(2 + 1.5)
