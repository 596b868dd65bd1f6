"""Remember every finished submission at once, so that an interrupted run goes on where it stopped.

One line of JSON for each, written and synced before the next is begun. A line that was cut off by a crash is left out
when reading. An entry is used again only if nothing that could change its verdict has changed: the submission's bytes,
the assignment, the seed and the grader itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import records
from autograder.errors import CannotWrite
from autograder.records import Report, Submission


@dataclass(frozen=True)
class Entry:
    """One graded submission."""

    key: str
    report: Report
    submission: Submission


class Journal:
    """The file `journal.jsonl` of a run folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> dict[str, Entry]:
        """All whole entries by key; the last one counts."""
        return {entry.key: entry for entry in self._read()}

    def _read(self) -> Iterator[Entry]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    data = json.loads(line)
                    yield Entry(
                        data["key"],
                        records.from_data(Report, data["report"]),
                        records.from_data(Submission, data["submission"]),
                    )
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue  # cut off by a crash, or written by another version

    def add(self, entry: Entry) -> None:
        """Append one entry; it is on disk when this returns. Raises CannotWrite."""
        line = json.dumps({k: records.to_data(getattr(entry, k)) for k in ("key", "report", "submission")}) + "\n"
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


def key_of(student: str, files: Mapping[str, bytes], assignment_digest: str, secret: bytes, grader: str) -> str:
    """What an entry depends on, as one hexadecimal digest."""
    total = hashlib.sha256()
    parts = [student.encode(), assignment_digest.encode(), hashlib.sha256(secret).digest(), grader.encode()]
    for name in sorted(files):
        parts += [name.encode("utf-8", "surrogateescape"), files[name]]
    for part in parts:
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
