"""The visible checks of an assignment on a submission of its bank, in this process: no kernel and no judge."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.assignment import load_assignment
from autograder.bank import BankEntry, load_bank, notebook_of
from autograder.judge.reference import reference_names
from autograder.records import Assignment, Role
from course_lib import virtual_cuda
from course_lib.checks import CheckFailed
from tests.apart import apart

ROOT = Path(__file__).resolve().parents[3]
Outcomes = dict[str, list[str | Exception]]
"""tests cell -> for each of its checks "ok" or what it raised"""


@dataclass(frozen=True)
class Visible:
    """One assignment, read once."""

    name: str
    skipped_cell: str = ""
    slow_check: str = ""
    """takes a second; only the reference is asked"""

    @property
    def file(self) -> Path:
        """The module of its checks."""
        return ROOT / "course_lib" / "checks" / f"{self.name}.py"

    @functools.cached_property
    def assignment(self) -> Assignment:
        return load_assignment(self.name, ROOT)

    @functools.cached_property
    def bank(self) -> dict[str, BankEntry]:
        return {entry.name: entry for entry in load_bank(self.assignment)}

    @functools.cached_property
    def reference(self) -> dict[str, Any]:
        return reference_names(self.assignment)

    @functools.cached_property
    def prose(self) -> str:
        return "\n".join(c.source for c in self.assignment.notebooks[0].cells if c.kind == "markdown")

    def stated(self, *sentences: str) -> None:
        """The notebook's text has these."""
        assert [sentence for sentence in sentences if sentence not in self.prose] == []

    def stubs(self) -> dict[str, str]:
        """The solution cells as students receive them."""
        own = self.assignment.notebooks[0].cells
        return {c.grade_id: c.released for c in own if c.role is Role.SOLUTION and c.grade_id}

    def outcomes(self, cells: dict[str, str] | None = None, extra: Any = (), only: Any = None) -> Outcomes:
        """The notebook with these solution cells run from top to bottom, and what each check said.

        only: the tests cells to run; None: all.
        """
        names: dict[str, Any] = {}
        found: Outcomes = {}
        for cell in json.loads(notebook_of(self.assignment, cells or {}, extra))["cells"]:
            source = "".join(cell["source"])
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if cell["cell_type"] != "code" or "%pip" in source or (grade_id and grade_id == self.skipped_cell):
                continue
            if not grade_id.startswith("test_"):
                _run(source, names)
            elif only is None or grade_id in only:
                left_out = self.slow_check if cells else ""
                lines = [line for line in source.splitlines() if not left_out or left_out not in line]
                found[grade_id] = [_run(line, names) for line in lines]
        return found

    def of_entry(self, entry: BankEntry) -> Outcomes:
        """The tests cells of what the entry changes: an exercise does not use the others."""
        return self.outcomes(dict(entry.cells), entry.extra, changed_by(entry))


class VisibleApart(Visible):
    """One with TensorFlow's virtual GPUs or a back end of Keras: its cells run in a process of their own."""

    def outcomes(self, cells: dict[str, str] | None = None, extra: Any = (), only: Any = None) -> Outcomes:
        """As in this process; what was printed is printed here, and other errors than ours keep their words alone."""
        return self.outcomes_on(self.assignment.keras_backend, cells, extra, only)

    def outcomes_on(self, keras_backend: str, cells: Any = None, extra: Any = (), only: Any = None) -> Outcomes:
        """On another back end than the assignment's own."""
        call = (_outcomes_and_output, self.name, cells, extra, only)
        found, printed = apart(*call, keras_backend=keras_backend)
        print(printed, end="")
        return found


def _outcomes_and_output(name: str, cells: Any, extra: Any, only: Any) -> tuple[Outcomes, str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        found = _visible(name).outcomes(cells, extra, only)
    return {cell: [_sendable(result) for result in results] for cell, results in found.items()}, printed.getvalue()


_visible = functools.cache(Visible)


def _sendable(result: str | Exception) -> str | Exception:
    return result if isinstance(result, (str, CheckFailed)) else RuntimeError(f"{type(result).__name__}: {result}")


def changed_by(entry: BankEntry) -> set[str]:
    """The tests cells of what it changes."""
    return {f"test_{cell}" for cell in entry.cells} | set(entry.expected)


def _run(source: str, names: dict[str, Any]) -> str | Exception:
    try:
        exec(source, names)
    except Exception as error:
        return error
    return "ok"


def errors_of(found: Outcomes) -> list[str]:
    """All that the checks say; a sentence of ours is one line, neither short nor long."""
    errors = [error for results in found.values() for error in results if isinstance(error, Exception)]
    for error in errors:
        if isinstance(error, CheckFailed):
            assert "\n" not in str(error) and 30 < len(str(error)) < 700, error
    return [f"{type(error).__name__}: {error}" for error in errors]


@contextlib.contextmanager
def two_devices() -> Iterator[None]:
    """Virtual CUDA, for the notebooks that want a device."""
    with virtual_cuda.session(devices=2, force=True, quiet=True):
        yield
        # Every notebook that was run has switched it on once more.
        while virtual_cuda._on is not None and virtual_cuda._on.depth > 1:
            virtual_cuda.disable()
