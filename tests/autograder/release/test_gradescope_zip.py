"""Gradescope's layout in a temporary folder: the zip unpacked as documented, `run_autograder` started there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from autograder.assignment import load_assignment
from autograder.bank import load_bank, notebook_of
from tests.autograder.conftest import run_command

ROOT = Path(__file__).resolve().parents[3]
NAME = "a1_numpy_backprop"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("packed") / "autograder.zip"
    status, said, _ = run_command("gradescope", NAME, "--out", out)
    assert (status, "give it to nobody else" in said) == (0, True)
    return out


def test_the_scripts_stand_at_the_root_and_can_be_started(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 & 0o111 == 0o111
            subprocess.run(["bash", "-n"], input=archive.read(name), check=True)
        names = archive.namelist()
        assert len(bytes.fromhex(archive.read("seed").decode())) == 32
    assert f"notebooks/assignments/{NAME}/checks.py" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("/", "tests/", "notebooks/lec"))]


def test_outside_the_project_nothing_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "notebooks" / "assignments" / NAME, tmp_path / NAME)
    status, _, said = run_command("gradescope", tmp_path / NAME)
    assert (status, "Run this inside the project" in said) == (2, True)
    assert not (tmp_path / "autograder.zip").exists()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "handed_in, score", [("wrong_relu_derivative_missing", 17), ("nothing that can be read", 0), ("no grader", None)]
)
def test_a_submission_is_graded_where_gradescope_puts_it(
    packed: Path, tmp_path: Path, handed_in: str, score: int | None
) -> None:
    place = tmp_path / "autograder"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(place / "source")
    shutil.copy(place / "source" / "run_autograder", place)
    os.chmod(place / "run_autograder", 0o755)
    (place / "venv").symlink_to(sys.prefix)  # what setup.sh makes
    (place / "submission").mkdir()
    content = b"{"
    if score:
        assignment = load_assignment(NAME, ROOT)
        [entry] = [entry for entry in load_bank(assignment) if entry.name == handed_in]
        content = notebook_of(assignment, entry.cells)
    (place / "submission" / "my work (1).ipynb").write_bytes(content)
    if score is None:
        (place / "source" / "seed").write_text("no seed")
    ended = subprocess.run([place / "run_autograder"], capture_output=True, text=True, timeout=300)
    results = place / "results" / "results.json"
    assert (ended.returncode == 0, results.exists()) == (score is not None, score is not None), ended.stderr
    if score is not None:
        found = json.loads(results.read_text())
        assert found["score"] == score
        assert found["output"] and {"name", "max_score", "output", "visibility"} <= set(found["tests"][0])


@pytest.mark.parametrize("path", sorted((ROOT / "tools" / "runners").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_is_one(path: Path) -> None:
    """What GitHub asks of the file; and no input of a person's stands in a script, where it would be run."""
    workflow = yaml.safe_load(path.read_text())
    assert {"name", True, "permissions", "jobs"} == set(workflow)  # `on` is true in YAML 1.1
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "${{" not in step.get("run", "")
            if "run" in step:
                subprocess.run(["bash", "-n"], input=step["run"].encode(), check=True)
