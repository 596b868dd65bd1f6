"""The corpus of hostile and broken files: what a file of `files/` says, and how it is handed in.

It holds the variants of one number of the catalog, each a function that makes what mallory hands in out of an honest
notebook. It names nothing of a certain assignment. The decorator says which part it makes:

    @content(title, ...)        (honest) -> the bytes of the notebook file
    @notebook(title, ...)       (notebook) -> None, or another one: the notebook as JSON data
    @folder(title, ...)         (folder, honest) -> None: writes everything into `CLASS/mallory/ASSIGNMENT/`
    @archive(title, ...)        (archive, honest, assignment) -> None: adds to a zip with alice's and zoe's notebooks
    @flat(title, ...)           (folder, honest) -> None: adds to a folder with alice's and zoe's notebooks as files

`rejected="why"`: nothing of it would run, and the instructor reads why. Otherwise what runs is the honest plan: every
answer and every cell of the instructor's, in order, each once; the student's own additions may stand between them;
every honest answer counts as attempted, or none (`unanswered=True`: what was handed in hides them for good).
`flags` must be raised; no text of `smuggled` may be in what runs, nor in what a person reads.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.attacks.corpus import HERE, loaded

NEIGHBORS = ("alice", "zoe")


@dataclass(frozen=True)
class HostileFile:
    """One variant."""

    title: str
    build: Callable[[Path, bytes], object] | None = None
    """writes into `CLASS/mallory/ASSIGNMENT/`; None: it needs a whole class"""
    build_class: Callable[[Path, bytes, str], Path] | None = None
    """writes the class into a folder and returns the path to grade; whoever is no neighbor there is the attacker"""
    rejected: str = ""
    unanswered: bool = False
    flags: Sequence[str] = ()
    smuggled: Sequence[str] = ()
    name: str = ""
    entry: int = 0

    def arrange(self, folder: Path, honest: bytes, assignment: str) -> Path:
        """Write a class with the attacker between two honest neighbors; the path to grade."""
        folder.mkdir()
        if self.build_class:
            return self.build_class(folder, honest, assignment)
        for student in (*NEIGHBORS, "mallory"):
            (folder / student / assignment).mkdir(parents=True)
            if student != "mallory":
                (folder / student / assignment / f"{assignment}.ipynb").write_bytes(honest)
        assert self.build is not None
        self.build(folder / "mallory" / assignment, honest)
        return folder


def hostile_files() -> list[HostileFile]:
    """All variants, by number."""
    found = []
    for path in sorted((HERE / "files").glob("*.py")):
        number = path.name[:2]
        for name, one in vars(loaded(path)).items():
            if isinstance(one, HostileFile):
                found.append(replace(one, name=f"{number}_{name}", entry=int(number)))
    return found


def content(title: str, **said: Any) -> Callable[[Callable[[bytes], bytes]], HostileFile]:
    """Other bytes in the notebook's place."""
    return lambda change: HostileFile(title, lambda folder, honest: submit(folder, change(honest)), **said)


def notebook(title: str, **said: Any) -> Callable[[Callable[[Any], Any]], HostileFile]:
    """A notebook that was edited."""

    def made(change: Callable[[Any], Any]) -> HostileFile:
        def edited(honest: bytes) -> bytes:
            data = json.loads(honest)
            return json.dumps(change(data) or data).encode()

        return content(title, **said)(edited)

    return made


def folder(title: str, **said: Any) -> Callable[[Callable[[Path, bytes], object]], HostileFile]:
    """More than one file, or something that is no file."""
    return lambda build: HostileFile(title, build, **said)


def archive(title: str, **said: Any) -> Callable[[Callable[[zipfile.ZipFile, bytes, str], object]], HostileFile]:
    """A class that arrives as one zip."""

    def made(add: Callable[[zipfile.ZipFile, bytes, str], object]) -> HostileFile:
        def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
            with zipfile.ZipFile(folder / "class.zip", "w", zipfile.ZIP_DEFLATED) as packed:
                for student in NEIGHBORS:
                    packed.writestr(f"{student}/{assignment}/{assignment}.ipynb", honest)
                add(packed, honest, assignment)
            return folder / "class.zip"

        return HostileFile(title, build_class=build_class, **said)

    return made


def flat(title: str, **said: Any) -> Callable[[Callable[[Path, bytes], object]], HostileFile]:
    """A class that is one file for each student."""

    def made(add: Callable[[Path, bytes], object]) -> HostileFile:
        def build_class(folder: Path, honest: bytes, assignment: str) -> Path:
            for student in NEIGHBORS:
                (folder / f"{student}.ipynb").write_bytes(honest)
            add(folder, honest)
            return folder

        return HostileFile(title, build_class=build_class, **said)

    return made


def submit(folder: Path, honest: bytes) -> Path:
    """The notebook in its folder, under its name."""
    (path := folder / f"{folder.name}.ipynb").write_bytes(honest)
    return path


def tests_cells(notebook: Any) -> list[Any]:
    """The cells that hold tests: graded, and not for the student to write."""
    metas = [(cell, cell["metadata"].get("nbgrader", {})) for cell in notebook["cells"]]
    return [cell for cell, meta in metas if meta.get("grade") and not meta.get("solution")]


def answers(notebook: Any) -> list[Any]:
    """The cells of code for the student to write."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]


def code(source: str) -> dict[str, Any]:
    """A cell that the student added."""
    return {"cell_type": "code", "metadata": {}, "source": source}
