"""The table of lectures says what the lectures say, and their times are not wishes."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
LECTURES = sorted((HERE.parents[1] / "notebooks" / "lectures").glob("*.ipynb"))


@pytest.fixture(scope="module")
def contents() -> Any:
    spec = importlib.util.spec_from_file_location("contents", HERE / "contents.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["contents"] = module
    spec.loader.exec_module(module)
    return module


def test_the_table_is_what_the_lectures_say(contents: Any) -> None:
    made = contents.table()
    assert (HERE.parents[1] / "notebooks" / "README.md").read_text(encoding="utf-8") == made, (
        "run: python tests/notebooks/contents.py --out notebooks/README.md"
    )


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_says_how_long_it_takes(contents: Any, path: Path) -> None:
    stated = contents.lecture(path).minutes
    assert stated % 15 == 0 and abs(stated - contents.estimated_minutes(path)) <= 15


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_what_comes_before_a_lecture_comes_before_it(contents: Any, path: Path) -> None:
    found = contents.lecture(path)
    assert all(number < found.number for number in re.findall(r"\d\d", found.before))


def test_the_readme_leads_to_every_lecture_by_way_of_the_table(contents: Any) -> None:
    readme = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "(notebooks/README.md)" in readme
