"""How checks are run: hidden inputs decide, demonstration inputs are shown, and the grader's errors cost nothing."""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

from autograder.errors import BadAssignment, KernelFailed, LimitReached
from autograder.judge import collection, judge
from autograder.judge.draw import Draw, seed_for
from autograder.judge.run import LocalProgram
from autograder.judge.student import Call, LocalSide, Side
from autograder.records import Evidence, Verdict, to_data

Judge = Callable[..., Any]

SQUARE = {"square": "def square(x):\n    return x ** 2"}
CHECK = '''
@pytest.mark.cell("test_square", weight=3)
@pytest.mark.parametrize("shape", [(1,), (2, 3), (4, 1)])
def test_squares(student, reference, draw, expect, shape):
    """Each element is squared,
    in arrays of any shape.

    This part is for the author.
    """
    x = draw.normal(shape)
    expect.close(student.square(x), reference.square(x), "square")

@pytest.mark.cell("test_square")
def test_not_in_place(student, draw, expect):
    student.square(draw.normal(2))
    expect.unchanged(student)
'''


def everything(results: dict[str, Any]) -> str:
    return json.dumps([to_data(r) for r in results.values()])


def test_the_reference_passes_every_check_which_carries_its_sentence_weight_evidence_and_cell(judged: Judge) -> None:
    outcome = judged(SQUARE, CHECK).run()
    assert list(outcome.checks) == ["test_square"] and outcome.problems == ()
    squares, in_place = outcome.checks["test_square"]
    assert squares.verdict is in_place.verdict is Verdict.PASSED
    assert squares.sentence == "Each element is squared, in arrays of any shape."
    assert (squares.weight, squares.evidence) == (3.0, Evidence.RECOMPUTED)
    assert (in_place.sentence, in_place.weight, in_place.evidence) == ("not in place", 1.0, Evidence.OBSERVED)


def test_what_is_shown_is_what_the_shown_call_does_by_itself(judged: Judge) -> None:
    counts = "seen = []\n\n\ndef square(x):\n    seen.append(x)\n    return x ** 2 + len(seen)"
    small = judged(SQUARE, CHECK + CHECK.replace("def test_", "def test_again_").replace("x = draw", "x = 0 * draw"))
    program = LocalProgram(small.assignment, {"square": counts})
    found = small.checks.run(program.side(frozenset()), b"this run", program=program).checks["test_square"]
    shown = {check.name: check.difference for check in found}
    assert shown["test_again_squares"].yours == "1", "not 2 or more: the calls of earlier checks are forgotten"


def test_one_failing_case_fails_the_check_and_the_smallest_is_shown(judged: Judge) -> None:
    wrong = {"square": "def square(x):\n    return x ** 2 if x.ndim == 1 else x"}
    result = judged(SQUARE, CHECK).results(wrong)["test_squares"]
    assert result.verdict is Verdict.FAILED and result.difference is not None
    assert "square(\n    np.array([[" in result.difference.case


def test_what_is_shown_is_the_same_whatever_the_hidden_inputs(judged: Judge) -> None:
    small, wrong = judged(SQUARE, CHECK), {"square": "def square(x):\n    return x"}
    one, other = (small.results(wrong, secret)["test_squares"].difference for secret in (b"one run", b"another"))
    assert one is not None and one == other


def test_hidden_inputs_decide_and_only_demonstration_inputs_are_shown(judged: Judge) -> None:
    small = judged(SQUARE, CHECK)
    seen: list[np.ndarray[Any, Any]] = []

    class Spy(LocalSide):
        renewed = 0
        parts: ClassVar[list[str]] = []

        def turn_to(self, part: str) -> None:
            Spy.parts.append(part)

        def _answer(self, call: Call) -> Any:
            seen.append(call.data["_args"][0])
            return super()._answer(call)

        def renew(self) -> None:
            Spy.renewed = len(seen)

    side = Spy({"square": lambda x: x * 3.25})
    outcome = small.checks.run(side, b"secret")
    secret_draw = Draw(seed_for(b"secret", "small", "test_squares[shape0]"))
    assert seen[0].tolist() == secret_draw.normal((1,)).tolist()
    assert Spy.parts and set(Spy.parts) == set(outcome.checks), "the side is told whose calls come next"
    assert 0 < Spy.renewed < len(seen), "a fresh kernel between hidden inputs and those that are shown"
    for shown in seen[Spy.renewed :]:
        assert shown.tolist() == np.round(shown, 1).tolist()
    text = everything({r.name: r for results in outcome.checks.values() for r in results})
    told = np.array([float(n) for n in re.findall(r"-?[0-9.]*[0-9]", text)])
    for hidden in seen[: Spy.renewed]:
        for value in (*hidden.ravel(), *(hidden * 3.25).ravel(), *(hidden**2).ravel()):
            assert not np.isclose(told, value, rtol=1e-4, atol=0).any(), "shown to four digits"
    (squares, _) = outcome.checks["test_square"]
    assert squares.difference is not None and f"{seen[Spy.renewed].ravel()[0]:g}"[:3] in squares.difference.case


@pytest.mark.parametrize(
    ("square", "told"),
    [
        (lambda x: {}["stolen"], "On the inputs shown, calling your code, or using its answer, raises an exception."),
        (lambda x: np.full(x.shape, 777.25), "On the inputs shown, its values are wrong."),
        (lambda x: "stolen", "On the inputs shown, it has the wrong type."),
        (lambda x: {"stolen": x}, "On the inputs shown, it has the wrong type."),
    ],
    ids=["exception", "values", "text", "keys"],
)
def test_a_side_that_may_remember_the_hidden_inputs_has_nothing_that_it_chose_shown(
    judged: Judge, square: Any, told: str
) -> None:
    class Remembering(LocalSide):
        forgets = False

    outcome = judged(SQUARE, CHECK).checks.run(Remembering({"square": square}), b"secret")
    found = {r.name: r for results in outcome.checks.values() for r in results}
    assert "stolen" not in everything(found) and "777" not in everything(found)
    difference = found["test_squares"].difference
    assert difference is not None and difference.sentence == told and "square(np.array([" in difference.case


def test_a_limit_that_only_the_shown_inputs_meet_is_called_a_limit_there_too(judged: Judge) -> None:
    class Slow(LocalSide):
        forgets, renewed = False, False

        def _answer(self, call: Call) -> Any:
            if self.renewed:
                raise LimitReached(Verdict.TIME, "it was stopped after 1 s")
            return super()._answer(call)

        def renew(self) -> None:
            self.renewed = True

    outcome = judged(SQUARE, CHECK).checks.run(Slow({"square": lambda x: x * 3}), b"secret")
    (squares, _) = outcome.checks["test_square"]
    assert squares.difference is not None
    assert squares.difference.sentence == "When your code was called, it was stopped after 1 s."


def test_the_reference_works_once_for_all_students_of_a_run(judged: Judge) -> None:
    worked: list[float] = []
    small = judged({"square": "def square(x):\n    import worked\n    worked.on.append(x)\n    return x ** 2"}, CHECK)
    module = types.ModuleType("worked")
    module.on = worked  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "worked", module)
        small.checks.warm_up(b"this run")
        worked.clear()
        for wrong in (lambda x: x**2, lambda x: x**2, lambda x: x * 3.25):
            small.checks.run(LocalSide({"square": wrong}), b"this run")
        assert worked == [], "neither for hidden inputs nor for those that are shown"
        small.checks.run(LocalSide({"square": lambda x: x**2}), b"another run")
        assert len(worked) == 3


def test_a_reference_that_fails_what_would_be_shown_is_not_warmed_up(judged: Judge) -> None:
    small = judged(SQUARE, CHECK.replace("normal(shape)\n", "normal(shape)\n    assert not draw.demonstration\n"))
    assert {r.verdict for r in small.results().values()} == {Verdict.PASSED}
    with pytest.raises(BadAssignment, match="test_squares fails on its demonstration inputs"):
        small.checks.warm_up()


def test_what_only_hidden_inputs_show_is_told_without_any_value(judged: Judge) -> None:
    leak = "def square(x):\n    if not np.array_equal(x, np.round(x, 1)): {}\n    return x ** 2"
    raised = "raise ValueError(f'hidden: {x.tolist()}')"
    for body, words in ((leak.format(raised), "raises an exception"), (leak.format("return x"), "wrong")):
        result = judged(SQUARE, CHECK, name=f"small{len(words)}").results({"square": body})["test_squares"]
        assert result.verdict is Verdict.FAILED and result.difference is not None
        assert "other inputs than those shown" in result.difference.sentence and words in result.difference.sentence
        assert "hidden" not in everything({"": result}) and result.difference.yours == result.difference.case == ""


class Ends(Side):
    """A side whose calls all end in one way."""

    def __init__(self, error: Exception) -> None:
        self.calls: list[Call] = []
        self._error = error

    def _answer(self, call: Call) -> Any:
        raise self._error


@pytest.mark.parametrize("verdict", [Verdict.TIME, Verdict.MEMORY, Verdict.OUTPUT, Verdict.CRASH])
def test_a_limit_met_in_a_call_is_the_verdict(judged: Judge, verdict: Verdict) -> None:
    side = Ends(LimitReached(verdict, "the Python process ended with status 42"))
    (squares, _) = judged(SQUARE, CHECK).checks.run(side, b"s").checks["test_square"]
    assert squares.verdict is verdict
    if verdict is Verdict.CRASH:
        assert "42" not in squares.message, "a status is the student's to choose: it could tell a hidden input"


def test_a_kernel_that_cannot_be_had_is_nobodys_verdict(judged: Judge) -> None:
    side = Ends(KernelFailed("no kernels today"))
    with pytest.raises(KernelFailed, match="today"):
        judged(SQUARE, CHECK).checks.run(side, b"s")
    assert len(side.calls) == 1, "and the other checks are not tried"


def test_what_a_run_made_ends_with_it_however_it_ends(judged: Judge) -> None:
    once = (
        "@pytest.fixture(scope='module')\ndef seen():\n    return []\n\n"
        '@pytest.mark.cell("test_square")\ndef test_once(student, seen):\n'
        "    seen.append(1)\n    student.square(np.ones(2))\n    assert seen == [1]\n"
    )
    small = judged(SQUARE, once + CHECK)
    with pytest.raises(KernelFailed):
        small.checks.run(Ends(KernelFailed("no kernels today")), b"s")
    for _ in range(2):
        assert {result.verdict for result in small.results().values()} == {Verdict.PASSED}


def only(judged: Judge, body: str, cells: dict[str, str] | None = None) -> Any:
    source = f'@pytest.mark.cell("test_square")\ndef test_it(student, reference, draw, expect):\n    {body}\n'
    small = judged(SQUARE, source)
    return small.results(cells)["test_it"], small.run(cells).problems


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('mine')",
        "undefined_name",
        "reference.unknown(1)",
        "reference.square('x')",
        "student.square(lambda: 0)",
        "assert student.square(2.0) == 5",
        "import no_such_module",
        "pytest.skip('not today')",
        "pytest.fail('always')",
        "student.run(5)",
    ],
)
def test_an_error_of_the_check_is_the_graders_and_is_told_to_the_instructor(judged: Judge, body: str) -> None:
    result, problems = only(judged, body)
    assert result.verdict is Verdict.GRADER_ERROR and "costs you nothing" in result.message
    assert len(problems) == 1 and problems[0].startswith("test_it: ")


@pytest.mark.parametrize(
    ("body", "square"),
    [
        ("got = student.square(2.0)\n    if got != 4: got['key']", "return 5"),
        ("student.square(np.ones(2)).sum()", "return None"),
        ("assert student.square(2.0) == 4, 'two squared is four'", "return 5"),
        ("float(student.square(2.0))", "return 'text'"),
        ("a, b = student.square(2.0), 1; reference.square(a)", "return {}"),
        ("if student.square(2.0) != 4: pytest.fail('two squared is four')", "return 5"),
        ("student.square(2.0)", "raise ZeroDivisionError"),
        ("student.square(2.0)", "return iter([])"),
    ],
)
def test_an_error_that_a_strange_answer_causes_is_the_students(judged: Judge, body: str, square: str) -> None:
    result, problems = only(judged, body, {"square": f"def square(x):\n    {square}"})
    assert result.verdict is Verdict.FAILED and problems == ()
    if "two squared is four" in body:
        assert result.difference.sentence == "two squared is four"


def test_a_broken_fixture_of_the_check_file_costs_nothing_and_one_that_the_student_breaks_does(judged: Judge) -> None:
    fixture = "@pytest.fixture\ndef made(student):\n    {}\n\n"
    check = '@pytest.mark.cell("test_square")\ndef test_it(made):\n    pass\n'
    broken = judged(SQUARE, fixture.format("raise RuntimeError") + check, name="one")
    assert broken.results()["test_it"].verdict is Verdict.GRADER_ERROR
    calls = judged(SQUARE, fixture.format("return student.square(1.0)") + check, name="two")
    assert calls.results()["test_it"].verdict is Verdict.PASSED
    raising = calls.results({"square": "def square(x):\n    raise ValueError"})["test_it"]
    assert raising.verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("above", "marks", "argument", "demanded"),
    [
        ("@pytest.fixture(autouse=True)\ndef own(): SEEN.append(1)", "", "student", "SEEN"),
        ("@pytest.fixture\ndef own(): SEEN.append(1)", "usefixtures('own')", "student", "SEEN"),
        ("def setup_function(function): SEEN.append(1)", "", "student", "SEEN"),
        ("@pytest.fixture\ndef device(): return 'own'", "", "device", "device == 'own'"),
        (
            "@pytest.fixture\ndef x(request): return -1",
            "parametrize('x', [7], indirect=True)",
            "x",
            "x < 0",
        ),
        ("", "parametrize('x', [7])", "x", "x == 7"),
        ("", "parametrize('device', ['own'])", "device", "device == 'own'"),
        ("", "parametrize('device', ['own'], indirect=True)", "device", "device == 'cpu'"),
        ("", "", "request", "request.node.name == 'test_it'"),
    ],
)
def test_a_check_file_may_use_what_pytest_offers(
    judged: Judge, above: str, marks: str, argument: str, demanded: str
) -> None:
    marks = "".join(f"@pytest.mark.{mark}\n" for mark in filter(None, ("cell('test_square')", marks)))
    small = judged(SQUARE, f"SEEN = []\n{above}\n\n{marks}def test_it({argument}):\n    assert {demanded}\n")
    assert small.results()["test_it"].verdict is Verdict.PASSED


def test_a_misspelled_fixture_is_the_graders_error_and_stops_no_other_check(judged: Judge) -> None:
    small = judged(SQUARE, CHECK + '\n@pytest.mark.cell("test_square")\ndef test_it(studnet): pass\n')
    outcome = small.run()
    *others, last = outcome.checks["test_square"]
    assert last.verdict is Verdict.GRADER_ERROR and "FixtureLookupError: ('studnet'" in outcome.problems[0]
    assert {check.verdict for check in others} == {Verdict.PASSED}


def test_a_check_that_is_marked_to_be_skipped_is_the_graders_error(judged: Judge) -> None:
    small = judged(SQUARE, CHECK.replace("@pytest.mark.cell", "@pytest.mark.skip\n@pytest.mark.cell", 1))
    assert Verdict.GRADER_ERROR in {r.verdict for r in small.results().values()}


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ("def test_it(student): pass\n", r"checks\.py, line 5: .*test_it has no marker"),
        ("import no_such_module\n", r"checks\.py:5: .*\n.*no_such_module"),
        ("def test_it(:\n", r"checks\.py.*line 5(.*\n)*.*(SyntaxError|invalid syntax)"),
        ("def pytest_generate_tests(metafunc): raise RuntimeError('mine')\n", r"checks\.py.*5.*(.*\n)*.*mine"),
    ],
)
def test_a_check_file_that_cannot_be_loaded_passes_and_fails_nobody(judged: Judge, checks: str, words: str) -> None:
    good = '@pytest.mark.cell("test_square")\ndef test_good(student): pass\n'
    small = judged(SQUARE, good + checks)
    outcome = small.run()
    assert any(re.search(words, p) for p in outcome.problems)
    assert {r.verdict for rs in outcome.checks.values() for r in rs} <= {Verdict.GRADER_ERROR}
    with pytest.raises(BadAssignment):
        small.checks.warm_up()


def test_a_file_without_checks_is_a_problem(judged: Judge) -> None:
    outcome = judged(SQUARE, "def helper(): pass\n").run()
    assert outcome.checks == {} and outcome.problems[0].endswith("checks.py holds no check")


@pytest.mark.parametrize("ending", ["raise SystemExit", "raise KeyboardInterrupt", "pytest.exit('enough')"])
def test_a_check_that_ends_the_run_of_all_is_the_graders_error_with_its_place(judged: Judge, ending: str) -> None:
    small = judged(SQUARE, CHECK + f'\n@pytest.mark.cell("test_square")\ndef test_end(student):\n    {ending}\n')
    outcome = small.run()
    (*_, last) = outcome.checks["test_square"]
    assert last.verdict is Verdict.GRADER_ERROR
    assert re.search(
        r"checks\.py, line 22: KeyboardInterrupt|^test_end: (SystemExit|Exit: enough)", outcome.problems[0]
    )


def test_an_error_inside_pytest_is_the_graders_with_its_place(judged: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **more: Any) -> None:
        raise RuntimeError("inside")

    monkeypatch.setattr(collection, "runtestprotocol", broken)
    outcome = judged(SQUARE, "@pytest.fixture(autouse=True)\ndef own(): pass\n\n" + CHECK).run()
    assert {r.verdict for r in outcome.checks["test_square"]} == {Verdict.GRADER_ERROR}
    assert re.search(r"test_judge\.py, line \d+: RuntimeError: inside", outcome.problems[0])


def test_a_check_whose_cases_were_not_all_seen_to_end_has_not_passed(
    judged: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_two(self: Any, items: list[pytest.Function]) -> None:
        self.collection.run(self, items[:2], self._prepare)

    monkeypatch.setattr(judge.Judge, "_run", only_two)
    assert {r.verdict for r in judged(SQUARE, CHECK).results().values()} == {Verdict.NOT_RUN}


def test_a_failing_check_prints_nothing_and_does_not_touch_its_neighbors(
    judged: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    results = judged(SQUARE, CHECK).results({"square": "def square(x):\n    print('= 99 passed =')\n    return x * 2"})
    assert {name: r.verdict for name, r in results.items()} == {"test_squares": "failed", "test_not_in_place": "passed"}
    assert capsys.readouterr() == ("", "")


def test_two_assignments_in_one_process_keep_their_own_checks_and_probes(judged: Judge) -> None:
    check = '''
from probes import asked
@pytest.mark.cell("test_square")
def test_{0}(student):
    """{0}"""
    assert student.run(asked) == {1}
'''
    probe = "def asked(ns):\n    return {}\n"
    one = judged(SQUARE, check.format("one", 1), probes=probe.format(1), name="one")
    two = judged(SQUARE, check.format("two", 2), probes=probe.format(2), name="two")
    for small, name in ((one, "test_one"), (two, "test_two"), (one, "test_one")):
        assert {n: r.verdict for n, r in small.results().items()} == {name: Verdict.PASSED}


def test_the_checks_of_an_assignment_run_under_no_configuration_but_their_own(judged: Judge) -> None:
    options = {"pytest.ini": "[pytest]\naddopts = -k nothing\n", "conftest.py": "raise RuntimeError\n"}
    small = judged(SQUARE, CHECK, probes="def p(ns): pass\n", **options)
    assert small.results()["test_squares"].verdict is Verdict.PASSED
    assert not list(small.assignment.folder.rglob("__pycache__")), "and leave no bytecode beside them"


def test_what_is_shown_of_a_value_is_short_however_long_its_keys_are(judged: Judge) -> None:
    body = "expect.close(student.square(1.0), {'a': 1.0} if student.square(1.0) != 1 else 1.0)"
    long = {"square": "def square(x):\n    return {'k' * 100_000: 1.0, 'l' * 100_000: 2.0}"}
    result, _ = only(judged, body, long)
    assert result.verdict is Verdict.FAILED and len(everything({"": result})) < 10_000


def test_inputs_too_large_for_a_page_are_shown_by_their_shape(judged: Judge) -> None:
    result, _ = only(judged, "x = draw.normal((500, 40))\n    expect.close(student.square(x), x)")
    assert result.difference.case == "square(<float64 array of shape (500, 40)>)"


def test_a_check_may_read_what_was_handed_in_and_by_whom(judged: Judge) -> None:
    small = judged(
        SQUARE,
        """
@pytest.mark.cell("test_square")
def test_text(submission, expect):
    expect.true("cubed" in submission.sources["square"], f"handed in by {submission.student}")
""",
    )
    program = LocalProgram(small.assignment, {"square": "def square(x):\n    cubed = x**3\n    return x**2"}, "ada")
    (found,) = small.checks.judge(program, b"s").checks["test_square"]
    assert found.verdict is Verdict.PASSED
    (found,) = small.checks.run(program.side(frozenset()), b"s").checks["test_square"]
    assert found.verdict is Verdict.FAILED, "where only a side is given, the text is the reference's"
