"""Find what a class handed in, in whatever layout it arrives, and let no submission spoil another's.

One set of rules reads folders and zips alike: nbgrader's `STUDENT/ASSIGNMENT/`, folders of `STUDENT/`, flat folders of
`STUDENT.ipynb`, and what Canvas and Moodle make of them. A link, a pipe or a trap rejects its own student and nobody
else. Contents are read when they are asked for.
"""

from __future__ import annotations

import hashlib
import re
import stat
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.errors import WrongUse
from autograder.records import Assignment, Flag, Submission
from autograder.submissions.plan import is_litter, notebook_stem, read_submission, resembles, shown_name
from autograder.submissions.sources import Files, Folder, Source, SourceEntry, Zip, files_below, is_zip

MAX_NAME_BYTES = 120
"""of a student's name as a folder name; file systems allow 255, and suffixes are added later"""
_COMPARED_BYTES = 8 << 20
"""larger notebooks are not compared between students"""
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.S)
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)", re.S)
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


@dataclass(frozen=True)
class StudentFiles:
    """What one student handed in: not yet read."""

    student: str
    """fit to be the name of a folder"""
    files: Mapping[str, bytes]
    """path within the submission -> content, read at each access; OSError with a sentence if that fails. Of files that
    are no notebooks only the names are there, with `b""`: they are dropped, and told"""
    note: str = ""
    """what was changed about the student's name"""
    rejected: str = ""
    """why nothing of it may be opened; empty if it may"""
    flags: tuple[Flag, ...] = ()

    def read(self, assignment: Assignment) -> Submission:
        """The submission, whatever is in the files; never raises for their content."""
        if self.rejected:
            return Submission(self.student, assignment.name, flags=self.flags, rejected=self.rejected)
        submission = read_submission(self.student, self.files, assignment)
        worked_on = any(notebook.attempted for notebook in submission.notebooks)
        # Two untouched copies of the release are equal without anybody having copied.
        flags = tuple(flag for flag in self.flags if flag.kind != "identical" or worked_on)
        return replace(submission, flags=flags + submission.flags)


@dataclass
class _Group:
    """The entries of one student, by their names within the submission."""

    student: str
    entries: dict[str, SourceEntry] = field(default_factory=dict)

    def add(self, name: str, entry: SourceEntry) -> None:
        base, number = name, 2
        while name in self.entries:  # several files of a flat folder may mean the same notebook
            name, number = re.sub(r"(?=\.ipynb|$)", f" ({number})", base, count=1), number + 1
        self.entries[name] = entry


def find_submissions(path: Path, assignment: Assignment) -> list[StudentFiles]:
    """Everybody's submission below `path`, sorted by student.

    `path`: a folder, one notebook or a zip. Raises WrongUse if it cannot be opened or holds no submission.
    """
    try:
        groups, source = _find_groups(path, assignment)
    # NotImplementedError is how zipfile says that it cannot read a compression method or a newer kind of archive.
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        finding = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise WrongUse(f"The submissions at {path} cannot be opened: {finding}.") from error
    if not groups:
        raise WrongUse(_nothing_found(path, source, assignment))
    groups.sort(key=lambda group: group.student)
    found = [_student_files(group, source) for group in groups]
    found = _with_distinct_names(found)
    found = _without_links(found, groups, assignment)
    return sorted(_with_identical(found, groups), key=lambda student_files: student_files.student)


def _find_groups(path: Path, assignment: Assignment) -> tuple[list[_Group], Source]:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        folder = Folder(path.absolute())
        return _groups_in_folder(folder, path.resolve(), assignment), folder
    if not stat.S_ISREG(mode):
        raise WrongUse(f"{path} is neither a folder nor a file. Name a folder, a notebook or a zip of submissions.")
    if notebook_stem(path.name) is not None:
        real = path.resolve()
        return [_one_notebook(path, real, assignment)], Folder(real.parent)
    if is_zip(path):
        archive = Zip(path.absolute())
        return _groups_in_folder(archive, path, assignment), archive
    raise WrongUse(f"{path} is neither a notebook nor a zip. Unpack other archives first and name the folder.")


def _nothing_found(path: Path, source: Source, assignment: Assignment) -> str:
    names = [child.name + ("/" if child.is_folder else "") for child in source.children(())]
    there = (
        f"it holds {', '.join(shown_name(n) for n in names[:5])}{' ...' * (len(names) > 5)}" if names else "it is empty"
    )
    return (
        f"No submissions in {path}: {there}. Looked for STUDENT/{assignment.name}/*.ipynb, STUDENT/*.ipynb and "
        "STUDENT.ipynb, also inside a zip."
    )


# --- layouts -------------------------------------------------------------------------------------------------------


def _groups_in_folder(source: Source, path: Path, assignment: Assignment, at: tuple[str, ...] = ()) -> list[_Group]:
    """The students below the folder `at`. `path` is where that folder lies, for its name."""
    children = [child for child in source.children(at) if not _is_aside(child)]
    folders = [child for child in children if child.is_folder]
    notebooks = [child for child in children if _is_notebook(child)]
    names = {child.name for child in folders}
    if "submitted" in names and ("source" in names or any(c.name == "nbgrader_config.py" for c in children)):
        return _groups_in_folder(source, path / "submitted", assignment, (*at, "submitted"))  # a whole nbgrader course
    if notebooks and all(_is_own_name(child.name, assignment) for child in notebooks):
        return [_whole_folder(source, SourceEntry(at, is_folder=True), _folder_name(path, assignment))]
    if assignment.name in names and not notebooks:
        folder = next(child for child in folders if child.name == assignment.name)
        return [_whole_folder(source, folder, _folder_name(path, assignment))]
    inner = {folder.parts: _list_folder(source, folder) for folder in folders}
    if any(_own_folder(inner[folder.parts], assignment) for folder in folders):
        groups = _nbgrader_layout(source, folders, inner, assignment)
    elif len(folders) == 1 and not notebooks and _is_wrapping(source, inner[folders[0].parts], assignment):
        return _groups_in_folder(source, path / folders[0].name, assignment, folders[0].parts)
    else:
        groups = _student_folders(source, folders)
    if groups:  # a link where students' folders lie stands for a student
        groups += [
            _rejected_link(child)
            for child in children
            if child.problem and not _student_of_flat_file(child, assignment)
        ]
    return groups + _flat_layout(children, assignment)


def _is_aside(entry: SourceEntry) -> bool:
    return (
        entry.name.startswith(".")
        or is_litter("/".join(entry.parts) + "/" * entry.is_folder)
        or entry.name == "__MACOSX"
    )


def _is_notebook(entry: SourceEntry) -> bool:
    return not entry.is_folder and not entry.problem and notebook_stem(entry.name) is not None


def _is_own_name(name: str, assignment: Assignment) -> bool:
    return name in {f"{notebook.name}.ipynb" for notebook in assignment.notebooks}


def _folder_name(path: Path, assignment: Assignment) -> str:
    """The student that a single submission's folder or zip belongs to."""
    named = path.parent if path.name == assignment.name else path
    return _lms_name(named.stem if named.suffix == ".zip" else named.name) or "student"


def _lms_name(name: str) -> str:
    found = _MOODLE.fullmatch(name)
    return f"{found['name']}_{found['id']}" if found else name


def _list_folder(source: Source, folder: SourceEntry) -> list[SourceEntry]:
    try:
        return source.children(folder.parts)
    except OSError:
        return []  # told when the student's files are collected


def _own_folder(children: Iterable[SourceEntry], assignment: Assignment) -> SourceEntry | None:
    """The `ASSIGNMENT` in a student's folder of nbgrader's layout: a folder, or something posing as one."""
    fits = (child for child in children if child.name == assignment.name and (child.is_folder or child.problem))
    return next(fits, None)


def _nbgrader_layout(
    source: Source, folders: list[SourceEntry], inner: dict[tuple[str, ...], list[SourceEntry]], assignment: Assignment
) -> list[_Group]:
    """`STUDENT/ASSIGNMENT/`. A student without that folder handed in other assignments only."""
    groups = []
    for folder in folders:
        own = _own_folder(inner[folder.parts], assignment)
        if own is not None:
            groups.append(_whole_folder(source, own, folder.name))
        elif not inner[folder.parts]:
            groups.append(_whole_folder(source, folder, folder.name))
    return groups


def _is_wrapping(source: Source, children: list[SourceEntry], assignment: Assignment) -> bool:
    """Whether a lone folder holds the class rather than being a student's: zips often have one."""
    folders = [child for child in children if child.is_folder and not _is_aside(child)]
    if any(_own_folder(_list_folder(source, folder), assignment) for folder in folders):
        return True
    stems = [notebook_stem(child.name) or "" for child in children if _is_notebook(child)]
    if not stems:
        return any(_is_notebook(entry) for folder in folders for entry in files_below(source, folder))
    return not any(resembles(stem, notebook.name) for stem in stems for notebook in assignment.notebooks)


def _student_folders(source: Source, folders: list[SourceEntry]) -> list[_Group]:
    """`STUDENT/*.ipynb`, if any of the folders holds a notebook or something that may not be opened."""
    groups = [_whole_folder(source, folder, _lms_name(folder.name)) for folder in folders]
    entries = [entry for group in groups for entry in group.entries.values()]
    return groups if any(_is_notebook(entry) or entry.problem for entry in entries) else []


def _whole_folder(source: Source, folder: SourceEntry, student: str) -> _Group:
    group = _Group(student)
    for entry in [folder] if folder.problem else files_below(source, folder):
        group.add("/".join(entry.parts[len(folder.parts) :]) or entry.name, entry)
    return group


def _rejected_link(entry: SourceEntry) -> _Group:
    return _Group(_lms_name(entry.name), {entry.name: entry})


def _flat_layout(children: list[SourceEntry], assignment: Assignment) -> list[_Group]:
    """`STUDENT.ipynb`, and files that an LMS named after student, numbers and the original name."""
    groups: dict[str, _Group] = {}
    for child in children:
        found = _student_of_flat_file(child, assignment)
        if found is not None:
            student, name = found
            groups.setdefault(student, _Group(student)).add(name, child)
    return list(groups.values())


def _student_of_flat_file(entry: SourceEntry, assignment: Assignment) -> tuple[str, str] | None:
    """Whose a file in a flat folder is, and its name within the submission; None if it is nobody's."""
    if entry.is_folder:
        return None
    lms = _MOODLE.fullmatch(entry.name) or _CANVAS.fullmatch(entry.name)
    if lms and lms["file"]:
        return f"{lms['name']}_{lms['id']}", lms["file"]
    stem = notebook_stem(entry.name)
    if stem is None:
        return None
    for notebook in assignment.notebooks:
        before = stem[: -len(notebook.name)]
        if stem.casefold().endswith(notebook.name.casefold()) and before.rstrip("_- "):
            return before.rstrip("_- "), f"{notebook.name}.ipynb"
    only = assignment.notebooks[0].name if len(assignment.notebooks) == 1 else stem
    return stem, f"{only}.ipynb"


def _one_notebook(path: Path, real: Path, assignment: Assignment) -> _Group:
    entry = SourceEntry((real.name,), size=real.stat().st_size)
    student, name = _student_of_flat_file(SourceEntry((path.name,)), assignment) or (path.stem, path.name)
    if any(resembles(notebook_stem(path.name) or "", notebook.name) for notebook in assignment.notebooks):
        folder = path.absolute().parent
        student = folder.parent.name if folder.name == assignment.name else notebook_stem(path.name) or path.name
        name = path.name
    return _Group(student, {name: entry})


# --- one student ---------------------------------------------------------------------------------------------------


def _student_files(group: _Group, source: Source) -> StudentFiles:
    student, note = safe_name(group.student)
    problems = [f"{shown_name(name)} {entry.problem}" for name, entry in group.entries.items() if entry.problem]
    plain = {name: entry for name, entry in group.entries.items() if not entry.problem}
    files = Files(source, plain, unopened=frozenset(name for name in plain if notebook_stem(name) is None))
    rejected = f"{problems[0]}. Nothing of this submission was opened; hand in plain files." if problems else ""
    return StudentFiles(student, files, note, rejected, _renaming_flags(note))


def _renaming_flags(note: str) -> tuple[Flag, ...]:
    return (Flag("renamed-student", note),) if note else ()


def safe_name(raw: str) -> tuple[str, str]:
    """A student's name as every file system takes it, and a sentence if that is not the name as it was."""
    name = "".join("_" if _is_unsafe(c) else c for c in unicodedata.normalize("NFC", raw)).strip(" .")
    if name[:1] in ("-", "~", "=", "+", "@", "'") or name.split(".")[0].casefold() in _RESERVED or not name:
        name = "_" + name
    if len(name.encode()) > MAX_NAME_BYTES:
        mark = hashlib.sha256(raw.encode(errors="surrogatepass")).hexdigest()[:8]
        name = name.encode()[: MAX_NAME_BYTES - 9].decode(errors="ignore").rstrip(" .") + "-" + mark
    return name, "" if name == raw else f"The student is called {name} here; handed in as {shown_name(raw)!r}."


def _is_unsafe(character: str) -> bool:
    """Control, format (bidirectional overrides), surrogate characters and whatever a shell or Windows minds."""
    return unicodedata.category(character).startswith("C") or character in '/\\:*?"<>|`$;&\u2028\u2029'


def _with_distinct_names(found: list[StudentFiles]) -> list[StudentFiles]:
    """Names that differ in case alone are one folder on many systems: all but the first get a number."""
    used: set[str] = set()
    distinct = []
    for student_files in found:
        name, number = student_files.student, 2
        while name.casefold() in used:
            name, number = f"{student_files.student}-{number}", number + 1
        used.add(name.casefold())
        if name != student_files.student:
            note = f"The student is called {name} here, as another one is called {student_files.student} but for case."
            student_files = replace(student_files, student=name, note=note, flags=_renaming_flags(note))
        distinct.append(student_files)
    return distinct


# --- between students ------------------------------------------------------------------------------------------------


def _without_links(found: list[StudentFiles], groups: list[_Group], assignment: Assignment) -> list[StudentFiles]:
    """Hard links are plain files, but one to the instructor's own would hand in the solution."""
    instructors = _identities(assignment.folder)
    checked = []
    for student_files, group in zip(found, groups, strict=True):
        linked = {name: entry.identity for name, entry in group.entries.items() if entry.identity is not None}
        stolen = [shown_name(name) for name, identity in linked.items() if identity in instructors]
        if stolen:
            student_files = replace(
                student_files, rejected=f"{stolen[0]} is a hard link to a file of the assignment's own folder."
            )
        elif any(notebook_stem(name) is not None for name in linked):
            flag = Flag(
                "hard-link", f"{shown_name(next(iter(linked)))} is a hard link: it has another name somewhere else."
            )
            student_files = replace(student_files, flags=(*student_files.flags, flag))
        checked.append(student_files)
    return checked


def _identities(folder: Path) -> set[tuple[int, int]]:
    statuses = (path.stat() for path in folder.rglob("*") if path.is_file())
    return {(status.st_dev, status.st_ino) for status in statuses}


def _with_identical(found: list[StudentFiles], groups: list[_Group]) -> list[StudentFiles]:
    """Flag submissions whose notebooks are the same bytes. Only those of equal size are opened for it."""
    sizes = [
        ()
        if student_files.rejected
        else tuple(sorted(e.size for n, e in group.entries.items() if notebook_stem(n) is not None))
        for student_files, group in zip(found, groups, strict=True)
    ]
    common = Counter(sizes)
    by_content: dict[str, list[int]] = defaultdict(list)
    for index, student_files in enumerate(found):
        if sizes[index] and common[sizes[index]] > 1 and sum(sizes[index]) <= _COMPARED_BYTES:
            by_content[_notebooks_digest(student_files)].append(index)
    result = list(found)
    for content, indices in by_content.items():
        for index in indices if content and len(indices) > 1 else ():
            others = [found[other].student for other in indices if other != index]
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            flag = Flag("identical", f"The same bytes as the submission of {', '.join(others[:3])}{more}.")
            result[index] = replace(found[index], flags=(*found[index].flags, flag))
    return result


def _notebooks_digest(student_files: StudentFiles) -> str:
    names = [name for name in student_files.files if notebook_stem(name) is not None]
    try:
        return "".join(sorted(hashlib.sha256(student_files.files[name]).hexdigest() for name in names))
    except OSError:
        return ""
