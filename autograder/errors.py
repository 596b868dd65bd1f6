"""One error class for each way that grading fails, in two families: the grader's fault and the student's.

Each message says the thing, the finding and the next step.
"""

from __future__ import annotations


class AutograderError(Exception):
    """Anything the grader says no to. The command line prints the message alone, without a traceback."""

    exit_status = 1
    """1: something could not be graded; 2: wrong use of a command"""


class GraderFault(AutograderError):
    """The command, the instructor's files or this host: grading cannot go on, and no student loses a point by it."""


class StudentFault(AutograderError):
    """What a student handed in, or what their code did with a call of the judge: it counts, and never ends a run."""


class WrongUse(GraderFault):
    """The command was called in a way that cannot work: unknown assignment, empty folder, bad option."""

    exit_status = 2


class BadAssignment(GraderFault):
    """The instructor's side is not consistent: a cell without checks, a duplicate grade_id, an unreadable source."""

    exit_status = 2


class LeakyRelease(GraderFault):
    """A release holds what students must not see."""


class RunFolderInUse(GraderFault):
    """Another run is writing to the same folder."""

    exit_status = 2


class CannotWrite(GraderFault):
    """The run folder cannot be written: no permission, no space left."""


class KernelFailed(GraderFault):
    """A kernel could not be started, or was lost in a way that is the grader's fault, not the student's."""


class ClusterFailed(GraderFault):
    """The scheduler of a Dask cluster was lost, or none of its workers can grade."""


class SandboxUnavailable(GraderFault):
    """The host cannot give the confinement that was asked for."""


class BadReply(StudentFault):
    """What came back from the kernel is not data of the wire's form. The student's side sent it."""


class StudentError(StudentFault):
    """The student's code raised while it answered a call of the judge.

    `type_name` and `text` are what the kernel says about the exception: a claim, plain text.
    """

    def __init__(self, type_name: str, text: str, line: str = "") -> None:
        super().__init__(f"{type_name}: {text}" if text else type_name)
        self.type_name = type_name
        self.text = text
        self.line = line


class LimitReached(StudentFault):
    """A cell or call met a limit. `verdict` is the `records.Verdict` to record: time, memory, output or crash."""

    def __init__(self, verdict: str, message: str, *, by_wall_clock: bool = False) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.by_wall_clock = by_wall_clock
        """met the wall limit without having used its CPU time: the machine may have been busy"""
