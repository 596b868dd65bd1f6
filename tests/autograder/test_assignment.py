"""The instructor's side, read as nbgrader means it; contradictions refused with a sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import digest, known_assignments, load_assignment
from autograder.errors import BadAssignment, WrongUse
from autograder.records import Cell, Limits, Notebook, Role


def roles(little: Any) -> dict[str, Role]:
    return {cell.grade_id: cell.role for cell in little.load().notebooks[0].cells if cell.grade_id}


def test_roles_points_order_and_kernel_are_the_sources(little: Any) -> None:
    assert roles(little) == {
        "setup": Role.LOCKED,
        "double": Role.SOLUTION,
        "test_double": Role.TESTS,
        "half": Role.SOLUTION,
        "test_half": Role.TESTS,
        "explain": Role.MANUAL,
        "explore": Role.TASK,
    }
    notebook = little.load().notebooks[0]
    points = [("test_double", 2.0), ("test_half", 3.0), ("explain", 1.0), ("explore", 2.0)]
    assert [(c.grade_id, c.points) for c in notebook.graded()] == points
    assert notebook.kernel_name == "python3"


def test_a_tests_cell_grades_the_solutions_before_it_and_a_second_one_the_same() -> None:
    roles = {"s": Role.SOLUTION, "t": Role.TESTS, "m": Role.MANUAL, "l": Role.LOCKED}
    order = ["t0", "s1", "l1", "s2", "t1", "l2", "t2", "m1", "t3", "s3", "t4", "s4"]
    notebook = Notebook("n", tuple(Cell("code", "", roles[name[0]], name) for name in order))
    graded = {name: "".join(c.grade_id or "" for c in notebook.solutions_of(name)) for name in order}
    assert graded == {
        **{"t0": "", "t1": "s1s2", "t2": "s1s2", "t3": "s1s2", "t4": "s3"},
        **{name: name for name in order if name[0] != "t"},
    }


def test_released_text_holds_no_solution_hidden_test_or_mark_scheme(little: Any) -> None:
    cells = {cell.grade_id: cell for cell in little.load().notebooks[0].cells}
    assert "return 2 * x" in cells["double"].source
    assert cells["double"].released.endswith("    # YOUR CODE HERE\n    raise NotImplementedError()")
    assert cells["test_double"].released.strip() == "assert double(2) == 4"
    assert cells["explain"].released == "YOUR ANSWER HERE"
    assert cells["explore"].released.strip() == "Try it with letters."
    assert cells[None].released == cells[None].source


def test_a_folder_with_checks_is_one_of_ours(make_little: Callable[..., Any]) -> None:
    ours = make_little(None, **{"checks.py": "", "probes.py": "", "faults.py": ""}).load()
    assert ours.checks and ours.probes and ours.faults


def test_files_beside_the_notebook_are_public_but_not_the_instructors(make_little: Callable[..., Any]) -> None:
    hidden = ("checks.py", "probes.py", "bank/one.py", "assignment.toml", ".hidden", "__pycache__/a.pyc")
    public = {"data.csv": "1,2", "sub/more.csv": "3", "sub/__pycache__/b.pyc": ""}
    little = make_little(None, **dict.fromkeys(hidden, ""), **public)
    files = [path.relative_to(little.folder).as_posix() for path in little.load().files]
    assert files == ["data.csv", "sub/more.csv"]


def test_settings_are_read(make_little: Callable[..., Any]) -> None:
    toml = 'forbidden = ["torch"]\nforbidden_scores_zero = true\nskip = ["half"]\n[limits]\ncell_s = 5\nprocesses = 9\n'
    found = make_little(None, **{"assignment.toml": toml}).load()
    assert (found.forbidden, found.forbidden_scores_zero, found.skip) == (("torch",), True, ("half",))
    assert found.limits == Limits(cell_s=5.0, processes=9)


@pytest.mark.parametrize(
    ("config", "toml", "limits"),
    [
        ("c.ExecutePreprocessor.timeout = 600", "", Limits(cell_s=600, notebook_s=6000)),
        ("c.ExecutePreprocessor.timeout = 5\nc.Execute.timeout = 2 * 10", "", Limits(cell_s=20)),
        ("c.Execute.timeout = None\nc.Exchange.timeout = 7", "", Limits()),
        ("c.Execute.timeout = 600", "[limits]\ncell_s = 7", Limits(cell_s=7, notebook_s=6000)),
        ("raise SystemExit('it was run')", "", Limits()),
    ],
)
def test_a_foreign_courses_timeout_is_read_and_its_configuration_not_run(
    make_little: Callable[..., Any], config: str, toml: str, limits: Limits
) -> None:
    little = make_little(None, **{"assignment.toml": toml})
    before = digest(little.load())
    (little.folder.parent / "nbgrader_config.py").write_text(f"c = get_config()\n{config}\n")
    assert little.load().limits == limits
    assert (digest(little.load()) == before) is (limits == Limits())
    (little.folder / "checks.py").touch()  # one of ours, beside a foreign course
    assert little.load().limits.notebook_s == Limits().notebook_s


@pytest.mark.parametrize(
    "config", ["c.Execute.timeout = minutes(3)", "c.Execute.timeout = '60'", "c.Execute.timeout ="]
)
def test_a_timeout_that_is_no_plain_number_is_refused(make_little: Callable[..., Any], config: str) -> None:
    little = make_little(None)
    (little.folder.parent / "nbgrader_config.py").write_text(config)
    with pytest.raises(BadAssignment, match="plain number of seconds"):
        little.load()


@pytest.mark.parametrize(
    ("toml", "finding"),
    [
        ("forbiden = []", "Did you mean 'forbidden'"),
        ("color = 1", "unknown key 'color'"),
        ("forbidden = 'torch'", "list of names"),
        ("forbidden_scores_zero = 1", "true or false"),
        ("skip = ['nothing']", "'nothing'"),
        ("keras_backend = 'theano'", "must be one of tensorflow, torch, jax, numpy"),
        ("[limits]\ncells = 3", "unknown key 'cells'"),
        ("[limits]\ncell_s = -1", "above 0"),
        ("[limits]\ncell_s = nan", "above 0"),
        ("[limits]\ncell_s = 0", "above 0"),
        ("[limits]\nprocesses = 2.5", "whole number"),
        ("[limits]\nprocesses = true", "whole number"),
        ("limits = 3", "table"),
        ("skip = [", "cannot be read"),
    ],
)
def test_wrong_settings_are_refused_by_name(make_little: Callable[..., Any], toml: str, finding: str) -> None:
    little = make_little(None, **{"assignment.toml": toml})
    with pytest.raises(BadAssignment, match=finding):
        little.load()


def edited(little: Any, change: Callable[[list[Any]], None]) -> Any:
    path = little.folder / "little.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook["cells"])
    path.write_text(json.dumps(notebook))
    return little


@pytest.mark.parametrize(
    ("number", "change", "finding"),
    [
        (6, {"grade_id": "double"}, "'double' is used by two cells"),
        (4, {"points": None}, "'test_double' is graded but has no points"),
        (10, {"points": None}, "'explore' is graded but has no points"),
        (4, {"points": -1}, "number from 0 upwards"),
        (4, {"points": float("nan")}, "number from 0 upwards"),
        (4, {"points": float("inf")}, "number from 0 upwards"),
        (4, {"grade_id": None}, "no grade_id"),
        (4, {"schema_version": 99}, "nbgrader refuses"),
        (9, {"solution": False}, "nbgrader refuses"),
        (3, "### BEGIN SOLUTION\npass", "no end solution"),
        (7, "### BEGIN SOLUTION\n### END SOLUTION", "non-solution cell"),
        (4, "### AUTOTEST double(2)", "tests nothing before"),
        (4, 5, "cannot be read as a notebook"),
    ],
)
def test_a_source_that_contradicts_itself_is_refused(little: Any, number: int, change: Any, finding: str) -> None:
    """`change`: of the metadata of a cell, where None takes it away, or another source."""

    def contradict(cells: list[Any]) -> None:
        if not isinstance(change, dict):
            cells[number]["source"] = change
            return
        meta = cells[number]["metadata"]["nbgrader"] | change
        cells[number]["metadata"]["nbgrader"] = {key: value for key, value in meta.items() if value is not None}

    with pytest.raises(BadAssignment, match=finding):
        edited(little, contradict).load()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_metadata_schemas_are_read(little: Any, version: int) -> None:
    def older(cells: list[Any]) -> None:
        del cells[10]  # tasks exist since version 3
        for cell in cells:
            meta = cell["metadata"].get("nbgrader")
            if meta:
                meta["schema_version"] = version
                if version < 3:
                    del meta["task"]

    assert roles(edited(little, older))["test_half"] is Role.TESTS


def test_a_broken_source_names_the_file(little: Any) -> None:
    (little.folder / "little.ipynb").write_text("{")
    with pytest.raises(BadAssignment, match=r"little\.ipynb"):
        little.load()


def test_a_notebook_in_another_language_is_refused(little: Any) -> None:
    path = little.folder / "little.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    path.write_text(json.dumps(notebook))
    with pytest.raises(BadAssignment, match="written in R"):
        little.load()


def shelf(tmp_path: Path, little: Any, *names: str) -> Path:
    root = tmp_path / "root"
    for name in names:
        shutil.copytree(little.folder, root / "notebooks" / "assignments" / name)
    return root


def test_an_assignment_is_found_by_name_and_by_path(tmp_path: Path, little: Any) -> None:
    root = shelf(tmp_path, little, "a1_numpy", "a2_autograd")
    assert known_assignments(root) == ["a1_numpy", "a2_autograd"]
    assert load_assignment("a1_numpy", root).name == "a1_numpy"
    assert load_assignment(str(little.folder), root).name == "little"
    assert load_assignment(little.folder, root).folder == little.folder.resolve()


def test_an_unknown_assignment_lists_the_known_and_the_near(tmp_path: Path, little: Any) -> None:
    root = shelf(tmp_path, little, "a1_numpy", "a2_autograd")
    with pytest.raises(WrongUse, match=r"'a1_nunpy'.*Did you mean 'a1_numpy'.*Known: a1_numpy, a2_autograd"):
        load_assignment("a1_nunpy", root)
    with pytest.raises(WrongUse, match="Did you mean 'a2_autograd'"):
        load_assignment("a2", root)
    with pytest.raises(WrongUse, match="holds none"):
        load_assignment("a1", tmp_path / "nowhere")


def test_a_folder_without_notebooks_points_to_the_one_meant(tmp_path: Path, little: Any) -> None:
    with pytest.raises(WrongUse, match=r"no notebook.*little"):
        load_assignment(little.folder.parent, tmp_path)
    with pytest.raises(WrongUse, match="Name the folder"):
        load_assignment(little.folder / "little.ipynb", tmp_path)


@pytest.mark.parametrize("name", ["little.ipynb", "checks.py", "probes.py", "faults.py", "assignment.toml", "data.csv"])
def test_the_digest_changes_with_all_that_can_change_a_grade(make_little: Callable[..., Any], name: str) -> None:
    files = ("checks.py", "probes.py", "faults.py", "assignment.toml", "data.csv", "bank/one.py")
    little = make_little(None, **dict.fromkeys(files, ""))
    before = digest(little.load())
    (little.folder / "bank" / "one.py").write_text("changed")
    assert digest(little.load()) == before
    with (little.folder / name).open("a") as file:
        file.write("\n")
    assert digest(little.load()) != before
