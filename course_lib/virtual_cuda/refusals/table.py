"""The whole table, in order."""

from __future__ import annotations

from course_lib.virtual_cuda.refusals import functions, hosts, indexing, layers, losses, operators, sequences, training
from course_lib.virtual_cuda.refusals.cases import Case

CASES: tuple[Case, ...] = tuple(
    case
    for part in (layers, losses, sequences, operators, functions, indexing, hosts, training)
    for case in part.table.rows
)
