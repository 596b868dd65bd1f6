"""Each way in which a notebook is not fit to hand in is found and named, with the next step; honest work is fit."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from course_lib.__main__ import main
from course_lib.student import handin
from course_lib.student.findings import Finding, Level, healthy, table

STUB = "def {name}(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
Cells = list[dict[str, Any]]


def _cell(source: str, grade_id: str = "", kind: str = "code", **nbgrader: Any) -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id, "grade": False, "solution": False, **nbgrader}} if grade_id else {}
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": grade_id or "x", "metadata": metadata, "source": source, **code}


def _release() -> Cells:
    return [
        _cell("# Assignment", kind="markdown"),
        _cell('if find_spec("course_lib") is None:\n    %pip install -q course_lib'),
        _cell(STUB.format(name="relu"), "relu", solution=True),
        _cell("checks.relu(relu)", "test_relu", grade=True, points=2),
        _cell(STUB.format(name="softmax"), "softmax", solution=True),
        _cell("checks.softmax(softmax)", "test_softmax", grade=True, points=2),
    ]


def _solved() -> Cells:
    cells = _release()
    cells[2]["source"] = "def relu(x):\n    return np.maximum(x, 0)"
    cells[4]["source"] = "def softmax(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()"
    for count, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), start=1):
        cell["execution_count"] = count
    return cells


def _write(path: Path, cells: Cells) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return _write(tmp_path / "notebooks" / "release" / "a0_demo" / "a0_demo.ipynb", _release())


def _inspect(tmp_path: Path, release: Path, cells: Cells) -> dict[str, Finding]:
    findings = handin.inspect(_write(tmp_path / "mine" / "a0_demo.ipynb", cells), release)
    return {finding.subject: finding for finding in findings}


@pytest.mark.parametrize("as_lines", [False, True], ids=["sources", "lists of lines"])
def test_finished_work_is_fit_and_every_line_is_ok(tmp_path: Path, release: Path, as_lines: bool) -> None:
    cells = [{**c, "source": c["source"].splitlines(keepends=True) if as_lines else c["source"]} for c in _solved()]
    found = _inspect(tmp_path, release, cells)
    assert {finding.level for finding in found.values()} == {Level.OK}, table(list(found.values()))


def _without(*names: str) -> Cells:
    return [cell for cell in _solved() if cell["metadata"].get("nbgrader", {}).get("grade_id") not in names]


def _with(grade_id: str, **changes: Any) -> Cells:
    cells = _solved()
    [cell] = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id]
    cell.update(changes)
    return cells


def _extra(source: str) -> Cells:
    return [*_solved(), {**_cell(source), "execution_count": 9}]


def _text(words: str) -> dict[str, Any]:
    return {"output_type": "stream", "text": words}


ERROR = {"output_type": "error", "ename": "NameError", "evalue": "name 'e' is not defined", "traceback": []}

CASES = {
    "a cell deleted": (_without("softmax"), "missing", Level.STOP, "softmax. Copy the cell back"),
    "a test cell deleted": (_without("test_softmax"), "missing", Level.STOP, "test_softmax"),
    "no marks left": ([_cell("x = 1")], "missing", Level.STOP, "Is this the right notebook?"),
    "a cell copied": ([*_solved(), copy.deepcopy(_solved()[2])], "grade cells", Level.STOP, "doubled: relu."),
    "nothing done": (_release(), "untouched", Level.STOP, "every exercise is as it was handed out"),
    "one left": (_with("softmax", source=STUB.format(name="softmax")), "untouched", Level.LOOK, "softmax:"),
    "the raise kept": (
        _with("relu", source="def relu(x):\n    y = x * (x > 0)\n    raise NotImplementedError()\n    return y"),
        "untouched", Level.LOOK, "relu:"),
    "a check changed": (_with("test_relu", source="pass"), "locked", Level.LOOK, "test_relu: changed"),
    "broken Python": (_with("relu", source="def relu(x):\n    return (x"), "syntax", Level.STOP, "relu (line 2)"),
    "an install": (_extra("!pip install torch"), "installs", Level.LOOK, "no network"),
    "a Drive path": (_extra("open('/content/drive/MyDrive/x')"), "paths", Level.LOOK, "/content/drive/MyDrive/x"),
    "a Windows path": (_extra(r"open(r'C:\Users\me\x.npy')"), "paths", Level.LOOK, "relative path"),
    "run out of order": (_with("relu", execution_count=7), "order", Level.LOOK, "test_relu: run before the cell above"),
    "a cell not run": (_with("softmax", execution_count=None), "order", Level.LOOK, "not run: softmax"),
    "an error left": (_with("test_softmax", outputs=[ERROR]), "outputs", Level.LOOK, "test_softmax (NameError)"),
    "much output": (_with("relu", outputs=[_text("x" * 3_000_000)]), "size", Level.LOOK, "large"),
    "far too much": (_with("relu", outputs=[_text("x" * 21_000_000)]), "size", Level.STOP, "Clear"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_is_found_and_named_and_nothing_else_is_called_broken(tmp_path: Path, release: Path, case: str) -> None:
    cells, subject, level, words = CASES[case]
    found = _inspect(tmp_path, release, cells)
    assert found[subject].level is level, found[subject]
    assert words in found[subject].text
    others = [finding for name, finding in found.items() if finding.level is Level.STOP and name != subject]
    assert others == []


@pytest.mark.parametrize("source", [
    "%matplotlib inline\nx = 1", "!ls\nfiles = !ls\nt = %timeit -o f()", "np.exp?", "%%bash\necho (", "x = (17\n% 5)",
    "await something()", "f(1,  # really?\n  2)",
])  # fmt: skip
def test_what_ipython_understands_is_not_called_broken(tmp_path: Path, release: Path, source: str) -> None:
    assert _inspect(tmp_path, release, _extra(source))["syntax"].level is Level.OK


@pytest.mark.parametrize(("content", "words"), [
    (b"", "no valid JSON"), (b"PK\x03\x04\xff\xfe", "no valid JSON"), (b"[]", "not a notebook of format 4"),
    (b'{"worksheets": []}', "not a notebook of format 4"), (b'{"cells": [1]}', "not a notebook of format 4"),
    (b'{"cells": []}', "without cells"), (b"[" * 100_000, "no valid JSON"),
])  # fmt: skip
def test_what_is_no_notebook_is_said_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a0_demo.ipynb").write_bytes(content)
    [finding] = handin.inspect(tmp_path / "a0_demo.ipynb")
    assert finding.level is Level.STOP and words in finding.text


@pytest.mark.parametrize("cell", [
    {},
    {"cell_type": "code"},
    {"cell_type": "code", "source": 3, "metadata": [], "outputs": 4},
    {"cell_type": "code", "source": [1, None], "metadata": {"nbgrader": "yes"}, "outputs": ["x", {}]},
    {"cell_type": "code", "source": "x", "execution_count": "first", "outputs": [{"output_type": "error"}]},
])  # fmt: skip
def test_an_odd_cell_never_raises(tmp_path: Path, release: Path, cell: dict[str, Any]) -> None:
    assert _inspect(tmp_path, release, [*_solved(), cell])


def test_the_release_is_found_by_the_name_that_a_download_gets_and_the_longest_is_meant(
    tmp_path: Path, release: Path
) -> None:
    longer = _write(tmp_path / "notebooks" / "release" / "a0_demo_two" / "a0_demo_two.ipynb", _release())
    for name in ("a0_demo.ipynb", "a0_demo (1).ipynb", "a0_demo-final.ipynb", "a0_demo_Ada.ipynb"):
        assert handin.find_release(tmp_path / "downloads" / name) == release, name
    assert handin.find_release(tmp_path / "a0_demo_two (2).ipynb") == longer


def test_without_a_release_it_says_that_nothing_was_compared(tmp_path: Path) -> None:
    findings = handin.inspect(_write(tmp_path / "unheard_of.ipynb", _solved()))
    [release] = [finding for finding in findings if finding.subject == "release"]
    assert release.level is Level.LOOK and "--release PATH" in release.text and healthy(findings)


def test_the_command_exits_with_0_where_work_is_fit_1_where_it_is_not_2_where_it_is_used_wrongly(
    tmp_path: Path, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(_write(tmp_path / "a0_demo.ipynb", _solved()))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Fit to hand in."
    mine = _write(tmp_path / "elsewhere" / "work.ipynb", _without("softmax"))
    assert main(["doctor", str(mine), "--release", str(release)]) == 1
    out = capsys.readouterr().out
    assert "stop  missing" in out and out.splitlines()[-1] == "Mend the lines marked `stop` first."
    assert main(["doctor", "no_such.ipynb"]) == 1
    assert "no such file" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        main(["operate"])
    assert stopped.value.code == 2


@pytest.mark.slow
def test_without_a_notebook_the_set_up_is_examined(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(" All set.")
