"""Build what students receive, through nbgrader's own converter, and refuse to hand out anything else.

A release is a pure function of the instructor's source: built twice it is equal byte for byte. So whoever
publishes one can build it afresh and compare, and that comparison is the last of the checks in
`verify_release`; the others (`leaks`) say more exactly what is wrong, and hold for a fresh build as well.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import BadAssignment, CannotWrite, LeakyRelease, WrongUse
from autograder.records import Assignment
from autograder.release.address import refuse_placeholder, repository_of
from autograder.release.leaks import (
    BACKUPS,
    CACHES,
    PRIVATE_FILES,
    PRIVATE_FOLDERS,
    Leak,
    Secret,
    copied_solutions,
    differences,
    leaks_in_files,
    leaks_of_secrets,
    secrets_of,
    texts_of,
)

if TYPE_CHECKING:
    from nbgrader.converters import GenerateAssignment

MARKER = ".published.json"
"""Written into a student repository by `publish`: which files are ours, and that the last one was written."""
PUBLISHED = ("course_lib", "data", "notebooks/lectures", "notebooks/extras")
"""Folders that go into the student repository as they are; `notebooks/release` is built afresh."""
NO_SPACE = ("No space left on device", "database or disk is full", "Disk quota exceeded")
"""how it is said in tracebacks, in which nbgrader keeps an error and not its kind"""
DOCUMENTS = ("LICENSE*", "CITATION.cff")


def release(assignment: Assignment, out: Path) -> Path:
    """Build the student's side of `assignment` into `out/<name>/`, replacing what was there; return that folder.

    Raises BadAssignment where nbgrader refuses the source, LeakyRelease where the build itself would show a
    solution (the source repeats it outside its marks), WrongUse or CannotWrite where `out` is no place for it.
    """
    target = out / assignment.name
    if target.resolve() == assignment.folder.resolve():
        raise WrongUse(f"{target}: is the instructor's own folder; name another folder for the release.")
    with build(assignment) as fresh, _explained(out):
        _refuse(_leaks_of_build(fresh, assignment), f"The source of {assignment.name} would leak")
        out.mkdir(parents=True, exist_ok=True)
        with _beside(target) as staging:
            shutil.copytree(fresh, staging / "new")
            if target.exists():
                target.rename(staging / "old")
            (staging / "new").rename(target)
    return target


def verify_release(folder: Path, assignment: Assignment) -> list[Leak]:
    """Everything in the released `folder` that students must not see, or that a fresh build does not hold."""
    if not folder.is_dir():
        return [Leak(folder.name, "missing", "there is no such folder; run `autograder release` first")]
    with build(assignment) as fresh:
        content = _content(fresh)
        secrets = _secrets(assignment, content)
        found = [
            *_leaks_of_build(fresh, assignment),
            *leaks_in_files(folder),
            *leaks_of_secrets(folder, secrets),
            *differences(folder, content),
        ]
    return _unique(found)


def check_release(folder: Path, assignment: Assignment) -> None:
    """Raise LeakyRelease, listing every leak, unless `folder` is a fresh and honest release of `assignment`."""
    _refuse(verify_release(folder, assignment), f"{folder}: is not fit for students")


def publish(root: Path, out: Path, assignments: Sequence[Assignment] | None = None) -> Path:
    """Write the student repository of the course at `root` into `out`: releases, lectures, course_lib and data.

    `assignments` are those to publish; without it all under `notebooks/assignments`. An `out` that holds anything
    and was not made by an earlier `publish` is refused (WrongUse), and so is a course whose address is still the
    placeholder; `.git` and files of the owner's stay.
    """
    refuse_placeholder(root)
    if assignments is None:
        assignments = _all_assignments(root)
    _refuse_foreign(out)
    with _explained(out), _beside(out) as staging:
        repository = staging / "repository"
        _assemble(root, repository, assignments)
        _refuse(verify_published(repository, assignments), "The student repository would leak")
        _move_in(repository, out)
        _refuse(verify_published(out, assignments), f"{out}: is not fit for students")
    return out


def verify_published(folder: Path, assignments: Sequence[Assignment]) -> list[Leak]:
    """Everything in a student repository that students must not see."""
    found = leaks_in_files(folder, skip=(".git",))
    for name in ("autograder", "notebooks/assignments", "tests"):
        if (folder / name).exists():
            found.append(Leak(name, "private file", "stays with the instructor"))
    for assignment in assignments:
        place = f"notebooks/release/{assignment.name}"
        leaks = verify_release(folder / place, assignment)
        found += [Leak(f"{place}/{leak.path}", leak.kind, leak.finding) for leak in leaks]
    with contextlib.ExitStack() as stack:
        for assignment in assignments:
            content = _content(stack.enter_context(build(assignment)))
            # A lecture may teach what an assignment asks for, line for line; a hidden check has no business anywhere.
            secrets = [s for s in _secrets(assignment, content, _shown(folder)) if s.kind == "hidden check"]
            found += leaks_of_secrets(folder, secrets, skip=(".git",))
    return _unique(found)


def check_published(folder: Path, assignments: Sequence[Assignment]) -> None:
    """Raise LeakyRelease, listing every leak, unless `folder` is a whole and honest student repository."""
    if not folder.is_dir():
        raise WrongUse(f"{folder}: there is no such folder; make it with `autograder release --publish {folder}`.")
    _refuse(verify_published(folder, assignments), f"{folder}: is not fit for students")


# Building -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def build(assignment: Assignment) -> Iterator[Path]:
    """A fresh release in a temporary folder, gone when the block is left."""
    with tempfile.TemporaryDirectory(prefix="release-") as scratch:
        yield generate(assignment, Path(scratch))


def generate(assignment: Assignment, course: Path, *, database: bool = False) -> Path:
    """Run nbgrader's GenerateAssignment on `assignment` in the empty folder `course`; return its release folder.

    With `database`, nbgrader also records the assignment's cells in `course/gradebook.db`, which must exist with its
    tables. Raises BadAssignment with nbgrader's own words where the source is refused, CannotWrite on a full disk.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import SaveCells
    from traitlets.config import Config

    source = course / "source" / assignment.name
    source.mkdir(parents=True)
    for notebook in assignment.notebooks:
        name = f"{notebook.name}.ipynb"
        shutil.copyfile(assignment.folder / name, source / name)
    for path in public_files(assignment):
        target = source / path.relative_to(assignment.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    log = _Log()
    coursedir = CourseDirectory(
        root=str(course.resolve()), assignment_id=assignment.name, config=Config(), log=log.logger
    )
    converter = GenerateAssignment(coursedir=coursedir, config=Config(), log=log.logger)
    converter.no_database = not database
    if not database:
        converter.preprocessors = [p for p in converter.preprocessors if p is not SaveCells]
    try:
        _convert(converter)
    except (NbGraderException, ValueError) as error:
        if log.tells_of(*NO_SPACE):
            raise CannotWrite(
                f"{course}: cannot be written (no space left). Make room, or set TMPDIR to another folder."
            ) from None
        raise BadAssignment(f"{assignment.folder}: nbgrader refuses the source: {log.reason() or error}") from None
    return course / "release" / assignment.name


def _convert(converter: GenerateAssignment) -> None:
    """As `converter.start()`, which changes into a folder that is soon removed: while a class is graded, other threads
    of this process start processes, and each would begin there.
    """
    from nbconvert.writers.files import FilesWriter

    converter.coursedir.student_id = "."
    converter.init_notebooks()
    converter.writer = FilesWriter(parent=converter, config=converter.config)
    converter.exporter = converter.exporter_class(parent=converter, config=converter.config)
    for preprocessor in converter.preprocessors:
        converter.exporter.register_preprocessor(preprocessor)
    converter.convert_notebooks()


def public_files(assignment: Assignment) -> list[Path]:
    """The files beside the notebooks that students receive; never one of the grader's own."""
    found = []
    for path in assignment.files:
        parts = path.relative_to(assignment.folder).parts
        if parts[-1] not in PRIVATE_FILES and not set(parts) & set(PRIVATE_FOLDERS):
            found.append(path)
    return found


class _Log:
    """What nbgrader writes to its log while it converts, kept for the message instead of shown."""

    def __init__(self) -> None:
        self.records: list[str] = []
        self.logger = logging.Logger("nbgrader", level=logging.WARNING)
        handler = logging.Handler()
        handler.emit = lambda record: self.records.append(record.getMessage())  # type: ignore[method-assign]
        self.logger.addHandler(handler)

    def tells_of(self, *phrases: str) -> bool:
        return any(phrase in record for record in self.records for phrase in phrases)

    def reason(self) -> str:
        """The exception that nbgrader logged, or its first error."""
        for record in self.records:
            if record.startswith("Traceback"):
                return record.strip().splitlines()[-1]
        return self.records[0].splitlines()[0] if self.records else ""


# Checking -------------------------------------------------------------------------------------------------------------


def _leaks_of_build(fresh: Path, assignment: Assignment) -> list[Leak]:
    found = [
        Leak(
            path.name,
            "solution",
            "is the notebook as text, with its solutions, and students get every file of this folder; "
            f"keep it one folder up, as {path.parent.parent.name}/{path.name}",
        )
        for path in public_files(assignment)
        if path.with_suffix(".ipynb").exists() and "nbgrader=" in _plain_text(path.read_bytes())
    ]
    found += leaks_in_files(fresh)
    for notebook in assignment.notebooks:
        for cell, solution in copied_solutions(notebook):
            found.append(Leak(f"{notebook.name}.ipynb", "solution", f"{cell} repeats the solution of {solution}"))
    return found


def _secrets(assignment: Assignment, content: Mapping[str, bytes], shown: Sequence[str] = ()) -> tuple[Secret, ...]:
    texts = [text for name, data in content.items() for _, text in texts_of(name, _plain_text(data))]
    return secrets_of(assignment, [*texts, *shown])


def _shown(folder: Path) -> list[str]:
    """The texts of course_lib: a visible check may well use the words of a hidden one."""
    return [_plain_text(path.read_bytes()) for path in sorted((folder / "course_lib").rglob("*.py"))]


def _notebook_text(data: bytes) -> str:
    return "\n".join("".join(cell["source"]) for cell in json.loads(data)["cells"])


def _plain_text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _unique(leaks: list[Leak]) -> list[Leak]:
    return list(dict.fromkeys(leaks))


def _refuse(leaks: list[Leak], what: str) -> None:
    if leaks:
        listed = "\n".join(f"  {leak}" for leak in leaks)
        raise LeakyRelease(f"{what}: {len(leaks)} finding(s).\n{listed}")


# Publishing -----------------------------------------------------------------------------------------------------------


def _all_assignments(root: Path) -> list[Assignment]:
    from autograder.assignment import load_assignment  # reads every notebook: only where it is asked for

    folder = root / "notebooks" / "assignments"
    names = sorted(p.name for p in folder.glob("*") if (p / f"{p.name}.ipynb").is_file())
    if not names:
        raise WrongUse(f"{folder}: holds no assignment to publish.")
    return [load_assignment(name, root) for name in names]


def _assemble(root: Path, repository: Path, assignments: Sequence[Assignment]) -> None:
    for name in PUBLISHED:
        if (root / name).is_dir():
            # Links are copied as links, so that the verification sees and refuses them.
            shutil.copytree(
                root / name, repository / name, symlinks=True, ignore=shutil.ignore_patterns(*BACKUPS, *CACHES)
            )
    repository.mkdir(exist_ok=True)
    for assignment in assignments:
        release(assignment, repository / "notebooks" / "release")
    for pattern in DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            shutil.copyfile(path, repository / path.name)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    _write(repository / "pyproject.toml", _student_project(project, has_data=(root / "data").is_dir()))
    _write(repository / "README.md", _student_readme(repository, project, repository_of(root)))


def _student_project(project: dict[str, Any], *, has_data: bool) -> str:
    """A pyproject.toml that installs course_lib and nothing of the grader."""
    kept = (
        "name",
        "version",
        "description",
        "readme",
        "requires-python",
        "license",
        "license-files",
        "dependencies",
        "urls",
    )
    metadata = {key: project["project"][key] for key in kept if key in project["project"]}
    extras = project["project"].get("optional-dependencies", {})
    metadata["optional-dependencies"] = {key: extras[key] for key in ("frameworks", "lab") if key in extras}
    wheel: dict[str, Any] = {"packages": ["course_lib"]}
    included = project.get("tool", {}).get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    if has_data and "data" in included.get("force-include", {}):
        wheel["force-include"] = {"data": included["force-include"]["data"]}
    tool: dict[str, Any] = {"hatch": {"build": {"targets": {"wheel": wheel}}}}
    if "repository" in project.get("tool", {}).get("course", {}):
        # The rest concerns the class: who has an extension, where the list of people lies.
        tool["course"] = {"repository": project["tool"]["course"]["repository"]}
    return (
        "\n".join(_toml({"build-system": project["build-system"], "project": metadata, "tool": tool})).lstrip() + "\n"
    )


def _toml(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """A table of strings, lists and tables as TOML lines; JSON's strings and lists are TOML's as well."""
    values = {k: v for k, v in table.items() if not isinstance(v, dict)}
    if values and path:
        yield ""
        yield "[" + ".".join(path) + "]"
    for key, value in values.items():
        if isinstance(value, list):
            yield f"{key} = [" + "".join(f"\n  {json.dumps(item, ensure_ascii=False)}," for item in value) + "\n]"
        else:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _toml(value, (*path, key))


def _student_readme(repository: Path, project: dict[str, Any], address: str) -> str:
    """A first page for students: what lies here, and how each notebook is opened."""
    lines = [f"# {project['project'].get('description', 'The course').rstrip('.')}", ""]
    sections = (
        ("Lectures", "notebooks/lectures"),
        ("Extras", "notebooks/extras"),
        ("Assignments", "notebooks/release"),
    )
    for title, folder in sections:
        notebooks = sorted((repository / folder).rglob("*.ipynb"))
        if notebooks:
            lines += [f"## {title}", ""]
            lines += [f"- {_entry(path, path.relative_to(repository).as_posix(), address)}" for path in notebooks]
            lines.append("")
    lines += [
        "## On your own computer",
        "",
        "Python 3.11 or newer:",
        "",
        "```",
        'python -m pip install -e ".[frameworks,lab]"',
        "jupyter lab notebooks",
        "```",
        "",
    ]
    return "\n".join(lines)


def _entry(path: Path, name: str, address: str) -> str:
    title = next(
        (line for line in _notebook_text(path.read_bytes()).splitlines() if line.startswith("# ")), "# " + path.stem
    )
    entry = f"[{title[2:].strip()}]({name})"
    if address:
        entry += f" ([open in Colab](https://colab.research.google.com/github/{address}/blob/main/{name}))"
    return entry


def _refuse_foreign(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise WrongUse(f"{out}: is not a folder; name a new one for the student repository.")
    if any(p.name != ".git" for p in out.iterdir()) and not (out / MARKER).is_file():
        raise WrongUse(f"{out}: is not empty and was not made by `autograder release --publish`; name another folder.")


def _move_in(repository: Path, out: Path) -> None:
    """Replace what an earlier `publish` wrote into `out`; the marker says whether the last one came to its end."""
    new = sorted(_content(repository))
    old = _files_of_marker(out / MARKER)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / MARKER, _marker(sorted({*old, *new}), complete=False))
    for name in old:
        path = out / name
        if name not in new and path.is_file() and path.resolve().is_relative_to(out.resolve()):
            path.unlink()
    for name in new:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(repository / name, out / name)
    for path in sorted(out.rglob("*"), reverse=True):
        if path.is_dir() and ".git" not in path.relative_to(out).parts and not any(path.iterdir()):
            path.rmdir()
    _write(out / MARKER, _marker(new, complete=True))


def _marker(files: list[str], *, complete: bool) -> str:
    return (
        json.dumps({"made by": "autograder release --publish", "complete": complete, "files": files}, indent=1) + "\n"
    )


def _files_of_marker(path: Path) -> list[str]:
    try:
        return [str(name) for name in json.loads(path.read_text(encoding="utf-8"))["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A temporary folder on the same file system as `target`, so that a rename moves what is in it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        yield Path(folder)


@contextlib.contextmanager
def _explained(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{out}: cannot be written ({error.strerror or error}); nothing was replaced.") from None


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
