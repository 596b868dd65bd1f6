"""The whole table, in order."""

from __future__ import annotations

import importlib

from tests.course_lib.virtual_cuda.refusals import PARTS
from tests.course_lib.virtual_cuda.refusals.cases import Case


def rows_of(part: str) -> list[Case]:
    """The rows of one module."""
    rows: list[Case] = importlib.import_module(f"{__package__}.{part}").table.rows
    return rows


CASES: tuple[Case, ...] = tuple(case for part in PARTS for case in rows_of(part))
