"""Read what a student handed in: bytes -> Submission, repaired or rejected with a reason. Nothing is executed.

The instructor's source is the only truth for ids, points, order, tests, locked cells and kernel. From the student come
the texts of solution cells and any cells they added; their metadata, tags, outputs and file names decide nothing, and
are only reported where they are odd. Whatever the bytes are, the answer is a Submission.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from autograder.errors import StudentFault
from autograder.records import Assignment, Cell, Flag, Notebook, PlannedCell, Role, Submission, SubmittedNotebook
from autograder.submissions.document import instructors_cell, notebook_json, students_cell
from autograder.submissions.matching import (
    ANSWERED,
    FIXED,
    Matching,
    is_instructors,
    is_untouched,
    match,
    typed_into_task,
)
from autograder.submissions.python_text import forbidden_imports, forbidden_names, program_facts
from autograder.submissions.repair import StudentCell, StudentNotebook, Unreadable, read_notebook

MAX_NOTEBOOK_FILES = 20
"""notebooks of one submission that are looked at"""
MAX_SUBMISSION_BYTES = 96 << 20
"""notebooks of one submission together, held in memory while it is read"""
MAX_OWN_FILES = 50
"""other files of one submission that its kernel finds beside the notebook"""
MAX_OWN_BYTES = 32 << 20
"""of these together"""
MAX_FLAGS = 100
_SKIPPING_TAGS = frozenset({"skip-execution", "raises-exception", "otter_ignore", "otter_assign_ignore"})
_IGNORED_FILES = frozenset({"timestamp.txt", ".DS_Store", "Thumbs.db", "desktop.ini", "feedback.html"})
_FRAMEWORKS = frozenset(
    {"IPython", "ipykernel", "jax", "keras", "matplotlib", "nbgrader", "numpy", "pandas", "pytest", "scipy"}
    | {"sklearn", "tensorflow", "torch", "torchvision"}
)
_SPECIAL_MODULES = frozenset({"conftest", "sitecustomize", "usercustomize", "course_lib", "autograder", "checks"})


def read_submission(student: str, files: Mapping[str, bytes], assignment: Assignment) -> Submission:
    """What `student` handed in. `files`: path relative to the submission's folder -> content, read when needed.

    Of other files only names, and bytes where the instructor has one of that name, decide anything; which of them
    stay is for `own_files` to say. If it cannot be graded, `rejected` says why.
    """
    submission = Submission(student=student, assignment=assignment.name)
    try:
        return _read_notebooks(submission, _NotebookFiles(files), assignment)
    except (StudentFault, OSError) as error:
        return replace(submission, rejected=_error_sentence(error), digest=_digest_of_names(files))


def _error_sentence(error: Exception) -> str:
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return text if text.endswith((".", "!", "?")) else text + "."


def _read_notebooks(submission: Submission, notebook_files: _NotebookFiles, assignment: Assignment) -> Submission:
    flags: list[Flag] = []
    digest = notebook_files.digest()
    own, dropped = _own_files(notebook_files, assignment)
    try:
        chosen = _choose_files(notebook_files, assignment, flags)
        texts = {place: notebook_files.files[name] for place, name in own.items() if place.endswith(".py")}
        strict = replace(assignment, forbidden=_forbidden_modules(texts, assignment.forbidden, flags))
        notebooks = tuple(
            _plan_notebook(notebook, chosen[notebook.name], strict, flags)
            for notebook in assignment.notebooks
            if notebook.name in chosen
        )
    except (Unreadable, OSError) as error:
        return replace(submission, rejected=_error_sentence(error), flags=_limit_flags(flags), digest=digest)
    flags += _dropped_file_flags(dropped)
    return replace(submission, notebooks=notebooks, flags=_limit_flags(flags), digest=digest)


def _limit_flags(flags: list[Flag]) -> tuple[Flag, ...]:
    unique = list(dict.fromkeys(flags))
    if len(unique) <= MAX_FLAGS:
        return tuple(unique)
    more = Flag("more-flags", f"{len(unique) - MAX_FLAGS} further findings of this kind are not listed.")
    return (*unique[:MAX_FLAGS], more)


# --- files ---------------------------------------------------------------------------------------------------------


@dataclass
class _NotebookFiles:
    """The files of one submission; each notebook among them is read and parsed once."""

    files: Mapping[str, bytes]
    names: list[str] = field(init=False)
    """notebooks"""
    others: list[str] = field(init=False)
    _contents: dict[str, bytes | Unreadable] = field(default_factory=dict)
    _parsed: dict[str, StudentNotebook | Unreadable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = read_names(self.files)
        self.others = sorted(name for name in self.files if not is_litter(name) and name not in set(self.names))

    def cells(self, name: str) -> tuple[StudentCell, ...]:
        return self.notebook(name).cells

    def notebook(self, name: str) -> StudentNotebook:
        if name not in self._parsed:
            try:
                content = self._content(name)
                self._parsed[name] = content if isinstance(content, Unreadable) else read_notebook(content)
            except Unreadable as error:
                self._parsed[name] = Unreadable(f"{shown_name(name)}: {error}")
        found = self._parsed[name]
        if isinstance(found, Unreadable):
            raise found
        return found

    def can_be_read(self, name: str) -> bool:
        try:
            self.notebook(name)
        except Unreadable:
            return False
        return True

    def digest(self) -> str:
        """Over the names and bytes of all files."""
        total = hashlib.sha256(_digest_of_names(self.files).encode())
        for name in (*self.names, *self.others):
            content = self._content(name) if name in self.names else self.files[name]
            total.update(hashlib.sha256(b"" if isinstance(content, Unreadable) else content).digest())
        return total.hexdigest()

    def _content(self, name: str) -> bytes | Unreadable:
        if name not in self._contents:
            held = sum(len(content) for content in self._contents.values() if isinstance(content, bytes))
            try:
                if held > MAX_SUBMISSION_BYTES:
                    raise Unreadable(
                        f"the submission has more than {MAX_SUBMISSION_BYTES >> 20} MiB of notebooks. "
                        "Hand in one, without outputs."
                    )
                self._contents[name] = self.files[name]
            except (Unreadable, OSError) as error:
                self._contents[name] = Unreadable(_error_sentence(error))
        return self._contents[name]


def _digest_of_names(files: Mapping[str, bytes]) -> str:
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(hashlib.sha256(name.encode(errors="surrogatepass")).digest())
    return total.hexdigest()


def read_names(names: Iterable[str]) -> list[str]:
    """Which of a submission's files are opened: its notebooks, the first `MAX_NOTEBOOK_FILES` in order of name."""
    notebooks = (name for name in names if notebook_stem(name) is not None and not is_litter(name))
    return sorted(notebooks)[:MAX_NOTEBOOK_FILES]


def own_names(sizes: Mapping[str, int], assignment: Assignment) -> list[str]:
    """Which other files of a submission are opened, by name and size: the first, as long as there is room for them."""
    notebooks, left = set(read_names(sizes)), min(MAX_OWN_BYTES, assignment.limits.disk_bytes // 4)
    found: list[str] = []
    for name in sorted(sizes.keys() - notebooks, key=lambda name: (name.count("/"), name)):
        if not is_litter(name) and sizes[name] <= left and len(found) < MAX_OWN_FILES:
            left -= sizes[name]
            found.append(name)
    return found


def own_files(files: Mapping[str, bytes], assignment: Assignment) -> dict[str, bytes]:
    """The student's own files that a kernel finds beside the notebook, by their names there."""
    kept, _ = _own_files(_NotebookFiles(files), assignment)
    return {place: files[name] for place, name in kept.items()}


def is_litter(name: str) -> bool:
    """What editors, systems and nbgrader leave behind."""
    path = PurePosixPath(name)
    folders = {".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git"}
    return path.name in _IGNORED_FILES or path.name.startswith("._") or not folders.isdisjoint(path.parts)


def notebook_stem(name: str) -> str | None:
    """`dir/a1.ipynb` -> `a1`; also for `a1.ipynb.txt` and `a1.ipynb.json`, as browsers save it; else None."""
    found = re.fullmatch(
        r"(.*)\.ipynb(?: ?\(\d+\))?(?:\.(?:txt|json))?(?: ?\(\d+\))?", PurePosixPath(name).name, re.I | re.S
    )
    return found[1] if found else None


_COPY_WORDS = re.compile(r"copy|final|kopie|copie|copia|of|\(\d+\)|v?\d+$|[^\W_]*submission", re.I)


def _plain_name(stem: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", stem).casefold() if c.isalnum())


def resembles(stem: str, name: str) -> bool:
    """Whether a file called `stem` reads like notebook `name`: "a1 (1)", "Copy of a1", "A1-Copy2", "a1_final"."""
    stem = stem[:200]
    if _plain_name(stem) == _plain_name(name):
        return True
    before, found, after = unicodedata.normalize("NFKC", stem).casefold().partition(name.casefold())
    if not found or before[-1:].isalnum() or after[:1].isalnum():  # problem12 is no copy of problem1
        return False
    rest = re.sub(r"[_\-.,]+", " ", f"{before} {after}")
    return not _plain_name(_COPY_WORDS.sub(" ", rest.strip()))


def _choose_files(
    notebook_files: _NotebookFiles, assignment: Assignment, flags: list[Flag]
) -> dict[str, StudentNotebook]:
    """Which file is which notebook of the assignment: name -> its cells. Raises Unreadable if none is."""
    if not notebook_files.names:
        raise Unreadable(_no_notebook(notebook_files, assignment))
    chosen: dict[str, StudentNotebook] = {}
    free = list(notebook_files.names)
    for notebook in assignment.notebooks:
        candidates = _candidates(notebook, free, notebook_files, assignment)
        if not candidates:
            flags.append(Flag("missing-notebook", f"{notebook.name}.ipynb was not handed in."))
            continue
        file = _best(notebook, candidates, notebook_files)
        if not any(owner is not None for owner in match(notebook, notebook_files.cells(file)).owner):
            raise Unreadable(_another_assignment(shown_name(file), f"{notebook.name}.ipynb"))
        chosen[notebook.name] = notebook_files.notebook(file)
        free.remove(file)
        flags += _flags_of_choice(notebook, file, candidates, notebook_files)
    if not chosen:
        raise _none_fits(notebook_files, assignment)
    return chosen


def _candidates(
    notebook: Notebook, free: list[str], notebook_files: _NotebookFiles, assignment: Assignment
) -> list[str]:
    """Files that may be this notebook, the likeliest first: by exact name, by a name like it, by what is inside."""
    own_names = {f"{other.name}.ipynb" for other in assignment.notebooks}
    exact = [name for name in free if PurePosixPath(name).name == f"{notebook.name}.ipynb"]
    exact.sort(key=lambda name: name.count("/"))
    unnamed = [name for name in free if PurePosixPath(name).name not in own_names]
    alike = [name for name in unnamed if resembles(notebook_stem(name) or "", notebook.name)]
    if exact or alike:
        return exact + alike
    others = [other.name for other in assignment.notebooks]
    inside = [n for n in unnamed if not any(resembles(notebook_stem(n) or "", other) for other in others)]
    inside = [name for name in inside if notebook_files.can_be_read(name)]
    inside = [name for name in inside if _shared(notebook, notebook_files.cells(name)) > 0]
    return sorted(inside, key=lambda name: (-_shared(notebook, notebook_files.cells(name)), name))


def _shared(notebook: Notebook, cells: tuple[StudentCell, ...]) -> float:
    """How much of the instructor's notebook is found in these cells, from 0 to 1; 0 if too little to speak of."""
    ids = {cell.grade_id for cell in notebook.cells if cell.grade_id}
    by_id = len(ids & {cell.grade_id for cell in cells}) / len(ids) if ids else 0.0
    if by_id >= 0.3:
        return by_id
    owners = {index for index in match(notebook, cells).owner if index is not None}
    by_cells = len(owners) / len(notebook.cells)
    return by_cells if by_cells >= 0.3 else 0.0


def _best(notebook: Notebook, candidates: list[str], notebook_files: _NotebookFiles) -> str:
    """The first candidate that can be read and was worked on; else the first that can be read; else the first."""
    readable = [name for name in candidates if notebook_files.can_be_read(name)]
    if len(readable) < 2:
        return (readable or candidates)[0]
    worked_on = (name for name in readable if _attempted_cells(notebook, notebook_files.cells(name)))
    return next(worked_on, readable[0])


def _attempted_cells(notebook: Notebook, cells: tuple[StudentCell, ...]) -> bool:
    by_id = {cell.grade_id: cell for cell in notebook.cells if cell.grade_id and cell.role in ANSWERED}
    return any(not is_untouched(by_id[cell.grade_id], cell.source) for cell in cells if cell.grade_id in by_id)


def _flags_of_choice(
    notebook: Notebook, file: str, candidates: list[str], notebook_files: _NotebookFiles
) -> Iterator[Flag]:
    if file != f"{notebook.name}.ipynb":
        yield Flag("renamed", f"'{shown_name(file)}' was taken for {notebook.name}.ipynb.")
    others = [shown_name(name) for name in candidates if name != file]
    if others:
        yield Flag("several-notebooks", f"{listed(others)} might be {notebook.name}.ipynb too and was not graded.")
    repairs = notebook_files.notebook(file).repairs
    if repairs:
        yield Flag("repaired", f"{shown_name(file)} was repaired: it {', '.join(repairs)}.")


def _none_fits(notebook_files: _NotebookFiles, assignment: Assignment) -> Unreadable:
    for name in notebook_files.names:
        try:
            notebook_files.notebook(name)
        except Unreadable as error:
            return error
    wanted = listed([f"{notebook.name}.ipynb" for notebook in assignment.notebooks])
    return Unreadable(_another_assignment(listed([shown_name(n) for n in notebook_files.names]), wanted))


def _another_assignment(handed_in: str, wanted: str) -> str:
    return f"{handed_in} shares no cell with {wanted}: another assignment? Hand in {wanted}."


def _no_notebook(notebook_files: _NotebookFiles, assignment: Assignment) -> str:
    wanted = listed([f"{notebook.name}.ipynb" for notebook in assignment.notebooks])
    if not notebook_files.others:
        return f"Nothing was handed in; hand in {wanted}."
    others = listed([shown_name(n) for n in notebook_files.others])
    return f"No notebook was handed in, only {others}; hand in {wanted}."


def shown_name(name: str) -> str:
    """A file name of the student's as it may stand in a sentence: one short line of visible characters."""
    visible = "".join(c if c.isprintable() and not 0xD800 <= ord(c) <= 0xDFFF else "?" for c in name)
    return visible if len(visible) <= 80 else visible[:60] + "..." + visible[-15:]


def listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _own_files(files: _NotebookFiles, assignment: Assignment) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Place beside the notebook -> name in the submission, of what stays; kind of flag -> names, of what does not.

    Nothing stays that would stand in for a file of the instructor's or for a module that is installed.
    """
    beside = {PurePosixPath(name).parent for name in files.names}
    folder = beside.pop() if len(beside) == 1 else PurePosixPath()
    given = {path.relative_to(assignment.folder).as_posix(): path for path in assignment.files}
    modules = {name.partition("/")[0].partition(".")[0] for name in given if name.endswith(_MODULES)}
    taken = {*given, *(str(parent) for name in given for parent in PurePosixPath(name).parents)} - {"."}
    kept: dict[str, str] = {}
    dropped: dict[str, list[str]] = {"shadow-module": [], "dropped-file": []}
    # What lies beside the notebook before what lies elsewhere and would come to the same place.
    for name in sorted(files.others, key=lambda name: not PurePosixPath(name).is_relative_to(folder)):
        path = PurePosixPath(name)
        place = path.relative_to(folder) if path.is_relative_to(folder) else path
        if _is_shadow(str(place), assignment):
            dropped["shadow-module"].append(name)
        elif str(place) in given and given[str(place)].read_bytes() == files.files[name]:
            continue  # as it was handed out
        elif (
            str(place) in taken
            or any(str(parent) in given or str(parent) in kept for parent in place.parents)
            or (place.name.endswith(_MODULES) and place.parts[0].partition(".")[0] in modules)
            or any(len(part.encode(errors="replace")) > 255 for part in place.parts)  # no file can be called so
        ):
            dropped["dropped-file"].append(name)
        else:
            kept[str(place)] = name
            taken |= {str(place), *map(str, place.parents)} - {"."}
    return kept, dropped


def _dropped_file_flags(dropped: Mapping[str, list[str]]) -> Iterator[Flag]:
    for kind, names in dropped.items():
        if names:
            yield Flag(kind, _DROPPED[kind].format(listed([shown_name(name) for name in names])))


_DROPPED = {
    "shadow-module": "Dropped files that would replace installed modules or start by themselves: {}.",
    "dropped-file": "Not used, because the assignment has a file of its own in that place: {}.",
}
_MODULES = (".py", ".pyc", ".so", ".pyd")


def _is_shadow(name: str, assignment: Assignment) -> bool:
    path = PurePosixPath(name)
    if path.suffix == ".pth" or path.name in ("ipython_config.py", "ipython_kernel_config.py", "pyvenv.cfg"):
        return True
    if path.suffix not in _MODULES:
        return False
    top = path.parts[0].split(".")[0]
    return top in sys.stdlib_module_names | _SPECIAL_MODULES or top in assignment.forbidden or top in _FRAMEWORKS


def _forbidden_modules(own: Mapping[str, bytes], forbidden: tuple[str, ...], flags: list[Flag]) -> tuple[str, ...]:
    """What may not be imported: what the assignment forbids, and the student's own modules that import it."""
    waiting = {place: content.decode(errors="replace") for place, content in own.items()} if forbidden else {}
    while caught := {place: found for place, text in waiting.items() if (found := forbidden_imports(text, forbidden))}:
        for place, modules in caught.items():
            del waiting[place]
            message = f"The file {shown_name(place)} imports {listed(list(modules))}, which is forbidden here."
            flags.append(Flag("forbidden-import", message))
        forbidden += tuple(place.partition("/")[0].removesuffix(".py") for place in caught)
    return forbidden


# --- one notebook ----------------------------------------------------------------------------------------------------


def _plan_notebook(
    notebook: Notebook, student: StudentNotebook, assignment: Assignment, flags: list[Flag]
) -> SubmittedNotebook:
    """The instructor's order with the student's answers and additions in it."""
    cells = student.cells
    found = match(notebook, cells)
    versions, slots = found.versions(), found.slots(len(notebook.cells))
    answers = {
        index: _answer(cell, [cells[p].source for p in versions.get(index, ())])
        for index, cell in enumerate(notebook.cells)
        if cell.role not in FIXED
    }
    added = {k: [cells[p] for p in positions if cells[p].source.strip()] for k, positions in slots.items()}
    typed = {
        index: [text for p in versions.get(index, ()) if (text := typed_into_task(cell, cells[p].source))]
        for index, cell in enumerate(notebook.cells)
    }
    plan: list[PlannedCell] = []
    late: list[PlannedCell] = []
    document = []
    last = _last_that_counts(notebook)
    for index in range(len(notebook.cells) + 1):
        for own in added.get(index, ()):
            if own.kind == "code":
                # The judge calls the answers when all cells have run: a closing `%reset` would take them away.
                where = late if index > last and _RESET.search(own.source) else plan
                where.append(PlannedCell(own.source, "extra"))
        document += [students_cell(cell.kind, cell.source) for cell in added.get(index, ())]
        if index < len(notebook.cells):
            cell = notebook.cells[index]
            plan += _planned(cell, answers.get(index, []), assignment)
            document.append(instructors_cell(cell, next(reversed(answers.get(index, [])), None)))
            document += [students_cell(cell.kind, text) for text in typed[index]]
    texts = _graded_texts(notebook, answers, typed, added)
    flags += _findings(notebook, cells, found, plan + late, assignment)
    return SubmittedNotebook(
        name=notebook.name,
        plan=tuple(plan),
        attempted=tuple(grade_id for grade_id, (_, attempted) in texts.items() if attempted),
        answers=tuple((grade_id, text) for grade_id, (text, _) in texts.items()),
        document=notebook_json(notebook, document),
    )


_RESET = re.compile(r"^\s*%\s*(reset|reset_selective|xdel)\b", re.M)
"""IPython's magics that forget names"""


def _last_that_counts(notebook: Notebook) -> int:
    """The last place in the instructor's order where what a student adds can matter to an answer or a test.

    The cells after a task are its answer, so there it is one further.
    """
    places = [i + (c.role is Role.TASK) for i, c in enumerate(notebook.cells) if c.role in ANSWERED or c.points]
    return max(places, default=len(notebook.cells))


def _answer(cell: Cell, texts: list[str]) -> list[str]:
    """The student's versions of a cell that are worth keeping; the last one counts. Stubs give way to any work."""
    if cell.kind != "code" and cell.role in ANSWERED:
        written = list(dict.fromkeys(text for text in texts if not is_untouched(cell, text)))
        return ["\n\n".join(written)] if written else texts[-1:]
    worked_on = [text for text in texts if not is_untouched(cell, text)]
    return worked_on or texts[-1:]


def _planned(cell: Cell, texts: list[str], assignment: Assignment) -> Iterator[PlannedCell]:
    """What to run for one of the instructor's cells."""
    left_out = cell.grade_id in assignment.skip or "skip-execution" in cell.tags
    if cell.kind != "code" or left_out:
        return
    if cell.role is Role.TESTS and assignment.checks is not None:
        return  # visible checks never count; the hidden ones run in the judge
    if cell.role in FIXED:
        yield PlannedCell(cell.source, "instructor", cell.grade_id)
    elif cell.role is Role.PLAIN:
        edited = bool(texts) and not is_instructors(cell, texts[-1])
        yield PlannedCell(texts[-1], "extra") if edited else PlannedCell(cell.source, "instructor")
    elif not texts:
        yield PlannedCell(cell.released, "instructor", cell.grade_id)
    else:
        yield from (PlannedCell(text, "extra") for text in texts[:-1])
        yield PlannedCell(texts[-1], "student", cell.grade_id)


def _graded_texts(
    notebook: Notebook, answers: dict[int, list[str]], typed: dict[int, list[str]], added: dict[int, list[StudentCell]]
) -> dict[str, tuple[str, bool]]:
    """For every solution, manual and task cell: the student's text, and whether it is their work."""
    found: dict[str, tuple[str, bool]] = {}
    for index, cell in enumerate(notebook.cells):
        if cell.role is Role.TASK:
            text = "\n\n".join([*typed[index], *(extra.source for extra in added.get(index + 1, ()))])
            found[cell.grade_id or ""] = (text, bool(text))
        elif cell.role in ANSWERED:
            text = next(reversed(answers[index]), "")
            found[cell.grade_id or ""] = (text, bool(answers[index]) and not is_untouched(cell, text))
    return found


# --- what a person should look at ------------------------------------------------------------------------------------


def _findings(
    notebook: Notebook,
    cells: tuple[StudentCell, ...],
    found: Matching,
    plan: list[PlannedCell],
    assignment: Assignment,
) -> Iterator[Flag]:
    versions = found.versions()
    furthest = -1
    for index, cell in enumerate(notebook.cells):
        positions = versions.get(index, [])
        if not positions:
            if cell.kind == "code" or cell.role is not Role.PLAIN:
                yield Flag("missing-cell", f"{_cell_name(notebook, index)} was deleted.", cell.grade_id)
            continue
        in_place = next((position for position in positions if position not in found.how), furthest)
        if cell.role is not Role.PLAIN and in_place < furthest:
            yield Flag("moved-cell", f"{_cell_name(notebook, index)} was moved.", cell.grade_id)
        furthest = max(furthest, in_place)
        for position in positions:
            yield from _findings_in_cell(notebook, index, cells[position], found.how.get(position))
        if len(positions) > 1:
            message = f"{_cell_name(notebook, index)} is there {len(positions)} times"
            counts = "the last one worked on counts" if cell.role not in FIXED else "the instructor's counts"
            yield Flag("duplicate-cell", f"{message}; {counts}.", cell.grade_id)
    yield from _forbidden(plan, assignment.forbidden)


def _forbidden(plan: list[PlannedCell], forbidden: tuple[str, ...]) -> Iterator[Flag]:
    """Where the student imports what the assignment forbids, or uses what another of their cells imported."""
    own = [planned for planned in plan if planned.origin != "instructor"]
    known: dict[str, str] = {}
    for planned in own:
        known |= forbidden_names(planned.source, forbidden)
    for planned in own:
        where = f"The answer '{planned.grade_id}'" if planned.grade_id else "A cell that the student added"
        imported = forbidden_imports(planned.source, forbidden)
        for module in imported:
            yield Flag("forbidden-import", f"{where} imports {module}, which is forbidden here.", planned.grade_id)
        used = (
            {known[name] for name in program_facts(planned.source).used & known.keys()}
            if known and planned.grade_id
            else set()
        )
        for module in sorted(used.difference(imported)):
            message = f"{where} uses {module}, which is forbidden here and imported in another cell."
            yield Flag("forbidden-import", message, planned.grade_id)


def _findings_in_cell(notebook: Notebook, index: int, student: StudentCell, how: str | None) -> Iterator[Flag]:
    cell, name = notebook.cells[index], _cell_name(notebook, index)
    if typed_into_task(cell, student.source):
        yield Flag("answer-in-task", f"{name} sets a task, and the answer was typed into it.", cell.grade_id)
    elif cell.role in FIXED and not is_instructors(cell, student.source):
        yield Flag(
            "edited-locked-cell", f"{name} is locked and was edited; the instructor's text counts.", cell.grade_id
        )
    if cell.role is Role.PLAIN and cell.kind == "code" and not is_instructors(cell, student.source):
        yield Flag("edited-cell", f"{name} is not locked and was edited; the student's text runs.")
    if how and cell.role is not Role.PLAIN:
        by = "what it defines" if how == "name" else "its place"
        yield Flag("found-answer", f"{name} had lost its id; the answer was found by {by}.", cell.grade_id)
    skipping = _SKIPPING_TAGS.intersection(student.tags).difference(cell.tags)
    if skipping:
        yield Flag("skip-tag", f"{name} carries the tag {listed(sorted(skipping))}; it was ignored.", cell.grade_id)
    changed = _changed_claims(cell, student)
    if changed:
        message = f"{name} came back with other metadata ({listed(changed)}); the instructor's counts."
        yield Flag("changed-metadata", message, cell.grade_id)


def _changed_claims(cell: Cell, student: StudentCell) -> list[str]:
    """What of nbgrader's metadata a student's copy says that the instructor's does not."""
    if cell.role is Role.PLAIN:
        return []
    graded = cell.role in (Role.TESTS, Role.MANUAL)
    truth = {
        "grade": ("true",) if graded else ("false",),
        "solution": ("true",) if cell.role in ANSWERED else ("false",),
        "task": ("true",) if cell.role is Role.TASK else ("false",),
        "schema_version": ("0.0", "1.0", "2.0", "3.0"),
        "points": (str(float(cell.points)),),
    }
    if not graded and cell.role is not Role.TASK:
        truth["points"] = ("null", *(claim for key, claim in student.claims if key == "points"))
    changed = [f"{key}: {claim}" for key, claim in student.claims if key in truth and claim not in truth[key]]
    if student.kind != cell.kind:
        changed.append(f"cell type: {student.kind}")
    return changed


def _cell_name(notebook: Notebook, index: int) -> str:
    cell = notebook.cells[index]
    if cell.grade_id:
        return f"Cell '{cell.grade_id}'"
    first = shown_name(next((line.strip() for line in cell.source.splitlines() if line.strip()), ""))
    return f"Cell {index + 1} of {notebook.name} ('{first[:40]}')"
