from __future__ import annotations

import csv
import dataclasses
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.errors import CannotWrite, WrongUse
from autograder.gradebook.course import student_id
from autograder.gradebook.exports import FORMS, export, harmless
from autograder.gradebook.roster import read_roster
from autograder.records import Flag
from tests.autograder.small_course import Class, make_course
from tests.when_used import when_used

Gradebook = when_used("nbgrader.api.Gradebook")

NAME = "a9_demo"
ALL = {"why": 4.0, "study": 5.0}


def make(run: Path, students: Class, *entries: tuple[str, dict[str, float | None] | None]) -> None:
    """A graded run: each student with the points of cells, or None for an unreadable file."""
    handed = [(students.submit(s, None if points is None else students.right), points or {}) for s, points in entries]
    students.write_results(run, students.write_gradebook(run, *handed))


def told(run: Path, to: str, roster: Any = None, section: str = "") -> list[str]:
    sentences: list[str] = []
    export(run, to, roster=roster, section=section, tell=sentences.append)
    return sentences


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def module_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada has everything, Bob lost points, Cyn's essay waits, Dan's file is broken. `run` is a copy."""
    base = tmp_path_factory.mktemp("graded")
    everybody = ("ada", ALL), ("bob", {**ALL, "test_double": 1.5}), ("cyn", {"study": 5.0}), ("dan", None)
    make(base / "run", Class(make_course(base / "course").load()), *everybody)
    return base / "run"


def by_hand(run: Path, student: str, cell: str, score: float) -> None:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as gb:
        gb.find_grade(cell, NAME, NAME, student).manual_score = score
        gb.db.commit()


def test_csv_has_a_row_for_each_student_and_two_columns_for_each_cell(run: Path) -> None:
    ada, bob, cyn, dan = rows(export(run, "csv"))
    assert (ada["score"], ada["max_score"]) == ("14", "14")
    assert (bob["score"], bob["test_double"], bob["test_double: verdict"]) == ("12.5", "1.5", "partial")
    assert (cyn["score"], cyn["why"], cyn["why: verdict"]) == ("", "", "needs manual")
    assert dan["score"] == "" and dan["state"] == "rejected" and "not a notebook" in dan["reason"]


def test_a_score_given_by_hand_replaces_the_graders(run: Path) -> None:
    by_hand(run, "cyn", "why", 2.5)
    by_hand(run, "bob", "test_double", 3.0)
    _, bob, cyn, _ = rows(export(run, "csv"))
    assert (bob["score"], bob["test_double"]) == ("14", "3")
    assert (cyn["score"], cyn["why"]) == ("12.5", "2.5")


def test_what_this_device_cannot_ask_leaves_nobody_waiting_and_what_the_grader_failed_at_has_no_score(
    run: Path,
) -> None:
    results = json.loads((run / "results.json").read_text())
    ada, bob = results["submissions"][:2]
    ada["items"][0] |= {"verdict": "not run", "points": 0.0, "max_points": 0.0}
    bob["state"] = "grader error"
    (run / "results.json").write_text(json.dumps(results))
    first = rows(export(run, "csv"))[0]
    assert float(first["score"]) == sum(item["points"] for item in ada["items"])
    of_bob = json.loads((export(run, "gradescope") / "bob" / "results.json").read_text())
    assert "score" not in of_bob


def test_no_name_becomes_a_formula(tmp_path: Path, students: Any) -> None:
    link = '=HYPERLINK("http://x","y")'
    names = ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\t=1", " =2", "\n=3", "\uff1d4+1", "|calc", link]
    make(tmp_path, students, *((name, ALL) for name in names))
    for form in ("csv", "canvas", "moodle", "blackboard", "brightspace"):
        with export(tmp_path, form).open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        texts = [cell for cell in cells if not cell.replace(".", "").isdigit()]
        assert [name for name in names if not any(name.strip()[1:] in cell for cell in texts)] == []
        assert not [cell for cell in texts if cell.lstrip(" \n")[:1] in set("=+-@\t|\uff1d")]


def test_ordinary_text_is_exported_as_it_is() -> None:
    for text in ("Ünal, Öz", 'say "yes"', "two\nlines", "李雷", "a=b", "3.5", ""):
        assert harmless(text) == text


def test_quotes_commas_lines_and_scripts_of_all_kinds_survive_csv(tmp_path: Path, students: Any) -> None:
    names = ['Ana "the" First', "O'Hara, Zoë", "李雷", "two\nlines", "e\u0301", "😀"]
    make(tmp_path, students, *((name, ALL) for name in names))
    assert [row["student"] for row in rows(export(tmp_path, "csv"))] == names


def test_flags_are_told_by_kind(tmp_path: Path, students: Any) -> None:
    report = students.report(students.submit("ada"), ALL)
    flags = (Flag("renamed", "x"), Flag("duplicate-cell", "y"), Flag("renamed", "z"))
    students.write_results(tmp_path, [dataclasses.replace(report, flags=flags)])
    assert rows(export(tmp_path, "csv"))[0]["flags"] == "duplicate-cell; renamed"


# --- as the platforms read them --------------------------------------------------------------------------------------

PEOPLE = """Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",4711,S-1,ada,Monday
"Roe, Bob",4712,S-2,broe,Monday
"Doe, Cyn",4713,,cyn,Friday
"Foe, Eve",4714,,eve,Friday
"""
"""Canvas's own list. Bob's folder is called `Bob Roe_4712`, Dan is not in it, Eve handed in nothing"""


def found_by_canvas(path: Path) -> dict[str, str]:
    """Canvas's user -> points: by ID, else SIS User ID, else SIS Login ID (`GradebookImporter`)."""
    with path.open(newline="") as file:
        head, possible, *lines = list(csv.reader(file))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME]
    assert possible[0].strip() == "Points Possible" and float(possible[5]) == 14
    users = list(csv.DictReader(PEOPLE.splitlines()))
    found = {}
    for line in lines:
        for place, column in ((1, "ID"), (2, "SIS User ID"), (3, "SIS Login ID")):
            if line[place]:
                found |= {user["Student"]: line[5] for user in users if user[column] == line[place]}
                break
    return found


def found_by_moodle(path: Path) -> dict[str, tuple[str, str]]:
    """Participant's number -> grade and feedback, as `assignfeedback_offline_grade_importer` reads a worksheet."""
    lines = rows(path)
    assert {"Identifier", "Grade", "Last modified (grade)", "Feedback comments"} <= set(lines[0])
    found = {}
    for line in lines:
        if line["Identifier"]:
            number = line["Identifier"][len("Participant ") :]
            assert line["Identifier"].startswith("Participant ") and number.isdigit()
            assert datetime.strptime(line["Last modified (grade)"], "%Y-%m-%d %H:%M:%S UTC")
            found[number] = (line["Grade"], line["Feedback comments"])
    return found


@pytest.fixture
def platform_run(tmp_path: Path, students: Any) -> Path:
    """Of a class whose work came from a platform: Bob's folder has his number, Ada's her login."""
    names = ("ada", "Bob Roe_4712", "cyn", "dan")
    everybody = zip(names, (ALL, {**ALL, "test_double": 1.5}, {"study": 5.0}, None), strict=True)
    make(tmp_path, students, *everybody)
    (tmp_path / "people.csv").write_text(PEOPLE)
    named_by(tmp_path, "canvas")
    return tmp_path


def named_by(run: Path, platform: str) -> None:
    """As `autograder grade` notes whose number stands in the name of Bob's folder."""
    path = run / "results.json"
    results = json.loads(path.read_text())
    results["run"] = {"platform": {"Bob Roe_4712": [platform, "4712"]}}
    path.write_text(json.dumps(results))


def test_canvas_finds_everybody_with_a_roster(platform_run: Path) -> None:
    roster = read_roster(platform_run / "people.csv")
    found = found_by_canvas(export(platform_run, "canvas", roster=roster))
    assert found == {"Lovelace, Ada": "14", "Roe, Bob": "12.5", "Doe, Cyn": ""}
    assert found_by_canvas(export(platform_run, "canvas")) == found  # by number or login
    assert found_by_canvas(export(platform_run, "canvas", roster=roster, section="Friday")) == {"Doe, Cyn": ""}
    with pytest.raises(WrongUse, match="section 'Sunday'"):
        export(platform_run, "canvas", roster=roster, section="Sunday")


def test_whom_a_platform_will_find_and_who_is_missing_is_told(platform_run: Path) -> None:
    roster = read_roster(platform_run / "people.csv")
    assert told(platform_run, "canvas", roster) == [
        "3 of 4 students have a number or login of Canvas.",
        "Without one, so that the submission's name stands for the login: dan.",
        "The roster has no line for dan: add one with student and id, sis_id or login.",
        "Handed in nothing: Foe, Eve (eve).",
        "Not in the roster: dan.",
    ]
    assert told(platform_run, "csv", None) == []


@pytest.mark.parametrize(
    ("to", "columns"),
    [
        ("canvas", "id, sis_id or login"),
        ("moodle", "id, sis_id, login or email"),
        ("blackboard", "login"),
        ("brightspace", "org_id or login"),
    ],
)
def test_what_a_roster_lacks_is_told_and_asked_for_only_where_none_was_given(
    platform_run: Path, to: str, columns: str
) -> None:
    named_by(platform_run, "gradescope")
    assert told(platform_run, to, None)[-1] == f"Give --roster, a list of people with the column {columns}."
    (platform_run / "people.csv").write_text("student,login,section\nada,,Mon\ncyn,cyn,Mon\n")
    assert told(platform_run, to, read_roster(platform_run / "people.csv"))[:3] == [
        f"1 of 4 students have a number or login of {to.title()}.",
        "Without one, so that the submission's name stands for the login: ada, Bob Roe_4712, dan.",
        f"The roster has no line for Bob Roe_4712, dan: add one with student and {columns}. "
        f"The roster has no {columns} for ada: fill it in.",
    ]


def test_a_number_leads_back_to_the_platform_that_gave_it_and_to_no_other(platform_run: Path) -> None:
    named_by(platform_run, "moodle")
    cost = "test_double: 1.5 of 3: Something is wrong in test_double."
    assert found_by_moodle(export(platform_run, "moodle")) == {"4712": ("12.5", cost)}
    # Moodle's 4712 is not Canvas's.
    assert "Roe, Bob" not in found_by_canvas(export(platform_run, "canvas"))
    roster = read_roster(platform_run / "people.csv")
    assert "Roe, Bob" not in found_by_canvas(export(platform_run, "canvas", roster=roster))
    assert "Not in the roster: Bob Roe_4712, dan." in told(platform_run, "canvas", roster)


def test_two_submissions_of_one_person_are_told(tmp_path: Path, students: Any) -> None:
    make(tmp_path, students, ("ada", ALL), ("ada@x.org", ALL))
    (tmp_path / "people.csv").write_text("student,email\nada,ada@x.org\n")
    sentences = told(tmp_path, "csv", read_roster(tmp_path / "people.csv"))
    assert sentences == ["ada, ada@x.org are one person of the roster."]


def test_canvas_and_moodle_get_what_the_gradebook_knows_of_people(run: Path) -> None:
    with Gradebook(f"sqlite:///{run / 'gradebook.db'}") as gb:
        who = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.org", "lms_user_id": "4711"}
        gb.update_or_create_student("ada", **who)
    canvas, moodle = rows(export(run, "canvas"))[1], rows(export(run, "moodle"))[0]
    assert (canvas["Student"], canvas["ID"]) == ("Lovelace, Ada", "4711")
    assert (moodle["Full name"], moodle["Email address"]) == ("Lovelace, Ada", "ada@example.org")
    assert found_by_moodle(export(run, "moodle"))["4711"] == ("14", "")


def test_moodle_gets_points_and_what_cost_them(run: Path) -> None:
    ada, bob, cyn, dan = rows(export(run, "moodle"))
    assert (ada["Username"], ada["Grade"], ada["Maximum Grade"], ada["Feedback comments"]) == ("ada", "14", "14", "")
    assert bob["Feedback comments"] == "test_double: 1.5 of 3: Something is wrong in test_double."
    assert (cyn["Grade"], cyn["Feedback comments"]) == ("", "why: a person will grade this")
    assert dan["Grade"] == "" and "not a notebook" in dan["Feedback comments"]  # the reason, not a person to come


def test_blackboard_finds_people_by_login(platform_run: Path) -> None:
    people = "Last Name,First Name,Username,Student\nRoe,Bob,broe,Bob Roe_4712\nDoe,Cyn,cyn,cyn\n"
    (platform_run / "people.csv").write_text(people)
    lines = rows(export(platform_run, "blackboard", roster=read_roster(platform_run / "people.csv")))
    found = {line["Username"]: line[f"{NAME} [Total Pts: 14 Score]"] for line in lines}
    assert found == {"ada": "14", "broe": "12.5", "cyn": "", "dan": ""}
    assert [line["Last Name"] for line in lines if line["Last Name"]] == ["Roe", "Doe"]


def test_brightspace_finds_people_by_number_or_login_and_each_line_ends_with_its_sign(platform_run: Path) -> None:
    people = "OrgDefinedId,Username,Last Name,First Name\n#007,ada,Lovelace,Ada\n,#cyn,Doe,Cyn\n"
    (platform_run / "people.csv").write_text(people)
    lines = rows(export(platform_run, "brightspace", roster=read_roster(platform_run / "people.csv")))
    found = {line["OrgDefinedId"] or line["Username"]: line[f"{NAME} Points Grade"] for line in lines}
    assert found == {"#007": "14", "#Bob Roe_4712": "12.5", "#cyn": "", "#dan": ""}
    assert [line["End-of-Line Indicator"] for line in lines] == ["#"] * 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no column of student, login"),
        ("Points,Mark\n1,2\n", "names no column of student, login"),
        ("student,email\nada,a@b\nbob,c@d\nAda,e@f\n", "lines 2 and 4 are both 'ada'"),
        (b"student\n\xff\n", "not UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_roster_is_said(tmp_path: Path, text: str | bytes | None, words: str) -> None:
    path = tmp_path / "people.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(WrongUse, match=words):
        read_roster(path)


def test_a_roster_is_read_as_platforms_and_spreadsheets_write_it(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('\ufeffIdentifier;Full name;Email address;Group\nParticipant 123;Ada Doe;ada@x.org;"A\n1"\n;;;\n')
    [ada] = read_roster(path).people
    assert ada == {"first_name": "Ada", "last_name": "Doe", "email": "ada@x.org", "section": "A\n1", "id": "123"}
    roster = read_roster(path)
    assert roster.find("Ada Doe_123", "123") == roster.find("ADA@X.ORG") == ada
    assert roster.find("me_123") == roster.find("Ada Doe_124", "124") == {}  # a student may call a file me_123


def test_gradescope_gets_a_file_for_each_student(run: Path) -> None:
    folder = export(run, "gradescope")
    assert sorted(p.name for p in folder.iterdir()) == ["ada", "bob", "cyn", "dan"]
    bob = json.loads((folder / "bob" / "results.json").read_text())
    assert bob["score"] == 12.5 == sum(test["score"] for test in bob["tests"])
    double = next(t for t in bob["tests"] if t["name"].endswith("test_double"))
    assert (double["score"], double["max_score"], double["status"]) == (1.5, 3, "failed")
    cyn = json.loads((folder / "cyn" / "results.json").read_text())
    why = next(t for t in cyn["tests"] if t["name"].endswith("why"))
    assert "score" not in why and "a person will grade this" in why["output"]


def test_a_hostile_name_stays_inside_the_gradescope_folder(tmp_path: Path, students: Any) -> None:
    report = dataclasses.replace(students.report(students.submit("x"), ALL), student="../../escape")
    students.write_results(tmp_path / "run", [report])
    folder = export(tmp_path / "run", "gradescope")
    assert [p.name for p in folder.iterdir()] == [student_id("../../escape")]
    assert not (tmp_path / "escape").exists()


SUITE = {"name", "tests", "failures", "errors", "skipped", "time"}


def validate_junit(path: Path) -> ElementTree.Element:
    """The rules of the JUnit schema that CI servers share (Jenkins' junit-10.xsd)."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite" and set(suite.attrib) == SUITE
        cases = list(suite)
        assert len(cases) == int(suite.attrib["tests"])
        for case in cases:
            assert case.tag == "testcase" and set(case.attrib) == {"name", "classname", "time"}
            assert len(case) <= 1 and all(child.tag in ("failure", "error", "skipped") for child in case)
            assert all("message" in child.attrib for child in case)
        for tag, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert len(suite.findall(f"testcase/{tag}")) == int(suite.attrib[plural])
    for key in ("tests", "failures", "errors", "skipped"):
        assert int(root.attrib[key]) == sum(int(suite.attrib[key]) for suite in root)
    return root


def test_junit_has_a_suite_for_each_student_and_a_case_for_each_cell(run: Path) -> None:
    root = validate_junit(export(run, "junit"))
    counts = {s.attrib["name"]: tuple(int(s.attrib[k]) for k in ("failures", "errors", "skipped")) for s in root}
    assert counts == {"ada": (0, 0, 0), "bob": (1, 0, 0), "cyn": (0, 0, 1), "dan": (0, 4, 0)}
    (failure,) = root.findall("testsuite[@name='bob']/testcase/failure")
    assert failure.attrib["message"] == "partial, 1.5 of 3 points"
    assert failure.text == "Something is wrong in test_double."


def test_junit_stays_xml_whatever_students_call_themselves(tmp_path: Path, students: Any) -> None:
    report = students.report(students.submit("x"), {**ALL, "test_double": 0.0})
    hostile = '</testsuite><!-- ]]> \x00\x1b\ud800\ufffe & " <script>'
    items = tuple(dataclasses.replace(i, message=hostile) for i in report.items)
    students.write_results(tmp_path, [dataclasses.replace(report, student=hostile, items=items)])
    root = validate_junit(export(tmp_path, "junit"))
    assert len(root) == 1 and root[0].attrib["name"].startswith("</testsuite><!-- ]]> ")


def test_an_unknown_form_is_answered_with_the_known_ones(run: Path) -> None:
    with pytest.raises(
        WrongUse, match="pdf: no such export; choose one of csv, canvas, moodle, blackboard, brightspace"
    ):
        export(run, "pdf")


FOREIGN = {
    "no JSON": "{",
    "a list": "[]",
    "an object of another kind": '{"tests": []}',
    "a foreign entry": '{"version": 1, "assignment": "a", "submissions": [{"name": "x"}]}',
    "a score that is no number": '{"version": 1, "assignment": "a", "submissions": [{"student": "x", "score": "9"}]}',
    "deep nesting": "[" * 100_000,
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("form", FORMS)
def test_a_foreign_results_file_is_refused_in_a_sentence(name: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(FOREIGN[name])
    with pytest.raises(WrongUse, match=r"results\.json: is no record of a run"):
        export(tmp_path, form)
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]


def test_a_folder_without_results_and_results_of_a_later_version_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"holds no results\.json"):
        export(tmp_path, "csv")
    (tmp_path / "results.json").write_text('{"version": 2, "assignment": "a", "submissions": []}')
    with pytest.raises(WrongUse, match="version 2, this program reads 1"):
        export(tmp_path, "csv")


def test_results_without_a_gradebook_are_exported_as_the_grader_left_them(tmp_path: Path, students: Any) -> None:
    students.write_results(tmp_path, [students.report(students.submit("ada"), ALL)])
    assert rows(export(tmp_path, "csv"))[0]["score"] == "14"


def test_the_place_asked_for_is_written_and_returned_and_told_if_it_cannot_be(run: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "scores.csv"
    assert export(run, "csv", target) == target and len(rows(target)) == 4
    assert [p.name for p in target.parent.iterdir()] == ["scores.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match=r"scores\.csv: cannot be written"):
        export(run, "csv", tmp_path / "file" / "scores.csv")
