"""Which part of an exhaustive family a run asks: all of it, or a sample that is another in every commit.

    @pytest.mark.parametrize("name", sample("operators", NAMES, 40))
    @pytest.mark.parametrize("entry", sample("bank a1", ENTRIES, 8, sources=lambda entry: [entry.path]))

`--size test` asks the sample: `number` entries drawn by a seed, and every entry of whose `sources` a file was changed
in this commit or since. The seed comes from the commit's tree and stands in the first lines of the run;
`--sample-seed SEED` draws the same again. `--size check` asks one entry of each family, `--size all` every entry; of a
family that would take longer than all others together one in `thin`, from commit to commit others. (A bank whole is
what `autograder selftest` grades.)
"""

from __future__ import annotations

import functools
import math
import random
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
SIZES = ("check", "test", "all")

size = "all"
"""set by `conftest.py` from `--size`, before any test module is read"""
seed = ""
"""set by `conftest.py` from `--sample-seed`; empty: the commit's"""


def sample(
    family: str,
    entries: Sequence[T],
    number: int,
    sources: Callable[[T], Iterable[Path]] = lambda entry: (),
    thin: int = 1,
) -> list[T]:
    """The entries that this run asks, in their order. Usable at collection and inside a test."""
    if size == "all":
        number = math.ceil(len(entries) / thin)
    if number >= len(entries):
        return list(entries)
    if size == "check":
        number = 1
    drawn = set(random.Random(f"{current_seed()}:{family}").sample(range(len(entries)), number))
    fresh = changed() if size != "check" else frozenset()
    return [one for place, one in enumerate(entries) if place in drawn or not fresh.isdisjoint(sources(one))]


def current_seed() -> str:
    """What draws the samples: given, or the tree of the commit; without git always the same."""
    return seed or _git("rev-parse", "--short=12", "HEAD^{tree}").strip() or "no-commit"


@functools.cache
def changed() -> frozenset[Path]:
    """The files changed between the commit's first parent and the working tree."""
    listed = _git("diff", "--name-only", "HEAD^") + _git("ls-files", "--others", "--exclude-standard")
    return frozenset(ROOT / name for name in listed.splitlines())


@functools.cache
def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
