"""The tables of lectures and extras in `notebooks/README.md`, made from the notebooks themselves.

    python tests/lectures/contents.py --out notebooks/README.md

A lecture's first cell says what it is about, what comes before it and how long it takes, and its last cell links to
its assignment; this file reads that and writes it down. A test makes the tables again and compares.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LECTURES = NOTEBOOKS / "lectures"

FIRST_CELL = re.compile(
    r"# (?P<number>\d\d) · (?P<title>.+)\n\n"
    r"(?P<badge>\[!\[Open in Colab\].+)\n\n"
    r"(?P<about>.+)\n\n"
    r"\*Before this: (?P<before>.+)\. About (?P<minutes>\d+) minutes to read and do; "
    r"(?P<runs>.+) to run on two cores, without a GPU\.\*\n\n"
    r"You will:\n\n(?P<promises>(?:- .+\n?)+)$"
)

FIRST_CELL_OF_EXTRA = re.compile(
    r"# (?P<title>.+)\n\n(?P<badge>\[!\[Open in Colab\].+)\n\n(?P<about>.+)\n\n"
    r"\*Goes with \[lecture (?P<number>\d\d)\]\(\.\./lectures/\S+\.ipynb\)\.\*"
)
ASSIGNMENT = re.compile(r"\(\.\./release/(?P<name>(?P<number>a\d)_\w+)/(?P=name)\.ipynb\)")

HEAD = """# The lectures

Each one opens in Colab or in Jupyter and runs from top to bottom on two processor cores, without a GPU and without a
network. Times to read are for somebody who makes the predictions, answers the questions and tries the exercises. "Runs
in" is for all cells at once.

| lecture | about | before it | to read and do | runs in | assignment |
| --- | --- | --- | --- | --- | --- |
"""
HEAD_OF_EXTRAS = """
## Extras

Optional notebooks for whoever wants more of one topic.

| extra | about | goes with |
| --- | --- | --- |
"""
FOOT = """
Made by `python tests/lectures/contents.py --out notebooks/README.md` from the notebooks. What
students open of the assignments lies in `notebooks/release/`, the instructor's side in `notebooks/assignments/`.
"""


@dataclass(frozen=True)
class Lecture:
    """What the first cell of a lecture says."""

    file: str
    number: str
    title: str
    badge: str
    about: str
    """the last sentence of its opening paragraph: what is done here"""
    before: str
    minutes: int
    """to read and do"""
    runs: str
    assignment: str
    """a link, or nothing"""


def lecture(path: Path) -> Lecture:
    """Read the first cell of the notebook at `path`; ValueError, with what is missing, if it has another form."""
    cells = nbformat.read(path, as_version=4).cells
    first = cells[0].source
    found = FIRST_CELL.match(first)
    if found is None:
        raise ValueError(
            f"{path.name}: the first cell is not title, badge, one paragraph, the line '*Before this: ... . About N "
            f"minutes to read and do; ... to run on two cores, without a GPU.*' and the promises:\n{first}"
        )
    about = re.split(r"(?<=[.!?]) (?=[A-Z`*])", found["about"])[-1]
    return Lecture(
        path.name, found["number"], found["title"], found["badge"], about, found["before"], int(found["minutes"]),
        found["runs"], ", ".join(f"[{a['number']}](release/{a['name']}/{a['name']}.ipynb)"
                                 for a in ASSIGNMENT.finditer(cells[-1].source)),
    )  # fmt: skip


def extra(path: Path) -> str:
    """The row of an optional notebook; ValueError if its first cell has another form."""
    first = nbformat.read(path, as_version=4).cells[0].source
    found = FIRST_CELL_OF_EXTRA.match(first)
    if found is None:
        raise ValueError(
            f"{path.name}: the first cell is not title, badge, one paragraph and the line '*Goes with [lecture NN]"
            f"(../lectures/NN_topic.ipynb).*':\n{first}"
        )
    link = f"[{found['title']}](extras/{path.name})"
    return f"| {link}<br>{found['badge']} | {found['about']} | lecture {found['number']} |\n"


def table() -> str:
    """The whole of `notebooks/README.md`."""
    rows = [
        f"| [{found.number} {found.title}](lectures/{found.file})<br>{found.badge} | {found.about} | {found.before} "
        f"| {found.minutes} min | {found.runs} | {found.assignment} |\n"
        for found in map(lecture, sorted(LECTURES.glob("*.ipynb")))
    ]
    extras = [extra(path) for path in sorted((NOTEBOOKS / "extras").glob("*.ipynb"))]
    return HEAD + "".join(rows) + (HEAD_OF_EXTRAS + "".join(extras) if extras else "") + FOOT


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the table of lectures.")
    parser.add_argument("--out", type=Path, required=True)
    parser.parse_args().out.write_text(table(), encoding="utf-8")
