"""The zip from which Gradescope builds an autograder: this grader, one assignment whole, and two scripts.

It holds solutions, hidden checks and the seed of their inputs, so it is for Gradescope and nobody else. The seed is in
it so that everybody is asked the same.
"""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import CannotWrite, WrongUse
from autograder.records import Assignment

SCRIPTS = Path(__file__).with_name("gradescope")
PROGRAM = ("autograder", "course_lib", "data", "pyproject.toml", "requirements.lock", "README.md", "LICENSE")
_LEFT_BEHIND = frozenset({"__pycache__", ".ipynb_checkpoints"})


def write_gradescope_zip(root: Path, assignment: Assignment, out: Path) -> Path:
    """Write the zip for `assignment` and the program at `root` to `out`; returns it.

    Raises WrongUse where `root` is not the project, CannotWrite where `out` cannot be written.
    """
    missing = [name for name in PROGRAM if not (root / name).exists()]
    if missing:
        raise WrongUse(f"{root} has no {missing[0]}, so the grader cannot be packed. Run this inside the project.")
    part = out.with_name(f".{out.name}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(SCRIPTS.iterdir()):
                archive.write(path, path.name)
            for path, name in _files(root, assignment):
                archive.write(path, name)
            archive.writestr("assignment", assignment.name)
            archive.writestr("seed", secrets.token_hex(32) + "\n")
        os.replace(part, out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CannotWrite(f"{out} cannot be written: {error.strerror}. Choose another --out.") from error
    return out


def _files(root: Path, assignment: Assignment) -> Iterator[tuple[Path, str]]:
    for name in PROGRAM:
        for path in _below(root / name):
            yield path, path.relative_to(root).as_posix()
    for path in _below(assignment.folder):
        yield path, f"notebooks/assignments/{assignment.name}/{path.relative_to(assignment.folder).as_posix()}"


def _below(path: Path) -> list[Path]:
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    return [one for one in found if one.is_file() and _LEFT_BEHIND.isdisjoint(one.parts)]
