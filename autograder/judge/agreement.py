"""A mistake is named only where all that was seen of a part agrees with it.

One failed check is explained by a mistake: `grad_x` has the wrong sign. But with that mistake another check would fail
too, which passed; or a third failed, whose values the mistake does not give. Then the name is a guess, and is not said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.judge.diagnosis import Diagnosis, Explainer
from autograder.judge.faults import Fault
from autograder.judge.student import Call

Failing = Callable[[Sequence[Fault], Collection[str]], Collection[str] | None]
"""which of these checks a program with these mistakes and no others fails; None if it cannot be written"""


@dataclass(frozen=True)
class Failure:
    """One failed check, with the mistake that was found for it alone."""

    calls: Sequence[Call]
    found: Diagnosis
    claimed: bool = False
    """whether it rests on what the student's process says of itself: counts differ from one spelling to the next"""


def agreed(
    failures: Mapping[str, Failure], passed: Collection[str], explainer: Explainer, failing: Failing
) -> dict[str, Diagnosis]:
    """The mistakes that may be named for each failed check of a part, by the check's name.

    A program with these mistakes passes the checks that the student's has `passed`, fails those that it fails, and at
    least in half of these gives the same answers; in the others a spelling may decide, as where numbers overflow.
    Answers that are NaN, or arrays of zeros or ones, agree with too much: alone they count only if a check was passed,
    or if the words are such that they hold for all of them (`Fault.bare`). What was known by an exception, or by the
    check itself, stands for itself.
    """
    by_replay = [f.found for f in failures.values() if f.found.replayed]
    if not passed and all(found.bare and not all(fault.bare for fault in found.faults) for found in by_replay):
        by_replay = []
    asked = {name for name, f in failures.items() if not _stands_alone(f.found)}
    claims = {name for name, f in failures.items() if f.claimed}
    agreeing = {
        faults: {name for name, f in failures.items() if explainer.agrees(f.calls, faults)}
        for faults in _candidates(by_replay)
    }
    for faults, same in sorted(agreeing.items(), key=lambda entry: -len(entry[1])):
        odd = asked - same - claims
        if 2 * len(odd) > len(asked):
            continue
        # The very same exception in all that failed tells enough: what passed may have gone around the place.
        raised = all(f.found.faults == faults and f.calls[-1].error for f in failures.values())
        asking = [] if raised else [*passed, *odd]
        fails = failing(faults, asking) if asking else odd
        if fails is not None and set(fails) == odd:
            return {name: _named(f.found, faults, name in same) for name, f in failures.items()}
    return {name: f.found if _stands_alone(f.found) else Diagnosis() for name, f in failures.items()}


def _candidates(found: Sequence[Diagnosis]) -> Iterator[tuple[Fault, ...]]:
    """What may be the whole truth: the mistakes of one check, those of the most checks first; then all together."""
    each = [faults for faults, _ in Counter(diagnosis.faults for diagnosis in found).most_common()]
    yield from each
    together = tuple(dict.fromkeys(fault for faults in each for fault in faults))
    if together and together not in each:
        yield together


def _named(found: Diagnosis, faults: Sequence[Fault], explained: bool) -> Diagnosis:
    if _stands_alone(found) or (found.faults and set(found.faults) <= set(faults)):
        return found
    return Diagnosis(tuple(faults), replayed=True) if explained else Diagnosis()


def _stands_alone(found: Diagnosis) -> bool:
    return bool(found.faults) and not found.replayed
