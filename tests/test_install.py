"""The wheel, as a student's Colab installs it: `course_lib` works alone and brings nothing but NumPy and matplotlib."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = out.glob("*.whl")
    return made


def test_without_extras_only_numpy_and_matplotlib_are_required(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    required = {r.split(">")[0] for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r}
    assert required == {"numpy", "matplotlib"}


def test_the_wheel_holds_no_notebook_no_check_and_no_test(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [n for n in names if n.endswith(".ipynb") or "/bank/" in n or n.startswith(("tests", "notebooks"))]
    assert any(n.endswith("share/jupyter/kernels/autograder/kernel.json") for n in names)


@pytest.mark.parametrize("who", ["student", "instructor"])
def test_installed_in_an_empty_environment_it_does_what_each_begins_with(wheel: Path, tmp_path: Path, who: str) -> None:
    venv.create(tmp_path, symlinks=True)
    python = tmp_path / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(command, check=True)
    # What the wheel requires is not fetched again: it is lent by this environment, without its editable checkout.
    site = next((tmp_path / "lib").glob("python*/site-packages"))
    (site / "lent.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    script = ROOT / "tests" / "use_installed.sh"
    done = subprocess.run(["bash", script, python, who], capture_output=True, text=True, env=_bare_environment())
    assert done.returncode == 0, done.stdout + done.stderr


def _bare_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
