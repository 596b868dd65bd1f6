"""How much a host can promise about a stranger's program, in five words that a report can print beside a score."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Tier(IntEnum):
    """What holds while the program runs. Each tier includes those below it."""

    NONE = 0
    """Nothing: the program runs as the instructor, with everything the instructor may do."""
    LIMITS = 1
    """It cannot use up the machine by accident: bounded file sizes, open files and processes, no core dumps, its own
    session, a clean environment, no inherited descriptors, no new privileges. It can read the instructor's files."""
    FILES = 2
    """It sees no file outside its view and writes only in its private folder (Landlock or a mount namespace), and it
    has no network."""
    GPU = 3
    """As FULL, but it talks to the driver of this host's GPU, which nobody filters; the GPU's memory is not bounded,
    and what it leaves there the driver alone clears away."""
    FULL = 4
    """It sees only its own processes, files, sockets and loopback; the dangerous part of the kernel's interface is
    closed; its memory and its disk are bounded; and nothing of it is left when it ends."""

    @property
    def promise(self) -> str:
        """One sentence for a report."""
        return _PROMISES[self]

    @property
    def sentence(self) -> str:
        """The tier and its promise, as `Report.sandbox` has it."""
        return f"tier {self.name.lower()}: {self.promise}"

    @property
    def not_kept(self) -> tuple[str, ...]:
        """What to expect because the tier does not promise it: a sentence each, in which `it` is the program."""
        return tuple(promise.otherwise for promise in PROMISES if promise.lowest > self)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return _ADVICE[self]

    @classmethod
    def of(cls, sentence: str) -> Tier | None:
        """The tier that a `Report.sandbox` names; None where it names none: nothing of the submission ran."""
        return next((tier for tier in cls if sentence.startswith(f"tier {tier.name.lower()}:")), None)


_PROMISES = {
    Tier.NONE: "nothing is confined: grade only code that you would run yourself",
    Tier.LIMITS: "accidents are bounded, but the program can read your files and use the network",
    Tier.FILES: "the program sees only its own files and has no network, but it shares processes with this host",
    Tier.GPU: "the program sees only its own files and processes, has no network, and may use the GPU's driver",
    Tier.FULL: "the program sees only its own files and processes, has no network, and leaves nothing behind",
}


@dataclass(frozen=True)
class Promise:
    """One line of the table in docs/security.md."""

    text: str
    """as it stands there"""
    lowest: Tier
    """from here on it holds on every host of the tier; below it some hosts may keep a part"""
    otherwise: str
    """what is to be expected where it does not hold, for the instructor"""


PROMISES = (
    Promise(
        "File size, open files, processes, CPU time bounded; no core dumps; no inherited descriptors or environment",
        Tier.LIMITS,
        "The size of its files and the number of its processes may be unbounded: it can slow this machine down.",
    ),
    Promise(
        "Memory beyond the limit ends the program, and the verdict says *memory*",
        Tier.LIMITS,
        "Its memory is not limited: it can use up all that this machine has.",
    ),
    Promise(
        "Reads nothing but Python, the system's libraries and the public data",
        Tier.FILES,
        "It can read hidden checks, other submissions, the gradebook and your home folder, if file permissions let it.",
    ),
    Promise(
        "Writes nothing but its private folder",
        Tier.FILES,
        "It can change the gradebook, the scores and your files, if file permissions let it.",
    ),
    Promise(
        "No network",
        Tier.FILES,
        "It can use the network: to fetch an answer, or to send out what it has read.",
    ),
    Promise(
        "Cannot leave for a later run what it was asked: what it says on the shown inputs is shown",
        Tier.FULL,
        "It can leave a note on this machine for a later submission. To keep hidden inputs hidden, students' pages "
        "leave out the text of exceptions and the values that their own code gave.",
    ),
    Promise(
        "Sees and signals only its own processes",
        Tier.GPU,
        "It can see which other programs run on this machine, and it may be able to slow down or stop yours.",
    ),
    Promise(
        "Its processes are counted apart from those of other submissions",
        Tier.GPU,
        "Submissions graded at the same time may share one limit on processes, so one can keep another from starting: "
        "grade with `--workers 1`, and those with a grader error again.",
    ),
    Promise(
        "Total disk space bounded by the kernel",
        Tier.GPU,
        "Its disk space is watched at best: it can use more than its limit before it is stopped.",
    ),
    Promise(
        "No process of it outlives it",
        Tier.GPU,
        "Programs that it leaves running are searched for at best: one may go on after grading.",
    ),
    Promise(
        "Dangerous system calls refused",
        Tier.GPU,
        "System calls with a record of security holes stay open if this machine has no seccomp filter.",
    ),
    Promise(
        "Reaches no GPU",
        Tier.FULL,
        "If it reaches a GPU, the driver is open to it, a large program inside the system's kernel; it can fill the "
        "GPU's memory and slow down whatever else runs there.",
    ),
)

_ADVICE = {
    Tier.NONE: "Grade only code here that you would run yourself. For a class, use Linux: a virtual machine will do.",
    Tier.LIMITS: (
        "Do not grade strangers' work here. `autograder doctor` says what this machine lacks and how to add it. Until "
        "then, grade in a virtual machine or container that holds this class and no secrets, and look at scores that "
        "surprise you."
    ),
    Tier.FILES: (
        "Hidden checks, other submissions and the gradebook are closed to it. For the rest, `autograder doctor` "
        "says what this machine lacks for tier full and how to add it."
    ),
    Tier.GPU: (
        "Grade on a machine whose GPU and driver serve nothing else, or without `--device cuda`: virtual CUDA asks the "
        "same of the code, and reaches tier full."
    ),
    Tier.FULL: "",
}


@dataclass(frozen=True)
class ReachedTier:
    """The tier that one box reached, and the sentence that says so."""

    tier: Tier
    sentence: str
