"""The planted bugs fit the tree, and the command that tries them tells a caught bug from one that survives."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "planted_bugs" / "run.py"

TOY = {
    "toy/__init__.py": "",
    "toy/sums.py": "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    return x / 2\n",
    "tests/conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--size')\n",
    "tests/toy/test_sums.py": "from toy.sums import double\n\n\ndef test_double():\n    assert double(3) == 6\n",
    "bugs/toy.toml": """
[seen]
breaks = "double gives the square"
file = "toy/sums.py"
old = "2 * x"
new = "x * x"

[unseen]
breaks = "half gives the whole"
file = "toy/sums.py"
old = "x / 2"
new = "x"
tests = ["tests/toy/test_sums.py -k double"]

[at-import]
breaks = "nothing can be imported"
file = "toy/__init__.py"
old = ""
new = "raise ImportError"
""",
    ".gitignore": ".venv/\n__pycache__/\n",
}


@pytest.fixture(name="run", scope="module")
def run_fixture() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("planted_bugs", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_bugs"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="toy")
def toy_fixture(tmp_path: Path) -> Path:
    """A small project under git."""
    root = tmp_path / "project"
    for name, text in TOY.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "toy" / "__init__.py").write_text("")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "toy"]):
        subprocess.run([*git, *words], check=True)
    return root


def test_every_bug_can_be_planted_and_has_tests(run: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--verify"]) == 0, capsys.readouterr().out
    bugs = run.load(SCRIPT.parent, run.ROOT)
    assert len({(bug.file, bug.old) for bug in bugs}) == len(bugs), "two bugs are one"


@pytest.mark.long
def test_a_bug_is_caught_or_survives_and_the_project_stays(
    run: ModuleType, toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy / "toy" / "__init__.py").write_text("X = 1\n")  # not committed, and part of what is tried
    (toy / "bugs" / "toy.toml").write_text(TOY["bugs/toy.toml"].replace('old = ""', 'old = "X = 1"'))
    assert run.main(["--report", str(tmp_path / "report.json")], toy, toy / "bugs") == 1
    rows = json.loads((tmp_path / "report.json").read_text())["results"]
    outcomes = {row["bug"]: row["outcome"] for row in rows}
    assert outcomes == {"seen": "caught", "unseen": "survived", "at-import": "import"}
    assert rows[0]["by"] == "tests/toy/test_sums.py::test_double"
    assert "survived: unseen" in capsys.readouterr().out
    assert (toy / "toy" / "sums.py").read_text() == TOY["toy/sums.py"]


@pytest.mark.long
def test_a_test_that_fails_anyway_catches_nothing(run: ModuleType, toy: Path) -> None:
    (toy / "tests" / "toy" / "test_sums.py").write_text("def test_broken():\n    assert False\n")
    with run.copied(toy) as copy:
        (result,) = run.tried(run.load(toy / "bugs", toy)[:1], copy, "all", 60.0)
    assert result.outcome == "error" and "without the bug" in result.by


def test_a_bug_that_fits_no_more_is_told_with_its_reason(run: ModuleType, toy: Path) -> None:
    (bug, *_) = run.load(toy / "bugs", toy)
    assert not list(run.misfits(bug, toy))
    (toy / "toy" / "sums.py").write_text("def double(x):\n    return x + x\n")
    (toy / "tests" / "toy" / "test_sums.py").unlink()
    said = list(run.misfits(bug, toy))
    assert any("occurs 0 times" in one for one in said) and any("there is no" in one for one in said)
