"""The log of a run: one file that the run, its judges, both zygotes and the supervisors write to.

    2026-03-01 12:00:00,123 INFO    judge[4711] kernel 4712 is ready: tier full: ...

`start` opens it; without a run folder (provisioner, selftest) nobody does, and loggers write nowhere. The student's
process has no part in it. What a student's code or file says is escaped, so that it cannot look like a line of ours. Of
errors that are not our own only type and place are written: their text may quote a hidden input.
"""

from __future__ import annotations

import contextlib
import logging
import re
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder.errors import AutograderError

NAME = "run.log"
LEVELS = ("debug", "info", "warning", "error")
MAX_CHARACTERS = 8000
"""of one record: written at once, several processes' records never mix"""

_ROOT = logging.getLogger("autograder")
_ROOT.addHandler(logging.NullHandler())
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa1-\u2027\u2030-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_file: _File | None = None
_target: dict[str, Any] | None = None


class _Formatter(logging.Formatter):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def format(self, record: logging.LogRecord) -> str:
        """As logging does, without its cache: another handler may have put an error's whole text there."""
        head = f"{self.formatTime(record)} {record.levelname:<7} {self.kind}[{record.process}]"
        lines = [one_line(f"{head} {record.getMessage()}")]
        if record.exc_info and record.exc_info[1]:
            lines += [f"    | {one_line(line)}" for line in describe_error(record.exc_info[1]).splitlines()]
        return "\n".join(lines)


class _File(logging.FileHandler):
    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: on a full disk the run says itself what could not be written, and a log is no reason to stop."""


def one_line(text: str) -> str:
    """`text` without line breaks, escape sequences and other characters that a terminal would act on."""
    return _UNPRINTABLE.sub(lambda m: m.group().encode("unicode_escape").decode(), text[:MAX_CHARACTERS])


def describe_error(error: BaseException) -> str:
    """Where `error` was raised and its type; its text only if it is one of ours."""
    places: TracebackType | None = error.__traceback__
    text = f": {error}" if isinstance(error, AutograderError) else ""
    return f"{''.join(traceback.format_tb(places))}{type(error).__name__}{text}"


def start(path: Path, kind: str, level: str = "info") -> None:
    """Append this process's records to the file `path` from now on. `kind` says what process this is."""
    stop()
    global _file, _target
    _target = {"path": str(path), "level": level}
    _file = _File(path, encoding="utf-8", errors="backslashreplace")
    _file.setFormatter(_Formatter(kind))
    _ROOT.addHandler(_file)
    _ROOT.setLevel(level.upper())
    _ROOT.propagate = False


def stop() -> None:
    """Close the file. Nothing happens where none is open."""
    global _file, _target
    if _file is not None:
        _ROOT.removeHandler(_file)
        with contextlib.suppress(OSError):
            _file.close()
    _file = _target = None


def target() -> dict[str, Any] | None:
    """What `start` was called with here, for a process that is started from this one: `path` and `level`."""
    return _target


def start_from(given: dict[str, Any] | None, kind: str) -> None:
    """Begin where the process that started this one said so."""
    if given is not None:
        start(Path(given["path"]), kind, given["level"])


def rename_process(kind: str) -> None:
    """A forked process goes on in the same file as another kind of process."""
    if _file is not None:
        _file.setFormatter(_Formatter(kind))
