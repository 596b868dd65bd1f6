"""Find out which cell of a student's notebook stands for which of the instructor's, and where the others belong.

By grade_id first, then by equal text, then by the names a cell defines, last by likeness between two neighbors that
are known. The instructor's order is the order; cells that stand for none are kept after the known cell before them.
Work is bounded: texts are compared in full at most `_COMPARISONS` times, however many cells there are.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from autograder.records import Cell, Notebook, Role
from autograder.submissions.python_text import defined_names, essence
from autograder.submissions.repair import StudentCell

_COMPARISONS = 20_000
_COMPARED_CHARS = 2_000
_ALIKE = 60.0
"""percent of likeness from which an unlocked cell counts as an edited copy"""

ANSWERED = frozenset({Role.SOLUTION, Role.MANUAL})
"""roles whose text comes from the student"""
FIXED = frozenset({Role.TESTS, Role.LOCKED, Role.TASK})
"""roles whose text comes from the instructor, whatever was handed in"""


@dataclass
class Matching:
    """Who is who. Indices are positions in the instructor's and in the student's list of cells."""

    owner: list[int | None]
    """for each student cell, the instructor's cell that it stands for"""
    how: dict[int, str] = field(default_factory=dict)
    """student cells that were not found by grade_id or equal text -> `name` or `place`"""

    def versions(self) -> dict[int, list[int]]:
        """Instructor's cell -> the student cells that stand for it, in the student's order."""
        found: dict[int, list[int]] = defaultdict(list)
        for position, index in enumerate(self.owner):
            if index is not None:
                found[index].append(position)
        return found

    def slots(self, size: int) -> dict[int, list[int]]:
        """Where the student's own cells belong: k -> those right before the instructor's cell k, `size` for the end.

        After the known cell that precedes them; where the known cell that follows stands earlier in the instructor's
        order, before that one, as a helper is needed by what comes after it.
        """
        following: list[int | None] = [None] * len(self.owner)
        known: int | None = None
        for position in range(len(self.owner) - 1, -1, -1):
            following[position] = known
            known = known if self.owner[position] is None else self.owner[position]
        found: dict[int, list[int]] = defaultdict(list)
        last = -1
        for position, index in enumerate(self.owner):
            if index is not None:
                last = index
                continue
            after = following[position]
            found[min(last + 1, size if after is None else after)].append(position)
        return found


def match(notebook: Notebook, cells: tuple[StudentCell, ...]) -> Matching:
    """Match every student cell that stands for one of the instructor's. Empty cells stay unmatched."""
    found = Matching([None] * len(cells))
    _by_grade_id(notebook, cells, found)
    _by_equal_text(notebook, cells, found)
    _by_names(notebook, cells, found)
    _by_place(notebook, cells, found)
    return found


def is_untouched(cell: Cell, text: str) -> bool:
    """Whether a student's text is what the student received, or nothing at all."""
    if text.strip() == cell.released.strip():
        return True
    left = essence(text, cell.kind)
    return not left or left == essence(cell.released, cell.kind)


def is_instructors(cell: Cell, text: str) -> bool:
    """Whether a text is the instructor's, as released or with its hidden parts."""
    plain = text.strip()
    if plain in (cell.released.strip(), cell.source.strip()):
        return True
    return essence(cell.released, cell.kind) == essence(text, cell.kind)


def typed_into_task(cell: Cell, text: str) -> str:
    """What a student wrote into the cell that sets a task, as far as it can be told from the task."""
    if cell.role is not Role.TASK or is_instructors(cell, text):
        return ""
    return text.replace(cell.released.strip(), "", 1).strip()


def _expected_names(cell: Cell) -> frozenset[str]:
    """What a solution cell is to define: the stub says it; where the whole cell is a solution, the reference does."""
    return defined_names(cell.released) or defined_names(cell.source)


def _by_grade_id(notebook: Notebook, cells: tuple[StudentCell, ...], found: Matching) -> None:
    index_of = {cell.grade_id: index for index, cell in enumerate(notebook.cells) if cell.grade_id}
    for position, cell in enumerate(cells):
        found.owner[position] = index_of.get(cell.grade_id) if cell.grade_id else None
    for index, positions in found.versions().items():
        own = notebook.cells[index]
        if own.role in FIXED and len(positions) > 1:
            _free_reused_copies(own, positions, cells, found)
    _undo_swapped_ids(notebook, cells, found)


def _free_reused_copies(own: Cell, positions: list[int], cells: tuple[StudentCell, ...], found: Matching) -> None:
    """A pasted copy of a locked cell carries its id along. Written over, beside the intact one, it is the student's."""
    intact = [position for position in positions if is_instructors(own, cells[position].source)]
    for position in positions if intact else ():
        if position not in intact:
            found.owner[position] = None


def _undo_swapped_ids(notebook: Notebook, cells: tuple[StudentCell, ...], found: Matching) -> None:
    """Take its id from a cell that does nothing of what its stub asks but what another stub asks, undone there."""
    expected = {
        index: names
        for index, cell in enumerate(notebook.cells)
        if cell.role in ANSWERED and cell.kind == "code" and (names := defined_names(cell.released))
    }
    defined = {
        position: defined_names(cells[position].source) for position, i in enumerate(found.owner) if i in expected
    }
    done: dict[int, set[str]] = defaultdict(set)
    for position, names in defined.items():
        if not is_untouched(notebook.cells[found.owner[position] or 0], cells[position].source):
            done[found.owner[position] or 0] |= names
    for position, names in defined.items():
        index = found.owner[position]
        others = [i for i, wanted in expected.items() if i != index and names & wanted and not done[i] & wanted]
        if index is not None and others and not names & expected[index]:
            found.owner[position] = None


def _by_equal_text(notebook: Notebook, cells: tuple[StudentCell, ...], found: Matching) -> None:
    """Cells that lost their metadata but kept their text: pasted, or saved by an editor that strips it."""
    taken = {index for index in found.owner if index is not None}
    waiting: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for index, cell in enumerate(notebook.cells):
        texts = {cell.released.strip(), cell.source.strip()} if cell.role in FIXED else {cell.released.strip()}
        for text in texts:
            waiting[cell.kind, text].append(index)
    for position, student in enumerate(cells):
        text = student.source.strip()
        if found.owner[position] is not None or not text:
            continue
        candidates = waiting.get((student.kind, text), deque())
        while candidates and candidates[0] in taken and (len(candidates) > 1 or not _is_fixed(notebook, candidates)):
            candidates.popleft()
        if candidates:
            found.owner[position] = candidates[0]
            taken.add(candidates[0])


def _is_fixed(notebook: Notebook, candidates: deque[int]) -> bool:
    """Every further copy of a locked cell is a copy of it; of an unlocked one only the first is."""
    return notebook.cells[candidates[0]].role in FIXED


def _by_names(notebook: Notebook, cells: tuple[StudentCell, ...], found: Matching) -> None:
    """An answer typed into a new cell is known by what it defines. The last one counts; all of them run."""
    free: dict[str, set[int]] = defaultdict(set)
    for position, student in enumerate(cells):
        if found.owner[position] is None and student.kind == "code":
            for name in defined_names(student.source):
                free[name].add(position)
    versions = found.versions()
    for index, cell in enumerate(notebook.cells):
        if cell.role not in ANSWERED or cell.kind != "code":
            continue
        own = versions.get(index, [])
        if any(not is_untouched(cell, cells[position].source) for position in own):
            continue
        names = _expected_names(cell)
        count = Counter(p for name in names for p in free.get(name, ()) if found.owner[p] is None)
        # Beside an untouched stub only a whole answer counts as one.
        enough = len(names) if own else max(count.values(), default=0)
        for position in (p for p, n in count.items() if n >= enough):
            found.owner[position] = index
            found.how[position] = "name"


def _by_place(notebook: Notebook, cells: tuple[StudentCell, ...], found: Matching) -> None:
    """What is left, between the two nearest known neighbors: edited unlocked cells, and answers without an id."""
    place = {index: positions[-1] for index, positions in found.versions().items()}
    following: list[int] = [len(cells)] * (len(notebook.cells) + 1)
    for index in range(len(notebook.cells) - 1, -1, -1):
        following[index] = place.get(index, following[index + 1])
    previous, budget = -1, _COMPARISONS
    for index, cell in enumerate(notebook.cells):
        if index in place:
            previous = place[index]
            continue
        gap = [p for p in range(previous + 1, following[index]) if found.owner[p] is None and cells[p].source.strip()]
        if cell.role is Role.MANUAL and cell.kind != "code":
            chosen = [p for p in gap if cells[p].kind != "code"]
        else:
            same_kind = [p for p in gap if cells[p].kind == cell.kind][:budget]
            chosen = _most_alike(cell, same_kind, cells) or _only_answer(cell, same_kind, cells if place else ())
            budget -= len(same_kind)
        for position in chosen:
            found.owner[position] = index
            found.how[position] = "place"
            previous = max(previous, position)


def _most_alike(cell: Cell, positions: list[int], cells: tuple[StudentCell, ...]) -> list[int]:
    """The student cell most like the instructor's, if any is like it at all."""
    if cell.role in FIXED:
        return []
    scored = [(_likeness(cell, cells[position].source), -position) for position in positions]
    best, position = max(scored, default=(0.0, 0))
    return [-position] if best >= _ALIKE else []


def _only_answer(cell: Cell, positions: list[int], cells: tuple[StudentCell, ...]) -> list[int]:
    """A missing answer, and code where it should stand, belong together, however unlike the stub it is."""
    if cell.role not in ANSWERED or not cells:
        return []
    return [max(positions, key=lambda position: len(cells[position].source))] if positions else []


def _likeness(cell: Cell, text: str) -> float:
    """Percent: of the instructor's lines that are still there, or of equal characters, whichever is more."""
    lines = {line.strip() for line in cell.released.splitlines() if line.strip()}
    kept = lines.intersection(line.strip() for line in text[: 10 * _COMPARED_CHARS].splitlines())
    by_lines = 100.0 * len(kept) / len(lines) if lines else 0.0
    by_text = fuzz.ratio(cell.released[:_COMPARED_CHARS], text[:_COMPARED_CHARS], score_cutoff=_ALIKE)
    return max(by_lines, by_text)
