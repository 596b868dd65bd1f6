"""Lectures as Colab runs them: its own kernel, torch and TensorFlow already there, no repository, one cell to set up.

The set-up cell is run as it stands. Git is told that the address in it is a copy of this working tree, so that pip
builds and installs the wheel as it would from there. The environment is Python's own `venv` with Colab's generation of
IPython and ipykernel; what is "already there" is what is installed beside the interpreter that runs the tests, or
beside the one that COLAB_PYTHON names (Colab itself has Python 3.12).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks" / "lectures"
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]["repository"]
LECTURES = [
    "05_pytorch_tensors",
    "10_training_and_evaluation",  # brings Lightning
    "11_gpu_training",  # brings the virtual device
    "13_tensorflow_eager",  # both frameworks in one kernel
    "15_static_and_dynamic_graphs",  # brings ONNX's packages
]
OF_COLAB = ("ipython==7.34.0", "ipykernel==6.17.1", "jupyter_client<8")
OURS = re.compile(r"(_editable_impl_)?frameworks[_-]course|course_lib$|autograder$", re.IGNORECASE)
LACKING = re.compile(r"(pytorch[_-])?lightning|onnx|tf2onnx", re.IGNORECASE)
"""what Colab does not bring: a lecture that uses it says so and installs it itself"""

pytestmark = pytest.mark.slow

EXECUTE = """
import json, sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
ask = "import course_lib, torch; print(course_lib.__file__, torch.__file__)"
notebook.cells.append(nbformat.v4.new_code_cell(ask))
NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
print("RESULT" + json.dumps({
    "errors": [[c.id, o.ename, o.evalue] for c in code for o in c.outputs if o.output_type == "error"],
    "stderr": [o.text for c in code for o in c.outputs if o.get("name") == "stderr"],
    "figures": sum("image/png" in o.get("data", {}) for c in code for o in c.outputs),
    "setup": "".join(o.get("text", "") for o in code[0].outputs),
    "files": code[-1].outputs[0].text.split() if code[-1].outputs else [],
}))
"""


@dataclass(frozen=True)
class Colab:
    """A virtual environment in the manner of Colab, with an empty folder to work in."""

    python: Path
    work: Path
    env: dict[str, str]

    def run(self, *command: str) -> str:
        """What the command prints; fails with what it says on the error stream."""
        done = subprocess.run(
            [str(self.python), *command], capture_output=True, text=True, cwd=self.work, env=self.env, timeout=900
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def execute(self, lecture: str) -> dict[str, Any]:
        """Run a lecture that was downloaded alone."""
        shutil.copy(FOLDER / f"{lecture}.ipynb", self.work)
        printed = self.run("-c", EXECUTE, f"{lecture}.ipynb")
        return dict(json.loads(printed.rpartition("RESULT")[2]))


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Colab:
    folder = tmp_path_factory.mktemp("colab")
    base = os.environ.get("COLAB_PYTHON", sys.executable)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    there = Path(subprocess.run([base, "-c", ask], check=True, capture_output=True, text=True).stdout.strip())
    subprocess.run([base, "-m", "venv", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    own = Path(subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip())
    quiet = ["install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts"]
    subprocess.run([python, "-m", "pip", *quiet, *OF_COLAB], check=True, capture_output=True)
    # All that is installed beside the base interpreter, but for this project: links, so that nothing is copied.
    (folder / "there").mkdir()
    for entry in there.iterdir():
        if not OURS.match(entry.name) and not LACKING.match(entry.name):
            (folder / "there" / entry.name).symlink_to(entry)
    (own / "there.pth").write_text(f"{folder / 'there'}\n", encoding="utf-8")
    (folder / "content").mkdir()
    env = {
        **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "IPYTHONDIR": str(folder / "ipython"),
        "OMP_NUM_THREADS": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{_snapshot(folder / 'repository')}.insteadOf",
        "GIT_CONFIG_VALUE_0": f"https://github.com/{REPOSITORY}",
    }
    return Colab(python, folder / "content", env)


def _snapshot(repository: Path) -> Path:
    """A repository that holds this working tree as it is, changes not yet committed included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, repository / name)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-C", str(repository)]
    for command in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "-m", "as it is"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return repository


@pytest.fixture(scope="module")
def before(colab: Colab) -> set[str]:
    """What is installed before any lecture sets itself up."""
    return set(_installed(colab))


def _installed(colab: Colab) -> list[str]:
    ask = "import importlib.metadata as m; print([f'{d.name} {d.version}' for d in m.distributions()])"
    return list(json.loads(colab.run("-c", ask).replace("'", '"')))


@pytest.mark.exhaustive
@pytest.mark.parametrize("lecture", LECTURES)
def test_a_lecture_sets_itself_up_and_runs_to_its_end(lecture: str, colab: Colab, before: set[str]) -> None:
    result = colab.execute(lecture)
    assert (result["errors"], result["stderr"]) == ([], [])
    assert result["figures"] >= 4
    course_lib, torch = result["files"]
    assert Path(course_lib).is_relative_to(colab.python.parents[1]), "not the checkout's"
    assert not Path(torch).is_relative_to(colab.python.parents[1]), "set-up must not bring another torch"
    brought = {name.partition(" ")[0].replace("_", "-") for name in set(_installed(colab)) - before}
    assert {name for name in brought if not LACKING.match(name)} == {"frameworks-course"}
