"""Every known submission of every assignment gets its expected verdict: no right answer fails, no wrong one passes.

Right ones, and one of `EVERY` wrong ones, are graded as a student's would be: read, run in a confined kernel, judged.
The other wrong ones are graded in this process, by the tests cells that they spoil. Of both `make test-all` asks the
part that the first lines below name, in each commit another, and `make test` less; of an assignment that was changed
it asks all. `autograder selftest` grades the whole bank the long way, and on other inputs if asked to; here the inputs
are the same in every run, so that a failure comes from the change that was made.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import resource
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from autograder.assignment import known_assignments, load_assignment, on_device
from autograder.bank import BankEntry, load_bank
from autograder.judge.carried import builds_on
from autograder.judge.faults import load_faults
from autograder.judge.judge import NO_CHECKS
from autograder.judge.run import Checks, LocalProgram
from autograder.records import Assignment, Role
from autograder.selftest import Selftest, its_device, needs_kernel, selftest, selftest_here
from autograder.sentences import demands
from tests import sampling
from tests.apart import on_its_back_end
from tests.sampling import sample

ROOT = Path(__file__).resolve().parents[2]
NAMES = known_assignments(ROOT)
WITHOUT_TRAINING = ("a1_numpy_backprop", "a5_data_pipeline")
"""assignments without a check of where training arrives, which alone has a margin"""
FRAMEWORKLESS = "a1_numpy_backprop"
ONE_OF_KERNELS, ONE_OF_IN_PROCESS = 8, 10
"""`make test-all` asks one of so many, so that it ends within three quarters of an hour"""
EVERY = 25
"""through a kernel an entry takes ten times as long"""
MEMORY = 8 << 30
"""bytes that a test's process may take while it grades entries itself; every framework imported takes under 2 GiB"""
SECRET = b"the same hidden inputs in every run of the tests"
WORST_RIGHT, NEAREST_WRONG = 0.5, 2.0
"""in tolerances: how near the limit right training may end, and wrong training"""

BUILDS_ON = re.compile(
    r"[Ee]xercise (\d+) (?:may call your|calls your|is checked on) [^.]*?from ((?:exercise )?\d+(?:(?:, | and )\d+)*)"
)
"""how a text says that one exercise builds on others"""

LEAST_COST = 0.25
"""what a mistake costs at least, as a share of its exercise, unless it is said to be minor"""


def a_bank(name: str, how: str) -> object:
    """A bank as a test's parameter: a group and a shard of its own; quick only in process and without a framework."""
    marks = [pytest.mark.xdist_group(f"bank {name} {how}"), pytest.mark.timeout(2400)]
    quick = how == "in process" and name == FRAMEWORKLESS
    return pytest.param(name, marks=marks if quick else [*marks, pytest.mark.slow])


def files_of(name: str) -> Iterator[Path]:
    """All of an assignment's files, whatever they are for."""
    return (ROOT / "notebooks" / "assignments" / name).rglob("*.*")


@functools.cache
def assignment(name: str) -> Assignment:
    return load_assignment(name, ROOT)


@functools.cache
def entries(name: str) -> list[BankEntry]:
    return load_bank(assignment(name))


def the_long_way(name: str) -> list[BankEntry]:
    """The entries that `--size all` grades through kernels."""
    simple = [e.name for e in entries(name) if e.kind == "fault" and not needs_kernel(e)]
    short = set(simple) - set(simple[::EVERY])
    return [e for e in entries(name) if e.name not in short]


@functools.cache
def behind_a_verdict(name: str) -> tuple[Path, ...]:
    """An assignment's own files, without its bank."""
    folder = ROOT / "notebooks" / "assignments" / name
    return (ROOT / "course_lib" / "checks" / f"{name}.py", *(path for path in folder.iterdir() if path.is_file()))


@functools.cache
def through_kernels(name: str) -> Selftest:
    bank = the_long_way(name)
    chosen = {
        e.name
        for e in sample(
            f"bank {name}, kernels", bank, 3, lambda e: [e.file] if e.kind == "correct" else [], ONE_OF_KERNELS
        )
    }
    return on_its_back_end(graded_through_kernels, name, chosen)


@functools.cache
def in_process(name: str) -> Selftest:
    long = {e.name for e in the_long_way(name)} if sampling.size == "all" else set()
    bank = [e for e in entries(name) if e.kind == "fault" and not needs_kernel(e) and e.name not in long]
    chosen = {
        e.name for e in sample(f"bank {name}", bank, 8, lambda e: [e.file, *behind_a_verdict(name)], ONE_OF_IN_PROCESS)
    }
    return on_its_back_end(graded_here, name, chosen)


def graded_through_kernels(name: str, chosen: Collection[str]) -> Selftest:
    return selftest(assignment(name), 2, lambda done, total: None, lambda entry: entry.name in chosen, secret=SECRET)


def graded_here(name: str, chosen: Collection[str]) -> Selftest:
    with memory_limited():
        return selftest_here(
            on_device(assignment(name)),
            lambda done, total: None,
            lambda entry: entry.name in chosen,
            spoiled_alone=True,
            secret=SECRET,
        )


@contextlib.contextmanager
def memory_limited() -> Iterator[None]:
    """What eats memory without end meets a MemoryError here, and is one wrong verdict: not the end of the machine."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def not_as_expected(found: Selftest) -> list[str]:
    misnamed = [f"{p.planted} is called {', '.join(p.others)}" for p in found.confusion() if p.others]
    return misnamed + [f"{r.entry}, {r.cell}: expected {r.expected}, got {r.got}" for r in found.wrong]


def too_near_the_limit(found: Selftest) -> list[str]:
    return [
        str(margin)
        for margin in found.margins()
        if margin.worst_right >= WORST_RIGHT
        or (margin.nearest_wrong is not None and margin.nearest_wrong <= NEAREST_WRONG)
    ]


def cheap(found: Selftest, name: str) -> dict[str, float]:
    """Mistakes that cost less than a quarter of their exercise though they are its topic."""
    minor = {fault.id for fault in load_faults(assignment(name)) if fault.minor}
    return {row.planted: row.cost for row in found.confusion() if row.cost < LEAST_COST and row.planted not in minor}


@pytest.mark.parametrize("name", [a_bank(name, "in process") for name in sample("banks", NAMES, 4, files_of)])
def test_every_verdict_in_process_is_the_expected_one(name: str) -> None:
    found = in_process(name)
    wrong = not_as_expected(found) + too_near_the_limit(found)
    assert found.entries and not wrong, "\n".join(wrong)
    assert cheap(found, name) == {}


@pytest.mark.parametrize("name", [a_bank(name, "kernels") for name in sample("banks through kernels", NAMES, 1)])
def test_every_verdict_through_kernels_is_the_expected_one(name: str) -> None:
    found = through_kernels(name)
    wrong = not_as_expected(found) + too_near_the_limit(found)
    assert found.entries and not wrong, "\n".join(wrong)
    assert {r.sandbox.split(":")[0] for r in found.reports.values()} == {"tier full"}
    if sampling.size == "all":
        assert bool(found.margins()) == (name not in WITHOUT_TRAINING), "compared value by value"


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_is_planted_somewhere(name: str) -> None:
    expected = [v for e in entries(name) for v in e.expected.values()]
    named = {part for verdict in expected for part in verdict.partition(":")[2].split("+")}
    assert {fault.id for fault in load_faults(assignment(name))} - named == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_that_demands_something_is_broken_somewhere(name: str) -> None:
    assert [demand.text for demand in demands(assignment(name), entries(name)) if demand.is_open] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sample("what builds on what", NAMES, 1))
def test_the_text_says_which_exercises_build_on_which(name: str) -> None:
    prose = "\n".join(c.source for c in assignment(name).notebooks[0].cells if c.kind == "markdown")
    (points,) = re.findall(r"\*\*Points\.\*\*(.*)", prose)
    said = {int(later): {int(n) for n in re.findall(r"\d+", earlier)} for later, earlier in BUILDS_ON.findall(points)}
    if "Every exercise builds on all before it" in points:
        said = {number: set(range(1, number)) for number in range(2, len(assignment(name).notebooks[0].graded()) + 1)}
    assert said == on_its_back_end(built_on, name)


def built_on(name: str) -> dict[int, set[int]]:
    """By the number of an exercise, the earlier ones that its checks lead to: those of the names that they call."""
    one = on_device(assignment(name))
    (notebook,) = one.notebooks
    solutions = [c for c in notebook.cells if c.role is Role.SOLUTION and c.kind == "code"]
    stubs = {c.grade_id or "": c.released for c in solutions}
    with its_device(one):
        # The checks fail at once, and of a check that fails the judge says what it called.
        program = LocalProgram(one, stubs)
        found = Checks(one).run(program.side(frozenset()), SECRET, demonstrate=NO_CHECKS)
    tests = [c.grade_id or "" for c in notebook.cells if c.role is Role.TESTS]
    exercise = {c.grade_id: number for number, test in enumerate(tests, 1) for c in notebook.solutions_of(test)}
    built = {}
    for number, test in enumerate(tests, 1):
        before = [(c.grade_id or "", c.source) for c in solutions if exercise[c.grade_id] < number]
        names = set().union(*(found.called.get(check.name, ()) for check in found.checks[test]))
        if reached := builds_on(names, LocalProgram(one, {}).cells, before):
            built[number] = {exercise[grade_id] for grade_id in reached}
    return built


@pytest.mark.parametrize("name", NAMES)
def test_a_bank_is_written_independently_of_the_reference(name: str) -> None:
    reference = {c.grade_id: statements(c.source) for n in assignment(name).notebooks for c in n.cells}
    copied = [
        f"{entry.name}: {cell}"
        for entry in entries(name)
        if entry.kind == "correct"
        for cell, text in entry.cells.items()
        if statements(text) == reference[cell]
    ]
    assert copied == []


def statements(source: str) -> str:
    """What a program says, without comments, docstrings and spaces."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            del body[0]
    return ast.dump(tree)
