"""What trying the reference found, kept in the run folder: a run that is started again need not try it again.

That takes seconds where the reference trains, most of the time in which one student is graded again. The file holds
what hidden inputs are answered with; so does the run's seed, beside which it lies.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autograder.judge.student import Memory
from autograder.protocol.frames import MAX_MESSAGE, Reader, pack


@dataclass(frozen=True)
class Tried:
    """What trying the reference leaves."""

    memories: dict[str, Memory]
    """what it answered, by case"""
    observed: frozenset[str] | None
    """the checks that rest on claims"""
    imported: list[str]
    """modules that it imported"""


def read(path: Path, key: str) -> Tried | None:
    """What was kept at `path` under this key; None if nothing was, or it cannot be read."""
    try:
        [(found, blobs)] = Reader(MAX_MESSAGE).feed(path.read_bytes())
        if found["key"] != key:
            return None
        left = iter(blobs)
        memories: dict[str, Memory] = {
            case: {
                (bytes.fromhex(what), number): (tree, [next(left) for _ in range(buffers)])
                for what, number, tree, buffers in answers
            }
            for case, answers in found["memories"].items()
        }
        return Tried(memories, frozenset(found["observed"]), list(found["imported"]))
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return None


def write(path: Path, key: str, tried: Tried) -> None:
    """Keep it at `path`, readable for its owner alone; not at all where that cannot be written."""
    memories = {
        case: [(what.hex(), number, tree, len(buffers)) for (what, number), (tree, buffers) in memory.items()]
        for case, memory in tried.memories.items()
    }
    blobs = [buffer for memory in tried.memories.values() for _, buffers in memory.values() for buffer in buffers]
    head = {"key": key, "memories": memories, "observed": sorted(tried.observed or ()), "imported": tried.imported}
    new = path.with_name(path.name + ".new")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(pack(head, tuple(blobs)))
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
