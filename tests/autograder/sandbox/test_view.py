"""What is in a view, and what never is."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from autograder.sandbox import View, default_read, new_private, own_prefix, sweep_folders
from autograder.sandbox.view import outermost, require_absolute

ROOT = Path(__file__).resolve().parents[3]


def test_the_default_view_holds_python_and_nothing_of_the_course() -> None:
    read = default_read()
    assert any(Path(sys.prefix).is_relative_to(p) for p in read)
    assert any(Path(sysconfig.get_path("stdlib")).is_relative_to(p) for p in read)
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


@pytest.mark.parametrize("place", ["bin", ".local/bin"])
def test_an_environment_made_from_a_link_in_the_home_folder_does_not_show_the_home_folder(
    place: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / place).mkdir(parents=True)
    (home / "id_ed25519").write_text("secret")
    (home / place / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    subprocess.run([home / place / "python3", "-m", "venv", "--without-pip", home / "course" / ".venv"], check=True)
    code = "import sys; sys.path += sys.argv[1:]; from autograder.sandbox import default_read; print(*default_read())"
    python = home / "course" / ".venv" / "bin" / "python"
    read = {Path(p) for p in subprocess.check_output([python, "-c", code, ROOT], text=True).split()}
    below = {path for path in read if path.is_relative_to(home)}
    assert home / place / "python3" in below and home / "course" / ".venv" in below
    assert all(path.is_relative_to(home / "course" / ".venv") or path.is_symlink() for path in below)


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


def test_folders_of_processes_that_were_killed_are_removed_and_no_others(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    own = own_prefix("box-")
    dead, alive = (re.sub(r"-[^-]+-$", f"-{pid:x}-", own) for pid in (ended.pid, 1))
    elsewhere = re.sub(r"^box-[^-]+-", "box-7-", dead)  # of a container
    names = (f"{dead}a", f"{alive}a", f"{own}a", f"{elsewhere}a", "box-abcdefgh", f"other-{ended.pid:x}-a")
    for name in names:
        (tmp_path / name / "work").mkdir(parents=True)
    sweep_folders("box-", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names) - {f"{dead}a"}
