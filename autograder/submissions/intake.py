"""Find what a class handed in, in whatever layout it arrives, and let no submission spoil another's.

One set of rules reads folders and zips alike: nbgrader's `STUDENT/ASSIGNMENT/`, folders of `STUDENT/`, flat folders of
`STUDENT.ipynb`, and what learning platforms make of them (`platforms.py`). Each student's folder is read by itself,
so that what lies in one decides nothing about another; whatever lies beside them is a student's, or is named with the
reason why not. A link, a pipe or a trap rejects its own student and nobody else. Contents are read when they are asked
for, in pieces.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import stat
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from autograder.errors import WrongUse
from autograder.records import Assignment, Flag, Submission
from autograder.submissions.plan import (
    MAX_OWN_BYTES,
    MAX_OWN_FILES,
    MAX_SUBMISSION_BYTES,
    is_litter,
    listed,
    notebook_stem,
    own_names,
    read_names,
    read_submission,
    resembles,
    shown_name,
)
from autograder.submissions.platforms import HandIn, alike, classroom_prefix, read_name, without_front
from autograder.submissions.sources import Files, Folder, Source, SourceEntry, Zip, files_below, files_in_zip, is_zip

MAX_NAME_BYTES = 120
"""of a student's name as a folder name; file systems allow 255, and suffixes are added later"""
MAX_ZIPS = 5
"""of a student who hands in no notebook that are looked into; zips inside them are not"""
_COURSE_FOLDERS = frozenset({"source", "release", "submitted", "autograded", "feedback"})
"""of an nbgrader course"""
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


@dataclass(frozen=True)
class StudentFiles:
    """What one student handed in: not yet read."""

    student: str
    """fit to be the name of a folder"""
    files: Mapping[str, bytes]
    """path within the submission -> content, read at each access; OSError with a sentence if that fails"""
    note: str = ""
    """what was changed about the student's name"""
    rejected: str = ""
    """why nothing of it may be opened; empty if it may"""
    flags: tuple[Flag, ...] = ()
    platform: tuple[str, str, str] = ("", "", "")
    """the learning platform that named the files, its number of the student, and what it called the file that counts"""
    handed_in: str = ""
    """when, as the platform or nbgrader wrote it down; empty where nothing but the student's own files tells"""

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of one file bit by bit: a class may hold more than the memory does."""
        return self.files.pieces_of(name) if isinstance(self.files, Files) else iter([self.files[name]])

    def digests(self) -> Mapping[str, str]:
        """Name -> digest of the content, hexadecimal; nothing for what cannot be read."""
        if isinstance(self.files, Files):
            return self.files.digests
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    def read(self, assignment: Assignment) -> Submission:
        """The submission, whatever is in the files; never raises for their content."""
        if self.rejected:
            return Submission(self.student, assignment.name, flags=self.flags, rejected=self.rejected)
        submission = read_submission(self.student, self.files, assignment)
        worked_on = any(notebook.attempted for notebook in submission.notebooks)
        # Two untouched copies of the release are equal without anybody having copied.
        flags = tuple(flag for flag in self.flags if flag.kind != "identical" or worked_on)
        return replace(submission, flags=flags + submission.flags)


@dataclass(frozen=True)
class ClassFiles:
    """What a class handed in."""

    students: list[StudentFiles]
    """sorted by student"""
    left_out: Mapping[str, str]
    """what else lies there: name -> why it is nobody's submission"""


@dataclass
class _Group:
    """The entries of one student, by their names within the submission."""

    student: str
    entries: dict[str, SourceEntry] = field(default_factory=dict)
    raw: str = ""
    """what the student was called by name of folder or file, before any rule"""
    is_folder: bool = False
    hand_in: HandIn | None = None
    """what the platform says in that name"""
    platform: tuple[str, str] = ("", "")
    """and its number or address of the student"""
    handed_in: str = ""
    returned: str = ""
    """of several, the one that counts, a notebook if there is one"""
    flags: list[Flag] = field(default_factory=list)

    def add(self, name: str, entry: SourceEntry) -> None:
        base, number = name, 2
        while name in self.entries:  # several files of a flat folder may mean the same notebook
            name, number = re.sub(r"(?=\.ipynb|$)", f" ({number})", base, count=1), number + 1
        self.entries[name] = entry


@dataclass
class _Layout:
    """Who is who in a folder."""

    groups: list[_Group] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def leave_out(self, entry: SourceEntry, reason: str) -> None:
        self.left_out[shown_name(entry.name) + "/" * entry.is_folder] = reason

    def leave_out_all(self, entries: Iterable[SourceEntry], reason: str) -> None:
        for entry in entries:
            self.leave_out(entry, reason)

    def joined(self, inner: _Layout) -> _Layout:
        """With what a folder inside holds."""
        return _Layout(self.groups + inner.groups, self.left_out | inner.left_out)


def find_submissions(path: Path, assignment: Assignment, *, fold_case: bool = False) -> ClassFiles:
    """Everybody's submission below `path`.

    `path`: a folder, one notebook or a zip. `fold_case`: whether names that differ in case alone would be one folder
    where the results go. Raises WrongUse if `path` cannot be opened or holds no submission.
    """
    try:
        layout, source = _read_layout(path, assignment)
    # NotImplementedError is how zipfile says that it cannot read a compression method or a newer kind of archive.
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        finding = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise WrongUse(f"The submissions at {path} cannot be opened: {finding}.") from error
    groups = layout.groups
    if not groups:
        raise WrongUse(_nothing_found(path, source, assignment))
    groups.sort(key=lambda group: group.student)
    found = _with_distinct_names([_student_files(group, source, assignment) for group in groups], groups, fold_case)
    found = _without_links(found, groups, assignment)
    found = sorted(_with_identical(found, groups), key=lambda student_files: student_files.student)
    return ClassFiles(found, layout.left_out)


def _read_layout(path: Path, assignment: Assignment) -> tuple[_Layout, Source]:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        folder = Folder(path.absolute())
        return _layout_of_folder(folder, path.resolve(), assignment), folder
    if not stat.S_ISREG(mode):
        raise WrongUse(f"{path} is neither a folder nor a file. Name a folder, a notebook or a zip of submissions.")
    if notebook_stem(path.name) is not None:
        real = path.resolve()
        return _Layout([_one_notebook(path, real, assignment)]), Folder(real.parent)
    if is_zip(path):
        archive = Zip(path.absolute())
        return _layout_of_folder(archive, path, assignment), archive
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


def _layout_of_folder(source: Source, path: Path, assignment: Assignment, at: tuple[str, ...] = ()) -> _Layout:
    """The students below the folder `at`. `path` is where that folder lies, for its name."""
    layout = _Layout()
    there = source.children(at)
    children = [child for child in there if not _is_litter(child)]
    for child in there:
        if child.is_folder and _is_litter(child):
            layout.leave_out(child, "is what editors and systems leave behind")
    other_assignments = _other_assignments(assignment)
    notebooks = [child for child in children if _is_notebook(child)]
    folders = {child.name: child for child in children if child.is_folder}
    inner = {name: _list_folder(source, folder) for name, folder in folders.items()}
    working = {name for name, folder in folders.items() if _holds_notebook(source, folder)}
    others = working - other_assignments  # folders that a student must have made
    if _is_course(folders, children) and not notebooks and others <= _COURSE_FOLDERS:
        beside = [child for name, child in folders.items() if name not in _COURSE_FOLDERS]
        layout.leave_out_all(beside, "lies beside the course's folder submitted/")
        return layout.joined(_layout_of_folder(source, path / "submitted", assignment, (*at, "submitted")))
    if notebooks and all(_is_own_name(child.name, assignment) for child in notebooks) and not working:
        return _Layout([_whole_folder(source, SourceEntry(at, is_folder=True), _folder_name(path, assignment))])
    if assignment.name in folders and not notebooks and others <= {assignment.name}:
        beside = [child for child in children if child.name != assignment.name]
        layout.leave_out_all(beside, f"lies beside {assignment.name}/, which was taken for the one submission")
        return layout.joined(_Layout([_whole_folder(source, folders[assignment.name], _folder_name(path, assignment))]))
    if len(folders) == 1 and not notebooks:
        ((name, folder),) = folders.items()
        if _is_wrapping(source, inner[name], assignment):
            beside = [child for child in children if child is not folder]
            layout.leave_out_all(beside, f"lies beside {shown_name(name)}/, which holds the class")
            return layout.joined(_layout_of_folder(source, path / name, assignment, folder.parts))
    owners = _names_beside(source, path, children, inner)
    for child in children:
        student = _student_of_flat_file(child, assignment)
        if child.is_folder:
            inside = {entry.name for entry in inner[child.name] if not _is_litter(entry)}
            own = _own_folder(inner[child.name], assignment)
            hand_in = read_name(child.name)
            if hand_in and hand_in.assignment not in ("", assignment.name):
                layout.leave_out(child, f"was handed in for {shown_name(hand_in.assignment)}")
            elif own is None and inside and inside <= other_assignments:
                layout.leave_out(child, f"holds other assignments only ({', '.join(sorted(inside))})")
            elif own is None and not working:
                layout.leave_out(child, "holds no notebook")
            elif child.name in owners:
                layout.groups += _group_of_people(source, own or child, owners[child.name])
            else:
                layout.groups.append(_whole_folder(source, own or child, child.name))
                if own is not None and hand_in is None:  # nbgrader's layout; elsewhere such a file is the student's
                    layout.groups[-1].handed_in = _read_timestamp(source, layout.groups[-1])
        elif student is None and child.problem and working:
            layout.groups.append(_Group(_platform_name(child.name), {child.name: child}, child.name, is_folder=True))
        elif student is None:
            layout.leave_out(child, child.problem or "is no notebook")
    layout.groups = _last_hand_ins(layout.groups + _flat_layout(children, assignment))
    return layout


def _last_hand_ins(groups: list[_Group]) -> list[_Group]:
    """What a platform put under one student's number is one submission: the last one, in several folders or files."""
    whole = [group for group in groups if group.hand_in is None]
    numbered: dict[str, list[tuple[HandIn, _Group]]] = defaultdict(list)
    parts = [group for group in groups if group.hand_in is not None]
    for hand_in, group in zip(without_front(g.hand_in for g in parts if g.hand_in), parts, strict=True):
        numbered[hand_in.student].append((hand_in, group))
    for student, several in numbered.items():
        first = several[0][1]
        attempt = max(hand_in.attempt for hand_in, _ in several)
        platform = (several[0][0].platform, several[0][0].number)
        one = _Group(student, {}, first.raw, first.is_folder, several[0][0], platform, attempt)
        versions: dict[str, int] = {}
        for hand_in, _ in several:
            versions[alike(hand_in.file)] = max(hand_in.version, versions.get(alike(hand_in.file), 0))
        before = set()
        for hand_in, group in several:
            if hand_in.attempt != attempt or hand_in.version != versions[alike(hand_in.file)]:
                before.add(shown_name(group.raw))
                continue
            for name, entry in group.entries.items():
                one.add(name, entry)
            if not one.returned or notebook_stem(hand_in.file) is not None:
                one.returned = group.raw
            if hand_in.late and not one.flags:
                one.flags.append(Flag("late", "The platform marks it as late."))
        if before:
            one.flags.append(Flag("handed-in-again", f"The last hand-in was graded, not {listed(sorted(before))}."))
        whole.append(one)
    return whole


@dataclass(frozen=True)
class _Person:
    """Of whom something beside a folder, and not its name, says that it is theirs."""

    name: str
    platform: tuple[str, str] = ("", "")
    handed_in: str = ""


def _names_beside(
    source: Source, path: Path, children: list[SourceEntry], inner: Mapping[str, list[SourceEntry]]
) -> dict[str, list[_Person]]:
    """Folder -> students, where not the folder's name says it: in an export of Gradescope, in clones of a classroom."""
    metadata = next(
        (c for c in children if c.name == "submission_metadata.yml" and not (c.is_folder or c.problem)), None
    )
    if metadata is not None:
        return _gradescope_names(b"".join(source.pieces(metadata)))
    clones = [name for name, entries in inner.items() if any(entry.name == ".git" for entry in entries)]
    prefix = classroom_prefix(path.name, clones)
    return {name: [_Person(name.removeprefix(prefix))] for name in clones}


def _gradescope_names(metadata: bytes) -> dict[str, list[_Person]]:
    """`submission_17` -> everybody who handed it in."""
    try:
        submissions = yaml.safe_load(metadata)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise OSError(f"submission_metadata.yml cannot be read ({type(error).__name__}); export again") from error
    people: dict[str, list[_Person]] = {}
    for folder, facts in submissions.items() if isinstance(submissions, dict) else ():
        submitters = facts.get(":submitters") if isinstance(facts, dict) else None
        for one in submitters if isinstance(submitters, list) else ():
            if isinstance(one, dict):
                name, number, address = (str(one.get(key) or "") for key in (":name", ":sid", ":email"))
                called = "_".join(filter(None, (name, number))) or address or str(folder)
                platform = ("gradescope", address or number)
                people.setdefault(str(folder), []).append(_Person(called, platform, str(facts.get(":created_at", ""))))
    return people


def _group_of_people(source: Source, folder: SourceEntry, people: list[_Person]) -> list[_Group]:
    """A row for each of the people who handed in one folder together."""
    groups = [replace(_whole_folder(source, folder, one.name), hand_in=None) for one in people]
    for group, one in zip(groups, people, strict=True):
        group.platform, group.handed_in = one.platform, one.handed_in
        others = [shown_name(other.name) for other in people if other is not one]
        if others:
            group.flags.append(Flag("group", f"Handed in together with {listed(others)}."))
    return groups


def _read_timestamp(source: Source, group: _Group) -> str:
    """What nbgrader wrote down beside a submission."""
    entry = group.entries.get("timestamp.txt")
    if entry is None or entry.problem or entry.size > 100:
        return ""
    with contextlib.suppress(OSError):  # told when the student's files are read
        return b"".join(source.pieces(entry)).decode(errors="replace").strip()
    return ""


def _is_course(folders: Mapping[str, SourceEntry], children: list[SourceEntry]) -> bool:
    """Whether this is a whole nbgrader course."""
    return "submitted" in folders and ("source" in folders or any(c.name == "nbgrader_config.py" for c in children))


def _other_assignments(assignment: Assignment) -> frozenset[str]:
    """What lies beside the assignment's folder: names that the instructor, and no student, has given."""
    return frozenset(path.name for path in assignment.folder.parent.iterdir() if path.is_dir()) - {assignment.name}


def _holds_notebook(source: Source, folder: SourceEntry) -> bool:
    """Whether somewhere below lies a notebook, or something that may not be opened and could be one."""
    below = [entry for entry in files_below(source, folder) if not _is_litter(entry)]
    return any(_is_notebook(entry) or _is_packed(entry) or entry.problem for entry in below)


def _is_litter(entry: SourceEntry) -> bool:
    return is_litter("/".join(entry.parts) + "/" * entry.is_folder)


def _is_notebook(entry: SourceEntry) -> bool:
    return not entry.is_folder and not entry.problem and notebook_stem(entry.name) is not None


def _is_packed(entry: SourceEntry) -> bool:
    return not entry.is_folder and not entry.problem and entry.name.casefold().endswith(".zip")


def _is_own_name(name: str, assignment: Assignment) -> bool:
    return name in {f"{notebook.name}.ipynb" for notebook in assignment.notebooks}


def _folder_name(path: Path, assignment: Assignment) -> str:
    """The student that a single submission's folder or zip belongs to."""
    named = path.parent if path.name == assignment.name else path
    return _platform_name(named.stem if named.suffix == ".zip" else named.name) or "student"


def _platform_name(folder: str) -> str:
    found = read_name(folder)
    return found.student if found and not found.file else folder


def _list_folder(source: Source, folder: SourceEntry) -> list[SourceEntry]:
    try:
        return source.children(folder.parts)
    except OSError:
        return []  # told when the student's files are collected


def _own_folder(children: Iterable[SourceEntry], assignment: Assignment) -> SourceEntry | None:
    """The `ASSIGNMENT` in a student's folder of nbgrader's layout: a folder, or something posing as one."""
    fits = (child for child in children if child.name == assignment.name and (child.is_folder or child.problem))
    return next(fits, None)


def _is_wrapping(source: Source, children: list[SourceEntry], assignment: Assignment) -> bool:
    """Whether a lone folder holds the class rather than being a student's: zips often have one.

    In doubt it is a class, so that no file can make one student of many.
    """
    folders = [child for child in children if child.is_folder]
    stems = [notebook_stem(child.name) or "" for child in children if _is_notebook(child)]
    return (
        any(_own_folder(_list_folder(source, folder), assignment) for folder in folders)
        or any(_holds_notebook(source, folder) for folder in folders)
        or not all(any(resembles(stem, notebook.name) for notebook in assignment.notebooks) for stem in stems)
    )


def _whole_folder(source: Source, folder: SourceEntry, raw: str) -> _Group:
    hand_in = read_name(raw)
    folder_of = hand_in if hand_in and not hand_in.file else None
    group = _Group(_platform_name(raw), raw=raw, is_folder=True, hand_in=folder_of)
    for entry in [folder] if folder.problem else files_below(source, folder):
        group.add("/".join(entry.parts[len(folder.parts) :]) or entry.name, entry)
    return group


def _flat_layout(children: list[SourceEntry], assignment: Assignment) -> list[_Group]:
    """`STUDENT.ipynb`, and files that a platform named after student, numbers and the original name."""
    groups = []
    for child in children:
        found = _student_of_flat_file(child, assignment)
        if found is not None:
            student, name = found
            hand_in = read_name(child.name)
            raw = child.name if hand_in else notebook_stem(child.name) or child.name
            groups.append(_Group(student, {name: child}, raw, hand_in=hand_in))
    return groups


def _student_of_flat_file(entry: SourceEntry, assignment: Assignment) -> tuple[str, str] | None:
    """Whose a file in a flat folder is, and its name within the submission; None if it is nobody's."""
    if entry.is_folder:
        return None
    hand_in = read_name(entry.name)
    if hand_in and hand_in.file:
        return without_front([hand_in])[0].student, hand_in.file
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
    return _Group(student, {name: entry}, student)


# --- one student ---------------------------------------------------------------------------------------------------


def _student_files(group: _Group, source: Source, assignment: Assignment) -> StudentFiles:
    student, note = safe_name(group.student)
    entries = group.entries
    plain = {name: entry for name, entry in entries.items() if not entry.problem}
    if not read_names(plain):
        for name, packed in [(name, entry) for name, entry in plain.items() if _is_packed(entry)][:MAX_ZIPS]:
            del entries[name]
            entries |= {"/".join((name, *entry.parts)): entry for entry in files_in_zip(source, packed)}
    problems = [f"{shown_name(name)} {entry.problem}" for name, entry in entries.items() if entry.problem]
    plain = {name: entry for name, entry in entries.items() if not entry.problem}
    opened = read_names(plain)
    own = own_names({name: entry.size for name, entry in plain.items()}, assignment)
    files = Files(source, {name: plain[name] for name in (*opened, *own)})
    left_out = [shown_name(name) for name in plain if name not in files.entries and not is_litter(name)]
    if left_out:
        limit = f"{MAX_OWN_FILES} files beside its notebooks, {MAX_OWN_BYTES >> 20} MiB together"
        group.flags.append(Flag("dropped-file", f"Not used: {listed(left_out)}. A submission may have {limit}."))
    rejected = f"{problems[0]}. Nothing of this submission was opened; hand in plain files." if problems else ""
    size = sum(plain[name].size for name in opened)
    if size > MAX_SUBMISSION_BYTES and not rejected:
        limit = f"the limit is {MAX_SUBMISSION_BYTES >> 20}"
        rejected = f"Its notebooks have {size >> 20:,} MiB together; {limit}. Clear all outputs and hand in again."
    flags = (*_renaming_flags(note), *group.flags)
    platform = (*group.platform, (group.returned or group.raw) if group.hand_in else "")
    return StudentFiles(student, files, note, rejected, flags, platform, group.handed_in)


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


def _with_distinct_names(found: list[StudentFiles], groups: list[_Group], fold_case: bool) -> list[StudentFiles]:
    """Who was called so when handing in keeps the name; others who would be called the same get a digest.

    `a:b` becomes a_b and must not take the place of a student called a_b. A file `ada.ipynb` gives way to a folder
    `ada/`: folders are named by the platform or the instructor, files by students.
    """
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        by_name[one.student.casefold() if fold_case else one.student].append(number)
    distinct, renamed = list(found), []
    for numbers in by_name.values():
        true = [n for n in numbers if groups[n].raw == found[n].student]
        true = [n for n in true if groups[n].is_folder] or true
        if len(numbers) > 1:
            renamed += numbers if len(true) != 1 else [n for n in numbers if n != true[0]]
    taken = {one.student for number, one in enumerate(found) if number not in set(renamed)}
    for number in renamed:
        student, group = found[number].student, groups[number]
        own = f"{group.raw}/{group.is_folder}{group.platform[1]}"
        mark = hashlib.sha256(own.encode(errors="surrogatepass")).hexdigest()
        name = next(name for length in (8, 64) if (name := f"{student}-{mark[:length]}") not in taken)
        taken.add(name)
        note = f"The student is called {name} here, as another one is called {student}; handed in as "
        note += f"{shown_name(group.raw)!r}."
        distinct[number] = replace(found[number], student=name, note=note, flags=(*_renaming_flags(note), *group.flags))
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
                student_files,
                rejected=f"{stolen[0]} is a hard link to a file of the assignment's own folder. Hand in a file.",
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
        else tuple(sorted(group.entries[name].size for name in read_names(student_files.files)))
        for student_files, group in zip(found, groups, strict=True)
    ]
    common = Counter(sizes)
    by_content: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, student_files in enumerate(found):
        if sizes[index] and common[sizes[index]] > 1:
            digests = [student_files.digests()[name] for name in read_names(student_files.files)]
            if all(digests):
                by_content[tuple(sorted(digests))].append(index)
    result = list(found)
    for indices in by_content.values():
        for index in indices if len(indices) > 1 else ():
            others = [found[other].student for other in indices if not _is_same_work(groups[other], groups[index])]
            if not others:
                continue
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            flag = Flag("identical", f"The same bytes as the submission of {', '.join(others[:3])}{more}.")
            result[index] = replace(found[index], flags=(*found[index].flags, flag))
    return result


def _is_same_work(one: _Group, other: _Group) -> bool:
    """Whether it is one student, or two who handed in together."""
    first, second = ({entry.parts for entry in group.entries.values()} for group in (one, other))
    return first == second
