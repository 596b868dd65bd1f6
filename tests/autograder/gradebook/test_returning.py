"""Feedback goes back to whoever it belongs to: each archive is read as the platform's importer reads it."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from autograder.errors import WrongUse
from autograder.gradebook.returning import pack_feedback
from autograder.gradebook.roster import read_roster
from autograder.submissions.platforms import name_to_return

ADA, BOB, CYN = "Ada Lovelace_120", "Bob_x Roe_121", "cyn"


def found_by_moodle(archive: Path, participants: set[str]) -> dict[str, tuple[str, bytes]]:
    """Participant -> name and content, as `assignfeedback_file_zip_importer` finds them since Moodle 4.1."""
    found = {}
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            parts = ["", "import", *name.split("/")]
            if parts[-1].startswith((".", "~")):
                continue
            for place, part in enumerate(parts):
                info = part.split("_", 4)
                if len(info) >= 4 and info[1] in participants and tuple(info[2:4]) == ("assignsubmission", "file"):
                    assert info[1] not in found
                    found[info[1]] = "/".join([*info[4:5], *parts[place + 1 :]]), packed.read(name)
                    break
    return found


def found_by_older_moodle(archive: Path, participants: set[str]) -> dict[str, str]:
    """The same before 4.1: the whole path is split at underscores, into five parts at least."""
    with zipfile.ZipFile(archive) as packed:
        split = [f"/import/{name}".split("_", 4) for name in packed.namelist()]
    return {info[1]: info[4] for info in split if len(info) == 5 and info[1] in participants}


def found_by_canvas(archive: Path, attachments: dict[str, tuple[str, str]]) -> dict[str, bytes]:
    """Attachment -> content, as `infer_comment_context_from_filename` finds them.

    attachments: id -> user, anonymous id.
    """
    found = {}
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            split = [part for part in PurePosixPath(name).name.split("_") if part != "LATE"]
            anonymous = split[0] == "anon"
            user, attachment = split[1:3] if anonymous else [part for part in split if part.isdigit()][:2]
            if split[-1].startswith("link") or attachments.get(attachment, ("", ""))[anonymous] != user:
                continue
            found[attachment] = packed.read(name)
    return found


def make(run: Path, students: Any, platform: dict[str, list[str]], *names: str) -> dict[str, PurePosixPath]:
    """A graded run with a page for each student."""
    reports = [students.report(students.submit(name), {"why": 4.0, "study": 5.0}) for name in names]
    students.write_results(run, reports)
    results = json.loads((run / "results.json").read_text())
    (run / "results.json").write_text(json.dumps(results | {"run": {"platform": platform}}))
    pages = {name: PurePosixPath("feedback", str(number)) for number, name in enumerate(names)}
    for name, page in pages.items():
        (run / page).parent.mkdir(exist_ok=True)
        (run / page).write_text(f"<p>for {name}</p>")
    return pages


def test_moodle_finds_every_participant(tmp_path: Path, students: Any) -> None:
    folder = "_assignsubmission_file"
    platform = {ADA: ["moodle", "120", ADA + folder], BOB: ["moodle", "121", BOB + folder]}
    pages = make(tmp_path, students, platform, ADA, BOB, CYN)
    wrote, matched, without = pack_feedback(tmp_path, "moodle", pages)
    found = found_by_moodle(tmp_path / "feedback_moodle.zip", {"120", "121"})
    assert {k: (name, page.decode()) for k, (name, page) in found.items()} == {
        "120": ("feedback.html", f"<p>for {ADA}</p>"),
        "121": ("feedback.html", f"<p>for {BOB}</p>"),
    }
    assert set(found_by_older_moodle(tmp_path / "feedback_moodle.zip", {"120", "121"}).values()) == {"feedback.html"}
    assert wrote.startswith("wrote ") and matched == "Moodle will match 2 of 3 pages."
    assert without.startswith("Not matched: cyn.") and without.endswith(
        "have. Give --roster, a list of people with the column id."
    )
    # The worksheet that Moodle offers for download tells the number of the third.
    (tmp_path / "people.csv").write_text("Identifier,Full name,Username\nParticipant 122,Cyn Doe,cyn\n")
    told = pack_feedback(tmp_path, "moodle", pages, roster=read_roster(tmp_path / "people.csv"))
    assert told[1] == "Moodle will match 3 of 3 pages."
    assert found_by_moodle(tmp_path / "feedback_moodle.zip", {"122"})["122"][1] == b"<p>for cyn</p>"


def test_canvas_finds_every_file_that_was_handed_in_late_or_by_nobody_in_particular(
    tmp_path: Path, students: Any
) -> None:
    platform = {
        "roebob_4711": ["canvas", "4711", "roebob_LATE_4711_900_my_link.ipynb"],
        "anon_aB3xY": ["canvas", "", "anon_aB3xY_901_a1.zip"],
        "doecyn_4713": ["canvas", "4713", "doecyn_4713_text.html"],
        "dan": ["moodle", "4714", "dan_4714_assignsubmission_file"],
    }
    pages = make(tmp_path, students, platform, *platform)
    told = pack_feedback(tmp_path, "canvas", pages)
    assert told[1:] == [
        "Canvas will match 2 of 4 pages.",
        "Not matched: doecyn_4713, dan. Canvas needs the numbers that its own download puts before the name of a file "
        "handed in: grade that download as it is.",
    ]
    found = found_by_canvas(tmp_path / "feedback_canvas.zip", {"900": ("4711", "zzzzz"), "901": ("5", "aB3xY")})
    assert found["901"] == b"<p>for anon_aB3xY</p>"
    # Under the student's own name for the file, a notebook, Canvas shows a notebook.
    assert json.loads(found["900"])["cells"][0]["outputs"][0]["data"]["text/html"] == ["<p>for roebob_4711</p>"]


def test_a_page_goes_to_nobody_where_two_claim_one_place(tmp_path: Path, students: Any) -> None:
    platform = {
        f"{name}_{number}": ["moodle", number, f"{name}_{number}_assignsubmission_file"]
        for name, number in (("Ada", "120"), ("Eve", "120"), ("Bob", "121"))
    }
    told = pack_feedback(tmp_path, "moodle", make(tmp_path, students, platform, *platform))
    assert told[1:] == [
        "Moodle will match 1 of 3 pages.",
        "Not matched, because several claim to be the same person of Moodle: Ada_120, Eve_120. Keep one submission of "
        "each person and grade again.",
    ]
    assert set(found_by_moodle(tmp_path / "feedback_moodle.zip", {"120", "121"})) == {"121"}


@pytest.mark.parametrize("to", ["moodle", "canvas"])
def test_no_archive_is_written_where_the_platform_would_match_no_page(tmp_path: Path, students: Any, to: str) -> None:
    pages = make(tmp_path, students, {}, "ada", "bob")
    (tmp_path / "people.csv").write_text("student,id\nada,\n")
    for roster in (None, read_roster(tmp_path / "people.csv")):
        with pytest.raises(WrongUse) as refused:
            pack_feedback(tmp_path, to, pages, roster=roster)
        said = str(refused.value)
        assert (
            f"feedback_{to}.zip: not written, as {to.title()} would match none of the pages. Not matched: ada, bob"
            in said
        )
        if to == "moodle":
            assert said.endswith(
                "The roster has no line for bob: add one with student and id. The roster has no id for ada: fill it in."
                if roster
                else "Give --roster, a list of people with the column id."
            )
        else:
            assert said.endswith("grade that download as it is.")
    assert not list(tmp_path.glob("*.zip"))


@pytest.mark.parametrize("name", ["../../x", ".hidden", "a_b/c", "\u202ex\n", "~x", "/etc"])
def test_a_hostile_name_leads_nowhere(name: str) -> None:
    moodle = name_to_return("moodle", name, "7")
    assert moodle.split("_")[1] == "7" and not set(moodle) & set("/\\\n\u202e~") and moodle[0] != "."
    canvas = name_to_return("canvas", name, "7", f"{name.replace('_', '')}_7_8_a.ipynb")
    assert canvas.split("_")[1:] == ["7", "8", "feedback.ipynb"] and not set(canvas) & set("/\\\n\u202e~.") - {"."}
    assert name_to_return("moodle", name, "") == name_to_return("canvas", name, "7") == ""


def test_a_folder_for_each_student_and_a_table_for_a_mail_merge(tmp_path: Path, students: Any) -> None:
    pages = make(tmp_path, students, {}, "ada", "=bob")
    (tmp_path / "people.csv").write_text("student,email,last_name\nada,ada@x.org,Lovelace\n")
    told = pack_feedback(tmp_path, "folder", pages, tmp_path / "out", read_roster(tmp_path / "people.csv"))
    assert told == [
        f"wrote {tmp_path / 'out'}",
        "1 of 2 students have an e-mail address in mail_merge.csv.",
        "Without one: =bob. The roster has no line for =bob: add one with student and email.",
    ]
    with (tmp_path / "out" / "mail_merge.csv").open(encoding="utf-8-sig", newline="") as file:
        ada, bob = csv.DictReader(file)
    assert (ada["email"], ada["last_name"], ada["score"]) == ("ada@x.org", "Lovelace", "14")
    assert bob["student"] == "'=bob" and (tmp_path / "out" / ada["file"]).read_text() == "<p>for ada</p>"
