"""What a student handed in, read without running it: the instructor's structure, the student's answers.

Hostile and broken files, each beside honest neighbors, are those of `tests/attacks/files`.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.records import Assignment, Role, Submission, from_data, to_data
from autograder.submissions.plan import MAX_FLAGS, MAX_OWN_FILES, own_files, own_names, read_submission, resembles
from tests.conftest import TEST_DOUBLE
from tests.when_used import when_used

nbformat = when_used("nbformat")


def read(little: Any, notebook: dict[str, Any] | bytes, name: str = "little.ipynb", **files: bytes) -> Submission:
    data = notebook if isinstance(notebook, bytes) else little.bytes(notebook)
    return read_submission("ada", {name: data, **files}, little.load())


def plan(submission: Submission) -> list[tuple[str, str | None, str]]:
    return [(c.origin, c.grade_id, c.source) for c in submission.notebooks[0].plan]


def kinds(submission: Submission) -> list[str]:
    return [flag.kind for flag in submission.flags]


def by_id(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def code(source: str, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


HONEST = 'def double(x):\n    """Twice x."""\n    return x + x'
STUB = 'def double(x):\n    """Twice x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'
HALF = 'def half(x):\n    """Half of x."""\n    return 0.5 * x'


# --- honest work -----------------------------------------------------------------------------------------------------


def test_the_plan_of_honest_work_is_the_instructors_order_with_the_students_answers(little: Any) -> None:
    submission = read(little, little.honest())
    assert plan(submission) == [
        ("instructor", None, "import math\n\nimport numpy as np"),
        ("instructor", "setup", "LIMIT = 3"),
        ("student", "double", HONEST),
        ("instructor", "test_double", TEST_DOUBLE),
        ("student", "half", HALF),
        ("instructor", None, "half(3)"),
        ("instructor", "test_half", "assert half(4) == 2"),
    ]
    assert submission.flags == () and submission.rejected == ""
    notebook = submission.notebooks[0]
    assert notebook.attempted == ("double", "half", "explain")
    assert [grade_id for grade_id, _ in notebook.answers] == ["double", "half", "explain", "explore"]
    assert dict(notebook.answers)["explain"] == "Because a half and a half are a whole."


def test_visible_checks_of_an_own_assignment_are_not_run(judged_little: Any) -> None:
    ids = [grade_id for _, grade_id, _ in plan(read(judged_little, judged_little.honest()))]
    assert ids == [None, "setup", "double", "half", None]


@pytest.mark.parametrize(
    "untouched",
    [
        STUB,
        'def double(x):\n\n    """Twice x."""\n    # I do not know\n    raise   NotImplementedError( )\n\n',
        "# YOUR CODE HERE",
        "",
        "\n  \n",
    ],
)
def test_a_stub_with_other_blanks_or_comments_is_not_an_attempt(little: Any, untouched: str) -> None:
    submission = read(little, little.honest(double=untouched, explain="  YOUR  ANSWER HERE\n"))
    assert submission.notebooks[0].attempted == ("half",)


def test_a_task_is_answered_by_the_cells_added_after_it(little: Any) -> None:
    notebook = little.honest()
    notebook["cells"] += [text("I tried *aa*."), code("double('a')")]
    read_back = read(little, notebook).notebooks[0]
    assert "explore" in read_back.attempted
    assert dict(read_back.answers)["explore"] == "I tried *aa*.\n\ndouble('a')"
    assert plan(read(little, notebook))[-1] == ("extra", None, "double('a')")


@pytest.mark.parametrize("above", ["Try it with letters.\n\n", ""])
def test_what_is_typed_into_a_task_is_its_answer_and_is_shown_below_it(little: Any, above: str) -> None:
    notebook = little.honest()
    notebook["cells"][-1]["source"] = f"{above}I tried <b>aa</b>."
    submission = read(little, notebook)
    read_back = submission.notebooks[0]
    assert "explore" in read_back.attempted and dict(read_back.answers)["explore"] == "I tried <b>aa</b>."
    assert [flag.kind for flag in submission.flags] == ["answer-in-task"]
    task, answer = json.loads(read_back.document)["cells"][-2:]
    assert task["source"].startswith("Try it with letters.") and answer["source"] == "I tried < b>aa< /b>."


def test_added_cells_stay_after_the_known_cell_before_them(little: Any) -> None:
    notebook = little.honest()
    notebook["cells"].insert(4, code("helper = 1"))  # after `double`
    notebook["cells"].insert(0, code("first = 1"))
    sources = [source for _, _, source in plan(read(little, notebook))]
    assert sources[0] == "first = 1"
    assert sources[sources.index(HONEST) + 1] == "helper = 1"
    assert read(little, notebook).flags == ()


def test_a_cell_given_as_lines_or_with_windows_line_ends_is_the_same(little: Any) -> None:
    lines, windows = little.honest(), little.honest()
    for cell in lines["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    for cell in windows["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    assert plan(read(little, lines)) == plan(read(little, windows)) == plan(read(little, little.honest()))


def test_cells_of_skipped_ids_are_left_out(make_little: Callable[..., Any]) -> None:
    little = make_little(None, **{"assignment.toml": 'skip = ["half", "test_half"]'})
    assert [g for _, g, _ in plan(read(little, little.honest())) if g] == ["setup", "double", "test_double"]


def two_notebooks(little: Any, one: str, two: str) -> tuple[Assignment, dict[str, bytes]]:
    """`little` as two notebooks, of which the second asks for `treble`, and honest answers to both."""
    source, honest = (little.folder / "little.ipynb").read_text(), little.bytes(little.honest())
    (little.folder / "little.ipynb").unlink()
    (little.folder / one).write_text(source)
    (little.folder / two).write_text(source.replace("double", "treble"))
    return little.load(), {one: honest, two: honest.replace(b"double", b"treble")}


def test_two_notebooks_of_one_assignment_are_both_read(little: Any) -> None:
    assignment, files = two_notebooks(little, "one.ipynb", "two.ipynb")
    submission = read_submission("ada", files, assignment)
    assert [n.name for n in submission.notebooks] == ["one", "two"]
    assert all(n.attempted for n in submission.notebooks)
    one_missing = read_submission("ada", {"one.ipynb": files["one.ipynb"]}, assignment)
    assert [n.name for n in one_missing.notebooks] == ["one"]
    assert kinds(one_missing) == ["missing-notebook"]


def test_a_notebook_is_not_taken_for_another_of_a_similar_name(little: Any) -> None:
    assignment, files = two_notebooks(little, "part1.ipynb", "part12.ipynb")
    submission = read_submission("ada", files, assignment)
    assert [n.attempted[0] for n in submission.notebooks] == ["double", "treble"]
    assert submission.flags == ()


def test_two_renamed_notebooks_are_told_apart_by_what_is_inside(little: Any) -> None:
    assignment, files = two_notebooks(little, "one.ipynb", "two.ipynb")
    swapped = {"first.ipynb": files["two.ipynb"], "second.ipynb": files["one.ipynb"]}
    submission = read_submission("ada", swapped, assignment)
    assert [(n.name, n.attempted[0]) for n in submission.notebooks] == [("one", "double"), ("two", "treble")]


# --- tampering and honest accidents ----------------------------------------------------------------------------------


def change(notebook: dict[str, Any], grade_id: str, **parts: Any) -> None:
    by_id(notebook, grade_id).update(parts)


def move(notebook: dict[str, Any], grade_id: str, to: int) -> None:
    cell = by_id(notebook, grade_id)
    notebook["cells"].remove(cell)
    notebook["cells"].insert(to, cell)


CLAIMS = [
    {"points": 1000},
    {"points": [1]},
    {"grade": False},
    {"solution": True},
    {"schema_version": 99},
    {"task": True},
]
FOUND = [f"found-answer {grade_id}" for grade_id in ("double", "half", "explain")]
BELOW_THE_STUB = ["found-answer double", "duplicate-cell double"]
REPAIRED = ["repaired None"]
SKIP = ["skip-tag test_double"]
EDITED = [f"edited-locked-cell {grade_id}" for grade_id in ("setup", "test_double", "test_half")]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda n: [change(n, g, source="pass") for g in ("setup", "test_double", "test_half")], EDITED),
        (lambda n: n["cells"].remove(by_id(n, "test_double")), ["missing-cell test_double"]),
        (lambda n: move(n, "test_half", 0), ["moved-cell test_half"]),
        (lambda n: change(n, "double", cell_type="raw"), ["changed-metadata double"]),
        (lambda n: change(n, "test_half", cell_type="markdown"), ["changed-metadata test_half"]),
        *(
            (lambda n, c=c: by_id(n, "test_double")["metadata"]["nbgrader"].update(c), ["changed-metadata test_double"])
            for c in CLAIMS
        ),
        (lambda n: by_id(n, "test_double")["metadata"].update(tags=["skip-execution", "harmless"]), SKIP),
        (lambda n: n["cells"].append(code("assert half(4) == 2")), ["duplicate-cell test_half"]),
        # An answer without its id is found by the name it defines, below the untouched stub too.
        (lambda n: [move(n, "double", 99), change(n, "double", metadata={})], ["found-answer double"]),
        (lambda n: [change(n, "double", source=STUB), n["cells"].insert(4, code(HONEST))], BELOW_THE_STUB),
        (lambda n: [cell.update(metadata={}) for cell in n["cells"]], FOUND),
        # The stated version decides nothing.
        (lambda n: n.update(nbformat=4, nbformat_minor=99), []),
        (lambda n: [n.pop("nbformat_minor"), n.update(nbformat=7)], REPAIRED),
        (lambda n: [n.pop("nbformat_minor"), n.update(nbformat="x")], REPAIRED),
        (lambda n: [n.pop("nbformat_minor"), n.pop("nbformat")], REPAIRED),
    ],
)
def test_what_was_changed_is_graded_like_honest_work_and_told(little: Any, edit: Any, told: list[str]) -> None:
    notebook = little.honest()
    edit(notebook)
    submission = read(little, notebook)
    assert plan(submission) == plan(read(little, little.honest()))
    assert submission.notebooks[0].attempted == ("double", "half", "explain")
    assert [f"{flag.kind} {flag.grade_id}" for flag in submission.flags] == told


def test_of_copies_the_last_one_worked_on_counts_and_all_run(little: Any) -> None:
    notebook = little.honest()
    position = notebook["cells"].index(by_id(notebook, "double"))
    first, stub = copy.deepcopy(by_id(notebook, "double")), copy.deepcopy(by_id(little.released(), "double"))
    first["source"] = "def double(x):\n    return 3 * x"
    notebook["cells"][position:position] = [first]
    notebook["cells"].append(stub)
    submission = read(little, notebook)
    runs = [(origin, source) for origin, _, source in plan(submission) if "def double" in source]
    assert runs == [("extra", first["source"]), ("student", HONEST)]
    assert dict(submission.notebooks[0].answers)["double"] == HONEST
    assert "duplicate-cell" in kinds(submission)


def test_a_pasted_tests_cell_written_over_is_the_students_own_cell(little: Any) -> None:
    notebook = little.honest()
    copied = copy.deepcopy(by_id(notebook, "test_double"))
    copied["source"] = "helper = 1"
    notebook["cells"].insert(5, copied)
    submission = read(little, notebook)
    assert ("extra", None, "helper = 1") in plan(submission)
    assert submission.notebooks[0].attempted == ("double", "half", "explain")


def test_an_edited_unlocked_cell_runs_as_edited(little: Any) -> None:
    notebook = little.honest()
    notebook["cells"][1]["source"] += "\nimport random"
    submission = read(little, notebook)
    assert plan(submission)[0] == ("extra", None, "import math\n\nimport numpy as np\nimport random")
    assert kinds(submission) == ["edited-cell"]
    assert plan(submission)[1:] == plan(read(little, little.honest()))[1:]


def test_a_written_answer_without_its_id_is_found_by_its_place(little: Any) -> None:
    notebook = little.honest()
    by_id(notebook, "explain")["metadata"] = {}
    submission = read(little, notebook)
    assert dict(submission.notebooks[0].answers)["explain"] == "Because a half and a half are a whole."
    assert "explain" in submission.notebooks[0].attempted


RENAMED = ["little (1).ipynb", "Copy of little.ipynb", "LITTLE.IPYNB", "little-Copy2.ipynb", "little.ipynb.txt",
           "a/little.ipynb", "little_final.ipynb", "something else.ipynb", "Untitled.ipynb",
           "little.ipynb (2).json"]  # fmt: skip


@pytest.mark.parametrize("name", RENAMED)
def test_a_renamed_notebook_is_found_and_told(little: Any, name: str) -> None:
    submission = read(little, little.honest(), name)
    assert not submission.rejected
    assert kinds(submission) == ["renamed"]
    assert plan(submission) == plan(read(little, little.honest()))


def test_names_of_other_assignments_do_not_resemble() -> None:
    others = (("a10_numpy", "a1_numpy"), ("a2_autograd", "a1_numpy"), ("", "a1"), ("problem12", "problem1"))
    assert not [pair for pair in (*others, ("subproblem1", "problem1")) if resembles(*pair)]
    assert resembles("problem1 2", "problem1") and resembles("Copy of A1_numpy (3)", "a1_numpy")


def test_the_worked_on_copy_is_taken_where_the_exact_name_is_untouched_or_broken(little: Any) -> None:
    for exact in (little.bytes(little.released()), b"{"):
        submission = read(little, exact, **{"little (1).ipynb": little.bytes(little.honest())})
        assert submission.notebooks[0].attempted == ("double", "half", "explain")
        assert kinds(submission) == ["renamed", "several-notebooks"]


# --- files that are no notebook of this assignment -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "Nothing was handed in"),
        ({"notes.pdf": b"%PDF"}, "only notes.pdf"),
        ({"little.ipynb": b""}, "empty"),
        ({"little.ipynb": b"\x00\x00"}, "nothing but blanks"),
        ({"little.ipynb": b"{"}, "cut off"),
        ({"little.ipynb": b"[]"}, "not an object"),
        ({"little.ipynb": b'{"cells": 3}'}, "no list of cells"),
        ({"little.ipynb": b'{"cells": []}'}, "no cells"),
        ({"little.ipynb": b'{"cells": [3]}'}, "Cell 1 is a float"),
        ({"little.ipynb": b'{"cells": [{"cell_type": "code", "source": 5}]}'}, "source of cell 1 is a float"),
        ({"little.ipynb": b'{"cells": [{"cell_type": "code", "source": ["a", 5]}]}'}, "source of cell 1 is a list"),
        ({"little.ipynb": b'{"cells": [{"cell_type": "code", "source": "other = 1"}]}'}, "shares no cell"),
        ({"other.ipynb": b'{"cells": [{"cell_type": "code", "source": "other = 1"}]}'}, "shares no cell"),
        ({"little.ipynb": b"\xff\xfe{\x00\x00\xd8"}, "not text"),
        ({"little.ipynb": b"PK\x03\x04"}, "not a notebook"),
    ],
)
def test_what_is_no_notebook_is_rejected_with_the_reason(little: Any, files: dict[str, bytes], reason: str) -> None:
    submission = read_submission("ada", files, little.load())
    assert reason in submission.rejected
    assert submission.rejected.endswith((".", "?"))
    assert submission.notebooks == ()


def test_a_file_that_cannot_be_read_rejects_with_the_systems_words(little: Any) -> None:
    class Failing(dict[str, bytes]):
        def __getitem__(self, name: str) -> bytes:
            raise PermissionError(13, "Permission denied")

    submission = read_submission("ada", Failing({"little.ipynb": b""}), little.load())
    assert "Permission denied" in submission.rejected


# --- repairs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_other_encodings_of_unicode_lose_nothing(little: Any, encoding: str) -> None:
    notebook = little.honest(double=HONEST + "  # zwölf ½ 🙂")
    data = json.dumps(notebook, ensure_ascii=False).encode(encoding)
    submission = read(little, data)
    assert ("student", "double", HONEST + "  # zwölf ½ 🙂") in plan(submission)
    assert kinds(submission) == ["repaired"]


def test_bytes_that_are_no_text_matter_only_where_they_count(little: Any) -> None:
    assert kinds(read(little, little.bytes(little.honest()) + b"\x00" * 512)) == ["repaired"]
    notebook = little.honest(double=HONEST + "  # K")
    notebook["cells"][0]["source"] = "K"
    in_comment = json.dumps(notebook).encode().replace(b"K", b"\xe9")
    assert kinds(read(little, in_comment)) == ["repaired"]
    in_string = json.dumps(little.honest(double=HONEST + "\nname = 'K'")).encode().replace(b"K", b"\xe9")
    rejected = read(little, in_string).rejected
    assert "Cell 4" in rejected and "line 4" in rejected


def test_half_a_character_in_a_comment_is_repaired_and_two_halves_are_one(little: Any) -> None:
    data = little.bytes(little.honest(double=HONEST + "  # X Y"))
    data = data.replace(b"X", rb"\ud83d").replace(b"Y", rb"\ud83d\ude42")
    sources = [source for _, grade_id, source in plan(read(little, data)) if grade_id == "double"]
    assert sources == [HONEST + "  # \ufffd 🙂"]


# --- size and time ---------------------------------------------------------------------------------------------------


def read_soon(little: Any, data: bytes) -> Submission:
    assignment = little.load()
    began = time.process_time()
    submission = read_submission("ada", {"little.ipynb": data}, assignment)
    # Alone it takes 3 s at most, beside others on a busy machine twice that; quadratic work would take minutes.
    assert time.process_time() - began < 20, "seconds of CPU in which any submission is read"
    return submission


HUGE = {
    "deep lists": b'{"cells": [], "metadata": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "only opening": b"[" * 30_000_000,
    "only closing": b"]" * 30_000_000,
    "only quotes": b'"' * 60_000_000,
    "only backslashes": b'{"a": "' + b"\\" * 60_000_000,
    "only commas": b"[" + b"," * 30_000_000,
    "empty lists": b"[" + b"[]," * 10_000_000 + b"1]",
    "one number": b'{"cells": ' + b"9" * 30_000_000 + b"}",
    "one fraction": b'{"cells": 0.' + b"3" * 30_000_000 + b"}",
    "blanks": b" " * 60_000_000,
    "too large": b" " * ((64 << 20) + 1),
    "many cells": b'{"cells": [' + b'{"cell_type": "code", "source": "x"},' * 99_999 + b"{}]}",
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_files_are_rejected_soon(little: Any, name: str) -> None:
    assert read_soon(little, HUGE[name]).rejected


HARD_CODE = {
    "nested brackets": "x = " + "(" * 45_000 + ")" * 45_000,
    "minus signs": "x = " + "-" * 95_000 + "1",
    "a long chain": "x = a" + ".a" * 45_000,
    "a long sum": "x = 1" + "+1" * 45_000,
    "many assignments": "x=1\n" * 24_000,
    "many names": "\n".join(f"def f{n}(): pass" for n in range(5_000)),
    "blanks": " " * 95_000 + "!",
    "question marks": "?" * 95_000,
    "questions and blanks": "? " * 45_000 + "x",
    "magics": "!ls\n%time x\n" * 7_000,
    "assigned magics": "a a a = " * 11_000 + "!ls",
    "an open string": '"""' + "\n" * 95_000,
    "quotes": "'" * 95_001,
    "f-strings": "f'" + "{" * 45_000,
    "indents": "\n".join(" " * n + "if x:" for n in range(400)),
    "imports": "import a, " * 9_000,
    "unparsable imports": "(\n" + "import torch; " * 6_500,
}


@pytest.mark.parametrize("name", HARD_CODE)
def test_code_that_is_hard_to_look_at_is_read_soon(judged_little: Any, name: str) -> None:
    source = HARD_CODE[name]
    notebook = judged_little.honest(double=source)
    notebook["cells"] += [code(source + f"\n#torch {n}") for n in range(4)]
    assert not read_soon(judged_little, judged_little.bytes(notebook)).rejected


def test_many_unknown_cells_are_matched_soon(little: Any) -> None:
    cells = [code(f"import math\nx = {n}" * 20) for n in range(1_900)]
    read_soon(little, little.bytes(little.honest() | {"cells": cells}))


def test_too_much_code_or_text_is_rejected(little: Any) -> None:
    assert "characters of code" in read(little, little.honest(double="x" * 3_000_000)).rejected
    assert "characters of text" in read(little, little.honest(explain="x" * 9_000_000)).rejected


def test_findings_are_bounded(little: Any) -> None:
    notebook = little.honest()
    notebook["cells"] += [copy.deepcopy(by_id(notebook, "setup")) | {"source": f"LIMIT = {n}"} for n in range(900)]
    by_id(notebook, "setup")["source"] = "LIMIT = 5"
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] = cell["metadata"] | {"tags": ["skip-execution"], "n": number}
        cell["metadata"].setdefault("nbgrader", {"grade_id": "double", "points": number})
    assert len(read(little, notebook).flags) <= MAX_FLAGS + 1


# --- what is dropped, forbidden and shown ----------------------------------------------------------------------------


GIVEN = {"given.csv": "1", "tools.py": "x = 1", "data/train.csv": "2"}


@pytest.mark.parametrize(
    ("handed_in", "kept", "dropped"),
    [
        # Students' own files stay, where their notebook lies.
        ({"mine.csv": b"3", "helper.py": b""}, {"mine.csv", "helper.py"}, {}),
        ({"data/mine.csv": b"", "data/load.py": b"", "pack/__init__.py": b""}, None, {}),
        # What was handed out and comes back is nothing to tell; what editors leave behind neither.
        ({"given.csv": b"1", "data/train.csv": b"2", "timestamp.txt": b"", "__pycache__/a.pyc": b""}, set(), {}),
        # The instructor's own counts, under its name, as a module of its name, and as a folder or file of its name.
        ({"given.csv": b"9"}, set(), {"dropped-file": "given.csv"}),
        ({"tools/__init__.py": b"x = 2", "tools.so": b""}, set(), {"dropped-file": "tools.so, tools/__init__.py"}),
        ({"data": b"", "given.csv/x": b""}, set(), {"dropped-file": "data, given.csv/x"}),
        ({"a" * 300: b""}, set(), {"dropped-file": "aaa"}),
        # Nothing stands in for an installed module.
        ({"torch.py": b"", "numpy/__init__.py": b"", "x.pth": b""}, set(), {"shadow-module": "numpy/__init__.py"}),
    ],
)
def test_a_students_own_files_stay_where_they_replace_nothing(
    make_little: Any, handed_in: dict[str, bytes], kept: set[str] | None, dropped: dict[str, str]
) -> None:
    little = make_little(None, **GIVEN)
    files = {"little.ipynb": little.bytes(little.honest())} | handed_in
    flags = {flag.kind: flag.message for flag in read_submission("ada", files, little.load()).flags}
    assert set(own_files(files, little.load())) == (set(handed_in) if kept is None else kept)
    assert flags.keys() == dropped.keys() and all(name in flags[kind] for kind, name in dropped.items())


def test_own_files_lie_beside_the_notebook_and_change_the_digest(little: Any) -> None:
    files = {"hw/little.ipynb": little.bytes(little.honest()), "hw/a.csv": b"near", "a.csv": b"far", "b.csv": b"2"}
    assert own_files(files, little.load()) == {"a.csv": b"near", "b.csv": b"2"}
    digests = {read_submission("ada", files | {"b.csv": text}, little.load()).digest for text in (b"2", b"3")}
    assert len(digests) == 2


def test_own_files_are_bounded_in_number_and_size(little: Any) -> None:
    many = {f"{n:03}.csv": 10 for n in range(99)} | {"large.bin": 1 << 30}
    assert own_names(many, little.load()) == sorted(many)[:MAX_OWN_FILES]
    assert own_names({"large.bin": 1 << 30, "small.bin": 9}, little.load()) == ["small.bin"]


def test_a_forbidden_import_in_a_file_of_ones_own_is_found_and_so_is_who_imports_that(judged_little: Any) -> None:
    answer = judged_little.honest(double=f"{HONEST}\nfrom outer import helper")
    files = {"inner.py": b"import torch", "outer.py": b"import inner", "other.py": b"import math"}
    submission = read(judged_little, answer, "little.ipynb", **files)
    assert [(f.kind, f.grade_id, f.message.split(", which")[0]) for f in submission.flags] == [
        ("forbidden-import", None, "The file inner.py imports torch"),
        ("forbidden-import", None, "The file outer.py imports inner"),
        ("forbidden-import", "double", "The answer 'double' imports outer"),
    ]


FORBIDDEN = ["import torch", "import numpy as np, torch.nn as nn", "from torch.nn import functional",
             "importlib.import_module('torch')", "__import__('torch')", "sys.modules['torch']",
             "sys.modules.get('torch.nn')", "exec('import torch')", "%time x = 1\nimport torch",
             "%%time\nimport torch", "files = !ls\nimport torch", "torch?\nimport torch",
             "import torch\nthis does not parse",
             "def f():\n    try:\n        import torch\n    except ImportError:\n        pass"]  # fmt: skip


@pytest.mark.parametrize("line", FORBIDDEN)
def test_a_forbidden_import_is_flagged_where_it_stands(judged_little: Any, line: str) -> None:
    submission = read(judged_little, judged_little.honest(double=f"{HONEST}\n{line}" if line[:2] != "%%" else line))
    assert [(f.kind, f.grade_id) for f in submission.flags] == [("forbidden-import", "double")]


@pytest.mark.parametrize(
    "line", ["# import torch", "torchlight = 1", "'import torch'", "import torchlight", "from . import torch"]
)
def test_what_only_looks_like_a_forbidden_import_is_not_flagged(judged_little: Any, line: str) -> None:
    assert read(judged_little, judged_little.honest(double=f"{HONEST}\n{line}")).flags == ()


def test_a_forbidden_module_is_flagged_in_the_added_cell_that_imports_it_and_the_answer_that_uses_it(
    judged_little: Any,
) -> None:
    notebook = judged_little.honest(double="def double(x):\n    return float(t.tensor(x) * 2)")
    notebook["cells"].insert(0, code("import torch as t"))
    flags = read(judged_little, notebook).flags
    assert [(f.kind, f.grade_id) for f in flags] == [("forbidden-import", None), ("forbidden-import", "double")]


def test_the_document_is_a_valid_notebook_with_the_instructors_metadata(little: Any) -> None:
    notebook = little.honest()
    raw = {"cell_type": "raw", "metadata": {"format": "text/html"}, "source": "<b>"}
    notebook["cells"] += [text("mine"), code("1"), raw]
    document = nbformat.reads(read(little, notebook).notebooks[0].document, as_version=4)
    nbformat.validate(document)
    assert (document.nbformat, document.nbformat_minor) == (4, 5)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in document.cells]
    assert [i for i in ids if i] == [c.grade_id for c in little.load().notebooks[0].cells if c.grade_id]
    assert all(not cell.get("outputs") and "attachments" not in cell for cell in document.cells)
    assert "raw" not in {cell.cell_type for cell in document.cells}


def test_the_documents_checksums_are_nbgraders(little: Any) -> None:
    from nbgrader.nbgraderformat import MetadataValidator
    from nbgrader.utils import compute_checksum, determine_grade

    document = nbformat.reads(read(little, little.released()).notebooks[0].document, as_version=4)
    MetadataValidator().validate_nb(document)
    for cell in document.cells:
        if "nbgrader" in cell.metadata:
            assert cell.metadata.nbgrader.checksum == compute_checksum(cell)
    manual = next(c for c in document.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "explain")
    assert determine_grade(manual) == (0, 1.0)


def test_no_tag_of_the_students_prose_reaches_the_document(little: Any) -> None:
    evil = "<script>alert(1)</script> <img src=x onerror=alert(1)> a<b, 1 < 2"
    notebook = little.honest(explain=evil)
    notebook["cells"] += [text(evil), {"cell_type": "raw", "metadata": {}, "source": evil}]
    submission = read(little, notebook)
    assert "<script" not in submission.notebooks[0].document
    assert "<img" not in submission.notebooks[0].document
    assert "1 < 2" in submission.notebooks[0].document
    assert dict(submission.notebooks[0].answers)["explain"] == evil


def test_no_solution_of_the_instructors_reaches_a_submission_and_it_survives_json(little: Any) -> None:
    for notebook in (little.released(), {**little.released(), "cells": little.released()["cells"][:2]}):
        submission = read(little, notebook)
        data = json.dumps(to_data(submission))
        assert "return 2 * x" not in data
        assert from_data(Submission, json.loads(data)) == submission


def test_the_digest_follows_the_bytes(little: Any) -> None:
    honest = little.bytes(little.honest())
    one, same, other = (read(little, data).digest for data in (honest, honest, honest + b" "))
    assert one == same != other and len(one) == 64


# --- anything at all -------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
IDS = st.fixed_dictionaries({"grade_id": st.sampled_from(["double", "half", "explain", "test_half"])})
CELL_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "odd", 3, None]),
        "source": st.text(max_size=80) | st.lists(st.text(max_size=20), max_size=3) | JSON,
        "metadata": JSON | st.fixed_dictionaries({"nbgrader": JSON | IDS}, optional={"tags": JSON}),
        "outputs": JSON,
        "id": JSON,
    },
)
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def read_whatever(little: Any) -> Callable[[bytes], None]:
    """Reads one submission after the other, and holds what is true of every one that is read."""
    assignment = little.load()

    def read_one(data: bytes) -> None:
        submission = read_submission("ada", {"little.ipynb": data}, assignment)
        json.dumps(to_data(submission)).encode()
        for flag in submission.flags:
            flag.message.encode()
        assert len(submission.notebooks) == (0 if submission.rejected else 1)
        for notebook in submission.notebooks:
            nbformat.validate(nbformat.reads(notebook.document, as_version=4))
            locked = (c for c in assignment.notebooks[0].cells if c.role in (Role.TESTS, Role.LOCKED))
            fixed = [c.source for c in locked if c.kind == "code"]
            ours = (c for c in notebook.plan if c.origin == "instructor" and c.grade_id not in ("double", "half"))
            assert [c.source for c in ours if c.source in fixed] == fixed
            named = [c.grade_id for c in notebook.plan if c.grade_id]
            assert len(named) == len(set(named))
            assert [i for i, _ in notebook.answers] == ["double", "half", "explain", "explore"]
            for text in (notebook.document, *(c.source for c in notebook.plan), *(a for _, a in notebook.answers)):
                text.encode()

    return read_one


@pytest.fixture
def honest_bytes(little: Any) -> bytes:
    return little.bytes(little.honest())


@FUZZ
@given(data=st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_without_an_exception(read_whatever: Any, data: bytes) -> None:
    read_whatever(data)


@FUZZ
@given(cells=st.lists(CELL_PARTS, max_size=8), seed=st.integers(0, 2**32))
def test_any_cells_among_the_honest_ones_are_read_without_an_exception(
    read_whatever: Any, honest_bytes: bytes, cells: list[Any], seed: int
) -> None:
    notebook = json.loads(honest_bytes)
    notebook["cells"] += cells
    random.Random(seed).shuffle(notebook["cells"])
    read_whatever(json.dumps(notebook).encode())


@FUZZ
@given(seed=st.integers(0, 2**32), count=st.integers(1, 30))
def test_a_notebook_with_random_bytes_changed_is_read_without_an_exception(
    read_whatever: Any, honest_bytes: bytes, seed: int, count: int
) -> None:
    dice, data = random.Random(seed), bytearray(honest_bytes)
    for _ in range(count):
        position = dice.randrange(len(data))
        data[position : position + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
    read_whatever(bytes(data))


def test_a_reset_after_the_last_answer_is_not_run_but_looked_through(make_little: Any, little_cells: list[Any]) -> None:
    without_task = make_little(little_cells[:-1], **{"checks.py": "", "assignment.toml": 'forbidden = ["torch"]\n'})
    notebook = without_task.honest()
    before = plan(read(without_task, notebook))
    notebook["cells"] += [code("print(double(2))"), code("import torch\n%reset -f")]
    submission = read(without_task, notebook)
    assert "forbidden-import" in [flag.kind for flag in submission.flags]
    assert plan(submission) == [*before, ("extra", None, "print(double(2))")], "the answers are there to be called"
    assert "%reset -f" in submission.notebooks[0].document, "a person still sees it"
