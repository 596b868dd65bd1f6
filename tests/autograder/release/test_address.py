"""One command sets the address of the student repository wherever the course repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import WrongUse
from autograder.release.address import refuse_placeholder, repository_of, set_repository


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "notebooks" / "lectures").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.course]\nrepository = "OWNER/course"\n')
    (tmp_path / "README.md").write_text("Nothing of it here.\n")
    badge = "https://colab.research.google.com/github/OWNER/course/blob/main/x.ipynb, git+https://github.com/OWNER/course.git"
    (tmp_path / "notebooks" / "lectures" / "01.ipynb").write_text(badge + " OWNER/course-2 is another")
    return tmp_path


def test_the_address_is_set_in_the_key_and_in_every_link_and_nowhere_else(course: Path) -> None:
    refused = pytest.raises(WrongUse, match="placeholder")
    with refused:
        refuse_placeholder(course)
    changed = set_repository(course, "ada/frameworks.2026")
    assert [path.name for path in changed] == ["01.ipynb", "pyproject.toml"]
    assert repository_of(course) == "ada/frameworks.2026"
    text = (course / "notebooks" / "lectures" / "01.ipynb").read_text()
    assert text.count("ada/frameworks.2026") == 2 and "OWNER/course-2 is another" in text
    refuse_placeholder(course)
    assert set_repository(course, "ada/next") == changed  # and again, for the next term


@pytest.mark.parametrize("address", ["frameworks", "https://github.com/ada/x", "OWNER/frameworks", "a b/c", ""])
def test_what_is_no_address_changes_nothing(course: Path, address: str) -> None:
    with pytest.raises(WrongUse, match="OWNER/NAME"):
        set_repository(course, address)
    assert repository_of(course) == "OWNER/course"
