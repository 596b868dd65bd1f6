"""How much a host can promise about a stranger's program, in four words that a report can print beside a score."""

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
    FULL = 3
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

    @classmethod
    def of(cls, sentence: str) -> Tier | None:
        """The tier that a `Report.sandbox` names; None where it names none: nothing of the submission ran."""
        return next((tier for tier in cls if sentence.startswith(f"tier {tier.name.lower()}:")), None)


_PROMISES = {
    Tier.NONE: "nothing is confined: grade only code that you would run yourself",
    Tier.LIMITS: "accidents are bounded, but the program can read your files and use the network",
    Tier.FILES: "the program sees only its own files and has no network, but it shares processes with this host",
    Tier.FULL: "the program sees only its own files and processes, has no network, and leaves nothing behind",
}


@dataclass(frozen=True)
class ReachedTier:
    """The tier that one box reached, and the sentence that says so."""

    tier: Tier
    sentence: str
