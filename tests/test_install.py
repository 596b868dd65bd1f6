"""The wheel, as a student's Colab installs it: `course_lib` works alone and brings nothing but NumPy and matplotlib."""

from __future__ import annotations

import email
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

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
    assert not [n for n in names if n.endswith(".ipynb") or "bank" in n or n.startswith(("tests", "notebooks"))]
    assert any(n.endswith("share/jupyter/kernels/autograder/kernel.json") for n in names)


def test_installed_alone_it_loads_its_data_and_touches_no_framework(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import course_lib\n"
        "from course_lib.data import load_digits\n"
        "from course_lib.checks import a1_numpy_backprop\n"
        f"assert course_lib.__file__.startswith({str(tmp_path)!r}), course_lib.__file__\n"
        "assert load_digits().x_train.shape == (1500, 8, 8)\n"
        "heavy = {'torch', 'tensorflow', 'IPython', 'nbgrader', 'autograder', 'keras'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
