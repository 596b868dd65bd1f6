"""The sentences of an assignment's text, each with the known submissions that break it.

Hidden checks must not be weaker than the text. So for each sentence that demands something the bank holds a submission
that breaks it, and says so in words that occur in no other sentence: `Wrong(...).breaks("exactly one step")`.
Sentences that demand nothing are named in `assignment.toml`: `asks_nothing = ["yours to choose"]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.bank import BankEntry
from autograder.errors import BadAssignment
from autograder.records import Assignment, Report, Role, Verdict

_DEMAND = re.compile(r"- |Write `")
"""how a paragraph begins that demands something in an exercise: a list item, or what to write"""
_RULE = re.compile(r"\*\*(?!Checks|Points)\w[^*]*\.\*\* ")
"""how one begins before the first exercise: `**Rules.** Use NumPy.`"""
_END = re.compile(r"(?<=[.!?])\s+(?=[^\s(])")
_SIGNATURE = re.compile(r"Write `[^`]*`\.")


@dataclass(frozen=True)
class Demand:
    """One sentence of the text."""

    tests_cell: str
    """the tests cell of the exercise; empty: a rule before the first exercise"""
    text: str
    broken_by: tuple[str, ...] = ()
    """the bank's submissions that break it"""
    noticed: tuple[str, ...] = ()
    """the checks of the exercise that failed for one of them"""
    asks_nothing: bool = False

    @property
    def is_open(self) -> bool:
        """Whether nothing shows that the hidden checks notice when it is broken."""
        return not self.broken_by and not self.asks_nothing


def demands(
    assignment: Assignment, bank: Sequence[BankEntry], reports: Mapping[str, Report] | None = None
) -> list[Demand]:
    """The sentences that demand something of a student, in order. reports: of the bank's submissions, by name.

    Raises BadAssignment where words that the bank or `asks_nothing` quotes stand in no sentence or in several.
    """
    found = list(_sentences(assignment))
    broken_by: dict[int, list[str]] = {}
    for entry in bank:
        for words in entry.breaks:
            index = _index(found, {"", *entry.expected}, words, f"{entry.file}: {entry.name} breaks")
            broken_by.setdefault(index, []).append(entry.name)
    cells = {cell for cell, _ in found}
    nothing = {
        _index(found, cells, words, f"{assignment.name}: asks_nothing names") for words in assignment.asks_nothing
    }
    made = []
    for k, (cell, text) in enumerate(found):
        names = broken_by.get(k, [])
        items = [item for name in names if reports and name in reports for item in reports[name].items]
        noticed = {c.name for i in items if cell in ("", i.grade_id) for c in i.checks if c.verdict is Verdict.FAILED}
        made.append(Demand(cell, text, tuple(names), tuple(sorted(noticed)), k in nothing))
    return made


def _sentences(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """(tests cell, sentence); rules before the first exercise stand under an empty name."""
    for notebook in assignment.notebooks:
        waiting: list[str] = []
        begun = False
        for cell in notebook.cells:
            if cell.kind == "markdown":
                begun = begun or cell.source.startswith("## 1")
                found = _demands_of(cell.source, _DEMAND if begun else _RULE)
                if begun:
                    waiting += found
                else:
                    yield from (("", text) for text in found)
            elif cell.role is Role.TESTS:
                yield from ((cell.grade_id or "", text) for text in waiting)
                waiting = []


def _demands_of(markdown: str, begin: re.Pattern[str]) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*- )", markdown):
        text = " ".join(paragraph.split())
        if begin.match(text):
            yield from (s for s in _END.split(text.removeprefix("- ")) if not _SIGNATURE.fullmatch(s))


def _index(sentences: Sequence[tuple[str, str]], cells: Collection[str], words: str, who: str) -> int:
    at = [k for k, (cell, text) in enumerate(sentences) if cell in cells and words in text]
    if len(at) != 1:
        raise BadAssignment(
            f"{who} {words!r}, which stands in {len(at) or 'no'} sentences of the text; quote one alone."
        )
    return at[0]
