"""Find in a release what students must not see: a solution, a hidden check, a trace of the author's machine.

nbgrader takes out what lies between its marks and trusts the author for the rest. People forget a mark, run the
release notebook before they commit it, or copy the instructor's folder by hand. So nothing here asks how a
folder was made: every text in it is compared with what is known to be secret, and every file with what a
student's folder may hold. A line that nbgrader itself leaves in a fresh build is no secret.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import keyword
import re
import stat
import tarfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.errors import BadAssignment
from autograder.records import Assignment, Cell, Notebook, Role

PRIVATE_FILES = (
    "checks.py",
    "faults.py",
    "probes.py",
    "assignment.toml",
    "gradebook.db",
    "results.json",
    "journal.jsonl",
)
"""Names that only the instructor's folders hold."""
PRIVATE_FOLDERS = ("bank",)
BACKUPS = (
    "*~",
    "*.bak",
    "*.orig",
    "*.rej",
    "*.swp",
    "*.swo",
    "#*#",
    ".#*",
    ".DS_Store",
    "Thumbs.db",
    "*-checkpoint.ipynb",
)
CACHES = (
    "__pycache__",
    ".ipynb_checkpoints",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    "*.egg-info",
)

MARKS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "BEGIN HIDDEN TESTS",
    "END HIDDEN TESTS",
    "BEGIN MARK SCHEME",
    "END MARK SCHEME",
)
LOCAL_PATH = re.compile(
    r"""(?<![\w.:/-])/(?:home|Users|root|tmp|mnt|media|private/var|var/folders|var/tmp)/\w[^\s"'`)\]>]*"""
    r"""|\b[A-Za-z]:(?:\\{1,2}|/)(?:Users|Documents\ and\ Settings|Temp|Windows)\b[^\s"'`)\]>]*"""
    r"""|\bfile://[^\s"'`)\]>]+""",
    re.VERBOSE,
)

SHORT = 8
"""A solution line with fewer characters, spaces not counted, gives nothing away: `return x`, `else:`."""
LONG = 24
"""From this length on a secret is looked for inside lines too, not only as a whole line."""
COPIED_LINES = 3
"""So many lines of one solution in a cell that is no solution cell are a copy, not a coincidence."""


@dataclass(frozen=True)
class Leak:
    """One thing that must not be in a release."""

    path: str
    """where, relative to the folder looked at"""
    kind: str
    """`solution`, `hidden check`, `output`, `bytecode`, `local path`, `bank`, `private file`, `link`, `backup`,
    `stale`, `missing` or `unreadable`"""
    finding: str
    """what was found, one line"""

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}: {self.finding}"


@dataclass(frozen=True)
class Secret:
    """One line or sentence that a release may not hold."""

    text: str
    """without any white space"""
    kind: str
    origin: str
    """where the instructor keeps it, for the message"""


# What is secret -------------------------------------------------------------------------------------------------------


def secrets_of(assignment: Assignment, public: Iterable[str]) -> tuple[Secret, ...]:
    """Everything of `assignment` that must stay with the instructor, without what `public` texts say anyway."""
    found = [*_solution_secrets(assignment), *_hidden_test_secrets(assignment), *_file_secrets(assignment)]
    texts = list(public)
    lines = {line for text in texts for line in _lines(text)}
    whole = "\n".join(_without_blanks(text) for text in texts)
    unique = {
        s.text: s for s in reversed(found) if s.text not in lines and not (len(s.text) >= LONG and s.text in whole)
    }
    return tuple(unique.values())


def copied_solutions(source: Notebook) -> list[tuple[str, str]]:
    """Cells of the instructor's own text that repeat a solution: (the cell's name, the solution's name)."""
    found: list[tuple[str, str]] = []
    for solution in (c for c in source.cells if c.role is Role.SOLUTION):
        stub = set(_lines(solution.released))
        secret = {s for s in map(_without_blanks, solution_lines(solution)) if s not in stub}
        secret = {s for s in secret if _is_telling(s)}
        for index, cell in enumerate(source.cells):
            if cell.role in (Role.SOLUTION, Role.MANUAL):
                continue
            shared = secret & set(_lines(cell.released or cell.source))
            if len(shared) >= max(COPIED_LINES, len(secret) / 2):
                found.append((cell.grade_id or f"cell {index + 1}", solution.grade_id or "?"))
    return found


def solution_lines(cell: Cell) -> list[str]:
    """The lines that nbgrader takes out of a solution cell: those between its marks, or all where there are none."""
    inside = _lines_between(cell.source, "BEGIN SOLUTION", "END SOLUTION")
    return inside if inside is not None else cell.source.splitlines()


def _solution_secrets(assignment: Assignment) -> Iterator[Secret]:
    for notebook in assignment.notebooks:
        for cell in notebook.cells:
            if cell.role not in (Role.SOLUTION, Role.MANUAL):
                continue
            stub = set(_lines(cell.released))
            for line in solution_lines(cell):
                text = _without_blanks(line.strip())
                tells = _is_telling(line) if cell.kind == "code" else len(line.split()) >= 3 and len(text) >= SHORT
                if tells and text not in stub:
                    yield Secret(text, "solution", f"the solution of {cell.grade_id}")


def _hidden_test_secrets(assignment: Assignment) -> Iterator[Secret]:
    for notebook in assignment.notebooks:
        for cell in notebook.cells:
            for what, name in (("HIDDEN TESTS", "the hidden tests"), ("MARK SCHEME", "the mark scheme")):
                for line in _lines_between(cell.source, f"BEGIN {what}", f"END {what}") or []:
                    if _is_telling(line):
                        yield Secret(_without_blanks(line.strip()), "hidden check", f"{name} of {cell.grade_id}")


def _file_secrets(assignment: Assignment) -> Iterator[Secret]:
    for path in (assignment.checks, assignment.faults):
        if path is not None and path.exists():
            yield from _secrets_in_source(path, "hidden check", path.name)
    for path in sorted((assignment.folder / "bank").glob("*.py")):
        yield from _secrets_in_source(path, "bank", f"bank/{path.name}")


def _secrets_in_source(path: Path, kind: str, origin: str) -> Iterator[Secret]:
    """The telling lines of a Python file, and its sentences as a reader would see them. Nothing is executed."""
    try:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError) as error:
        raise BadAssignment(f"{path}: cannot be read as Python ({error}); repair it before releasing.") from None
    for line in source.splitlines():
        text = _without_blanks(line.strip())
        if len(text) >= LONG and not line.lstrip().startswith(("import ", "from ", "@pytest.mark.", "#")):
            yield Secret(text, kind, origin)
    # The error by which a fault is known is a library's sentence, and a lecture may explain it.
    raised = [k.value for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "raises"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in raised:
            for line in node.value.splitlines():
                # A sentence, not the name of a cell or a check, which the release may well hold.
                if len(text := _without_blanks(line)) >= LONG and len(line.split()) >= 3:
                    yield Secret(text, kind, origin)


# What a folder holds --------------------------------------------------------------------------------------------------


def leaks_in_files(folder: Path, skip: Collection[str] = ()) -> list[Leak]:
    """Files that no release holds, marks, outputs and local paths, in all of `folder` but its entries in `skip`."""
    found: list[Leak] = []
    for path in _walk(folder, skip):
        name = path.relative_to(folder).as_posix()
        found += _leaks_of_name(name)
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found.append(Leak(name, "link", "a link leads out of the folder; put the file itself here"))
        elif stat.S_ISREG(mode):
            found += _leaks_of_content(path, name)
        elif not stat.S_ISDIR(mode):
            found.append(Leak(name, "link", "not a plain file"))
    return found


def leaks_of_secrets(folder: Path, secrets: Collection[Secret], skip: Collection[str] = ()) -> list[Leak]:
    """Places in `folder` that repeat one of `secrets`; at most one for each file, cell and origin."""
    short = {s.text: s for s in secrets}
    long = [s for s in secrets if len(s.text) >= LONG]
    found: dict[tuple[str, str], Leak] = {}
    for path in _walk(folder, skip):
        if not stat.S_ISREG(path.lstat().st_mode) or (data := _text_of(path)) is None:
            continue
        name = path.relative_to(folder).as_posix()
        for place, text in texts_of(name, data):
            squeezed = _without_blanks(text)
            hits = [short[line] for line in _lines(text) if line in short] + [s for s in long if s.text in squeezed]
            for secret in hits:
                leak = Leak(place, secret.kind, f"holds a line of {secret.origin}: {_shorten(secret.text)}")
                found.setdefault((place, secret.origin), leak)
    return list(found.values())


def differences(folder: Path, fresh: Mapping[str, bytes]) -> list[Leak]:
    """How `folder` differs from the `fresh` build of the same release (path -> content)."""
    present = {p.relative_to(folder).as_posix(): p for p in _walk(folder) if p.is_file() and not p.is_symlink()}
    again = "run `autograder release` again"
    found = [Leak(name, "stale", f"is missing; {again}") for name in sorted(fresh.keys() - present.keys())]
    found += [
        Leak(name, "stale", f"is not part of the assignment; {again}") for name in sorted(present.keys() - fresh.keys())
    ]
    for name in sorted(present.keys() & fresh.keys()):
        if present[name].read_bytes() != fresh[name]:
            found.append(Leak(name, "stale", f"differs from a fresh build; {again}"))
    return found


def _leaks_of_name(name: str) -> Iterator[Leak]:
    path = PurePosixPath(name)
    if path.suffix in (".pyc", ".pyo") or path.name == "__pycache__":
        yield Leak(name, "bytecode", "compiled Python shows its source to whoever decompiles it")
    elif any(fnmatch.fnmatchcase(path.name, pattern) for pattern in (*BACKUPS, *CACHES)):
        yield Leak(name, "backup", "left behind by an editor or a tool")
    if path.name in PRIVATE_FOLDERS:
        yield Leak(name, "bank", "the bank of known submissions stays with the instructor")
    elif path.name in PRIVATE_FILES:
        yield Leak(name, "private file", "stays with the instructor")


def _leaks_of_content(path: Path, name: str) -> Iterator[Leak]:
    data = path.read_bytes()
    if data[2:4] == b"\r\n" and b"\0" in data[:64] and path.suffix not in (".pyc", ".pyo"):
        yield Leak(name, "bytecode", "begins as compiled Python does")
    for member in _members(path):
        yield from (Leak(f"{name}!{member}", leak.kind, leak.finding) for leak in _leaks_of_name(member))
    if (text := _text_of(path)) is None:
        return
    if path.suffix == ".ipynb":
        yield from _leaks_of_notebook(name, text)
    for place, part in texts_of(name, text):
        for mark in MARKS:
            if mark in part if path.suffix == ".ipynb" else re.search(rf"(?m)^\s*#+\s*{mark}\s*$", part):
                yield Leak(place, "solution" if "SOLUTION" in mark else "hidden check", f"holds the mark {mark}")
        if hit := LOCAL_PATH.search(part):
            yield Leak(place, "local path", f"names a path of one machine: {_shorten(hit[0])}")


def _leaks_of_notebook(name: str, text: str) -> Iterator[Leak]:
    try:
        document = json.loads(text)
        cells = list(document["cells"])
        metadata = dict(document.get("metadata", {}))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        yield Leak(name, "unreadable", f"is no notebook ({type(error).__name__}: {error})")
        return
    if "widgets" in metadata:
        yield Leak(name, "output", "the notebook's metadata keeps the state of widgets")
    for index, cell in enumerate(cells):
        place = f"{name}, cell {index + 1}"
        if not isinstance(cell, dict):
            yield Leak(place, "unreadable", "is no cell")
        elif cell.get("outputs"):
            yield Leak(place, "output", f"keeps {len(cell['outputs'])} output(s); clear them")
        elif cell.get("execution_count") is not None:
            yield Leak(place, "output", "keeps its execution count; clear it")


# Small steps ----------------------------------------------------------------------------------------------------------


def _walk(folder: Path, skip: Collection[str] = ()) -> Iterator[Path]:
    """Everything below `folder` in order, links not followed; `skip` names entries of the top folder."""
    for path in sorted(folder.iterdir()):
        if path.name in skip:
            continue
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)


def _members(path: Path) -> list[str]:
    """The names in an archive, and the folders they lie in; a checks.py in a zip is as readable as one beside it."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        elif path.suffix not in (".py", ".ipynb") and tarfile.is_tarfile(path):
            with tarfile.open(path) as tar:
                names = tar.getnames()
        else:
            return []
    except (OSError, zipfile.BadZipFile, tarfile.TarError):
        return []
    paths = [PurePosixPath(name) for name in names]
    return sorted({str(p) for path in paths for p in (path, *path.parents) if p.name})


def _text_of(path: Path) -> str | None:
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def texts_of(name: str, text: str) -> Iterator[tuple[str, str]]:
    """(place, text) of a file: every string of a notebook by cell, else the whole text."""
    if name.endswith(".ipynb"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict):
            cells = document.pop("cells", [])
            for index, cell in enumerate(cells if isinstance(cells, list) else [cells]):
                yield from ((f"{name}, cell {index + 1}", part) for part in _strings(cell))
            yield from ((name, part) for part in _strings(document))
            return
    yield name, text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        # A source may be stored as a list of lines: one text, so that what is split over two lines is still found.
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)


def _lines_between(source: str, begin: str, end: str) -> list[str] | None:
    """The lines between the marks, without them; None where there is no mark."""
    found: list[str] | None = None
    inside = False
    for line in source.splitlines():
        if begin in line:
            inside, found = True, found or []
        elif end in line:
            inside = False
        elif inside and found is not None:
            found.append(line)
    return found


def _lines(text: str) -> Iterator[str]:
    """The lines of a text as they are compared: without white space, comment marks, quotes and list marks."""
    for line in text.splitlines():
        yield _without_blanks(line)
        yield _without_blanks(line.strip().lstrip("#>-* \t"))


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _is_telling(line: str) -> bool:
    """Whether a line of a solution gives something away: two names at least, and more than a few characters."""
    code = line.strip()
    names = [n for n in re.findall(r"[A-Za-z_]\w*|\d+\.?\d*", code) if n not in _COMMON]
    return len(_without_blanks(code)) >= SHORT and len(names) >= 2 and not code.startswith("#")


_COMMON = frozenset({*keyword.kwlist, "self", "range", "len", "print"})


def _shorten(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
