"""Remember every finished submission at once, so that an interrupted run goes on where it stopped.

One line of JSON for each, written and synced before the next is begun. A line that was cut off by a crash is left out
when reading. An entry is used again only if nothing that could change its verdict has changed: the submission's bytes,
the seed, and all that `grading_key` covers. (Not the sandbox: what it keeps from a submission, no verdict may rest on.)
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import autograder
from autograder import records
from autograder.assignment import digest
from autograder.errors import CannotWrite
from autograder.kernels.preload import public_folders
from autograder.records import Assignment, Report, Submission, Verdict


@dataclass(frozen=True)
class JournalEntry:
    """One graded submission."""

    key: str
    report: Report
    submission: Submission


class Journal:
    """The file `journal.jsonl` of a run folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> dict[str, JournalEntry]:
        """All whole entries by key; the last one counts. What the grader failed at is graded again: it has none."""
        return {entry.key: entry for entry in self if entry.report.state is not Verdict.GRADER_ERROR}

    def __iter__(self) -> Iterator[JournalEntry]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    data = json.loads(line)
                    yield JournalEntry(
                        data["key"],
                        records.from_data(Report, data["report"]),
                        records.from_data(Submission, data["submission"]),
                    )
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue  # cut off by a crash, or written by another version

    def add(self, entry: JournalEntry) -> None:
        """Append one entry; it is on disk when this returns. Raises CannotWrite."""
        data = {k: records.to_data(getattr(entry, k)) for k in ("key", "report", "submission")}
        line = json.dumps(data, separators=(",", ":")) + "\n"
        try:
            with self.path.open("a+b") as file:
                # A line that a crash cut off must not swallow this one.
                if file.tell() and not self._ends_with_newline(file):
                    line = "\n" + line
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CannotWrite(
                f"{self.path} cannot be written: {error.strerror}. Free space or choose another --out."
            ) from error

    @staticmethod
    def _ends_with_newline(file: Any) -> bool:
        file.seek(-1, os.SEEK_END)
        return bool(file.read(1) == b"\n")


def key_of(student: str, digests: Mapping[str, str], grading: str, secret: bytes) -> str:
    """What an entry depends on, as one hexadecimal digest.

    `digests`: of what was handed in, by name of the file; `grading`: the `grading_key` of its assignment.
    """
    parts = [student.encode(), grading.encode(), hashlib.sha256(secret).digest()]
    for name in sorted(digests):
        parts += [name.encode("utf-8", "surrogateescape"), digests[name].encode()]
    return _digest(parts)


def grading_key(assignment: Assignment) -> str:
    """All that can change a verdict besides the submission and the seed, as one hexadecimal digest.

    That is the assignment's folder, the device, the content of our own packages and data, and what is installed.
    """
    parts = [assignment.name, digest(assignment), assignment.device, our_sources(), *installed()]
    return _digest(part.encode() for part in parts)


@functools.cache
def our_sources() -> str:
    """The content of the grader, and of what kernels read beside it."""
    return content_of((Path(autograder.__file__).resolve().parent, *public_folders()))


def content_of(folders: Sequence[Path]) -> str:
    """A digest of the names and bytes of all files in some folders, whatever Python compiled there left out."""
    parts: list[bytes] = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                parts += [f"{folder.name}/{path.relative_to(folder)}".encode(errors="surrogateescape")]
                parts += [path.read_bytes()]
    return _digest(parts)


@functools.cache
def installed() -> tuple[str, ...]:
    """Python and every installed distribution with its version: a submission may import any of them."""
    # Once something has imported setuptools, the copies that it carries are on the path as well.
    folders = [folder for folder in map(Path, sys.path) if folder.name != "_vendor"]
    found = {path.name for folder in folders for kind in ("dist", "egg") for path in folder.glob(f"*.{kind}-info")}
    return (sys.version, platform.machine(), *sorted(found))


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
