"""What the student's checks say: one line for each finding, and on every line that is not `ok`, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    LOOK = "look"
    """worth a look, nothing is lost"""
    STOP = "stop"
    """mend this first"""


@dataclass(frozen=True)
class Finding:
    """One line of the table."""

    level: Level
    subject: str
    text: str
    """what was found and, unless all is well, what to do next"""


def table(findings: Sequence[Finding]) -> str:
    """The findings as lines of text, aligned."""
    width = max((len(finding.subject) for finding in findings), default=0)
    return "\n".join(f"{finding.level:<5} {finding.subject:<{width}}  {finding.text}" for finding in findings)


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing has to be mended first."""
    return all(finding.level is not Level.STOP for finding in findings)
