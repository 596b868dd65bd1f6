"""What a reader meets first and last: badge, set-up, three promises; the same three kept."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from tests.executed import NOTEBOOKS, notebooks_in

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]["repository"]
PAGES = [name for folder in ("lectures", "assignments", "release") for name in notebooks_in(folder)]
EXTRAS = notebooks_in("extras")
BADGE = re.compile(r"\[!\[Open in Colab\]\(https://colab\.research\.google\.com/assets/colab-badge\.svg\)\]\((\S+)\)")

on_every_page = pytest.mark.parametrize("name", PAGES + EXTRAS)


def _cells(name: str) -> list[nbformat.NotebookNode]:
    return list(nbformat.read(NOTEBOOKS / name, as_version=4).cells)


def _bullets(text: str, heading: str) -> list[str]:
    """The list items that follow the line `heading` (bold or with a colon), continued lines joined."""
    _, found, after = re.sub(r"[*:]", "", text).partition(f"\n{heading}\n")
    assert found, f"no line says {heading!r}"
    listed = re.match(r"\s*((?:- .*\n?(?:  .*\n?)*)+)", after)
    assert listed, f"no list follows {heading!r}"
    items = re.split(r"^- ", listed.group(1), flags=re.MULTILINE)[1:]
    return [re.sub(r"\s+", " ", item).strip(" ;.") for item in items]


@on_every_page
def test_the_badge_opens_this_very_notebook(name: str) -> None:
    """An assignment's source carries the badge of its release, since that is what it becomes."""
    published = name.replace("assignments/", "release/")
    [link] = BADGE.findall(_cells(name)[0].source)
    assert link == f"https://colab.research.google.com/github/{REPOSITORY}/blob/main/notebooks/{published}"


@pytest.mark.parametrize("name", PAGES)
def test_the_first_cell_is_a_title_and_three_promises_and_the_last_keeps_them(name: str) -> None:
    """The same bullets in the past tense: compared by the beginnings of their words, which a tense seldom changes."""
    first, *_, last = _cells(name)
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    promised, kept = _bullets(first.source, "You will"), _bullets("\n" + last.source, "You have")
    assert len(promised) == 3
    for will, have in zip(promised, kept, strict=True):
        stems = [[word[:3].lower() for word in bullet.split()] for bullet in (will, have)]
        assert difflib.SequenceMatcher(None, *stems).ratio() > 0.85, f"promised: {will}; kept: {have}"


@on_every_page
def test_the_second_cell_installs_the_helpers_where_they_are_missing_and_nothing_else(name: str) -> None:
    setup = _cells(name)[1]
    assert setup.cell_type == "code"
    statements = [line for line in setup.source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert statements[:2] == ["import importlib.util", 'if importlib.util.find_spec("course_lib") is None:']
    [install] = statements[2:]
    assert install == f'    %pip install -q "frameworks-course @ git+https://github.com/{REPOSITORY}"'


@on_every_page
def test_the_text_is_plain_markdown_that_colab_renders(name: str) -> None:
    text = "\n".join(cell.source for cell in _cells(name) if cell.cell_type == "markdown")
    assert re.findall(r"^(?::::|```\{|~~~\{)", text, flags=re.MULTILINE) == []
    assert re.findall(r"!\[\]\(", text) == [], "an image without alternative text"
    assert re.findall(r"!\[[^\]]*\]\((?!https://)", text) == [], "a relative image path breaks in Colab"
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>") == text.count("</summary>")
    assert re.findall(r"<summary>[^<]*`", text) == [], "Markdown is not read inside a summary: write <code>"
    assert re.findall(r"</summary>\n(?!\n)", text) == [], "without a blank line, Markdown inside <details> stays raw"


@pytest.mark.parametrize("name", notebooks_in("release"))
def test_an_assignment_names_its_lectures_and_one_of_them_leads_to_it(name: str) -> None:
    before = re.search(r"^\*Before this: .+\. About (two|three|three to four) hours\.\*$", _cells(name)[0].source, re.M)
    assert before
    lectures = re.findall(r"\[(\d\d)\]\(\.\./\.\./lectures/(\1_\w+\.ipynb)\)", before[0])
    assert lectures
    assert any(f"](../{name})" in _cells(f"lectures/{file}")[-1].source for _, file in lectures)
