"""What is in a view, and what never is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import View, default_read, new_private
from autograder.sandbox.view import outermost, require_absolute

ROOT = Path(__file__).resolve().parents[3]


def test_the_default_view_holds_python_and_nothing_of_the_course() -> None:
    read = default_read()
    assert any(Path(sys.prefix).is_relative_to(p) for p in read)
    assert any(Path(sys.base_prefix).is_relative_to(p) for p in read)
    for path in read:
        for part in ("notebooks", "autograder", "tests", ".git"):
            assert not (ROOT / part).is_relative_to(path), path
        assert not Path.home().is_relative_to(path)
        assert path.exists()


def test_a_source_folder_on_the_python_path_is_not_taken_for_an_installed_package(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; from autograder.sandbox import default_read; print(*default_read())"
    )
    paths = subprocess.check_output([sys.executable, "-c", code, str(ROOT)], text=True, cwd=tmp_path).split()
    assert str(ROOT) not in paths


def test_paths_inside_other_paths_are_left_out() -> None:
    paths = [Path("/usr/lib/x"), Path("/usr"), Path("/usr2"), Path("/opt/a/b"), Path("/opt/a")]
    assert outermost(paths) == [Path("/usr"), Path("/usr2"), Path("/opt/a")]


@pytest.mark.parametrize(
    "view",
    [
        View(Path("private"), ()),
        View(Path("/tmp/../private"), ()),
        View(Path("/private"), (Path("data"),)),
        View(Path("/private"), (Path("/"),)),
        View(Path("/private"), (Path("/private/data"),)),
    ],
)
def test_paths_that_would_not_mean_the_same_inside_are_refused(view: View) -> None:
    with pytest.raises(ValueError, match=r"absolute|everything|private"):
        require_absolute(view)


def test_a_new_private_folder_leaves_room_for_socket_names() -> None:
    folder = new_private()
    try:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(str(folder / "kernel-12345-1")) < 100
    finally:
        folder.rmdir()
