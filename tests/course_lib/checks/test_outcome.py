"""A check says `ok` on one line, or stops with one line; an exception of the student's keeps its traceback."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from course_lib.checks.outcome import CheckFailed, check, fail, require
from course_lib.compare.values import Difference, compare


@check("twice x is right")
def doubles(double: object) -> str:
    require(compare("the result", double(np.ones(2)), np.full(2, 2.0)), {"factor": "How much is twice?"})  # type: ignore[operator]
    return " for ones"


@check("twice x is a number")
def is_number(double: object) -> None:
    double(np.ones(2)) * 1  # type: ignore[operator]


def message(found: Difference | None, hints: dict[str, str] | None = None, source: str = "") -> str:
    with pytest.raises(CheckFailed) as failure:
        require(found, hints, source=source)
    return str(failure.value)


def test_a_check_prints_one_line_or_says_what_it_asked_what_it_found_and_a_hint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    doubles(lambda x: x + x)
    assert capsys.readouterr().out == "ok   twice x is right for ones\n"
    with pytest.raises(CheckFailed) as failure:
        doubles(lambda x: 4 * x)
    assert str(failure.value) == (
        "twice x is right: the result is 2 times the right value everywhere. At [0] it is 4; it should be 2. "
        "Hint: How much is twice?"
    )
    assert failure.value.__suppress_context__


def test_an_untouched_cell_is_named_even_when_another_calls_it_and_other_errors_go_through() -> None:
    def double(x: object) -> object:
        raise NotImplementedError()

    class Doubler:
        def __call__(self, x: object) -> object:
            raise NotImplementedError()

    with pytest.raises(CheckFailed, match=r"^double is not written yet"):
        doubles(lambda x: double(x))
    with pytest.raises(CheckFailed, match=r"^Doubler.__call__ is not written yet"):
        doubles(Doubler())
    with pytest.raises(ZeroDivisionError):
        doubles(lambda x: 1 // 0)


def test_jupyter_shows_one_line_instead_of_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell()
    shell.user_ns.update(doubles=doubles)
    result = shell.run_cell("doubles(lambda x: x)")
    assert isinstance(result.error_in_exec, CheckFailed)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert len(shown) == 1 and shown[0].startswith("no   twice x is right: the result is 1/2 times")
    shell.run_cell("doubles(lambda x: x + 'a')")
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) > 5, "NumPy's own error, and below it the check's line"
    assert not [line for line in shown if "checks/outcome.py" in line], "no frame of ours"
    assert shown[-1].startswith("no   twice x is right: this error ended the check. The last line of your own")


def test_an_earlier_check_that_did_not_hold_is_named_until_it_holds() -> None:
    def of_the_second(double: object) -> str:
        with pytest.raises((CheckFailed, TypeError)) as failure:
            is_number(double)
        return getattr(failure.value, "earlier", "") + "".join(getattr(failure.value, "__notes__", ()))

    doubles(lambda x: 2 * x)
    assert of_the_second(lambda x: None).endswith("is the place to look at.")
    doubles(lambda x: 2 * x)
    with pytest.raises(CheckFailed) as failure:
        doubles(lambda x: x)
    assert failure.value.earlier == "", "the second comes later"
    earlier = "Before this one, 'twice x is right' did not hold either: if this exercise calls that one, mend"
    assert earlier in of_the_second(lambda x: None)
    doubles(lambda x: 2 * x)
    assert earlier not in of_the_second(lambda x: None)


def test_the_hint_for_name_and_kind_comes_before_the_hint_for_the_kind_and_that_before_the_name() -> None:
    found = Difference('grads["W1"]', "sign", "Wrong.")
    hints = {"W1 sign": "first", "sign": "second", "W1": "third", "": "fourth"}
    for key, expected in list(hints.items()):
        assert message(found, hints) == f"Wrong. Hint: {expected}"
        del hints[key]
    assert message(found, hints) == "Wrong."


def test_where_the_expected_value_comes_from_is_said_in_either_place() -> None:
    array = compare("grad", np.array([1.0, 5.0]), np.array([1.0, 3.0]))
    assert message(array, source="finite differences give").endswith("At [1] it is 5; finite differences give 3.")
    number = compare("c", 5.0, 3.0)
    assert message(number, source="the example gives") == "c is 5; the example gives 3."


def test_a_failure_is_an_assertion_error_for_those_who_grade_by_exceptions() -> None:
    with pytest.raises(AssertionError, match=r"^Too slow\. Hint: Count\.$"):
        fail("Too slow.", "Count.")
