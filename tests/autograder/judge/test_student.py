"""The two sides of a check cannot be told apart: trusted code in this process, the student's in a kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograder.errors import BadReply, GraderFault, StudentError, StudentFault
from autograder.judge.expect import agree
from autograder.judge.student import Call, KernelSide, LocalSide, Memory, Side, probe_source
from autograder.kernels.replay import StudentKernel
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import Zygote
from autograder.protocol.wire import Handle
from autograder.records import Limits, PlannedCell, SubmittedNotebook

SOURCE = """
import numpy as np
def total(x, weights=1.0): return (x * weights).sum()
def nothing(): pass
def echo(*args, **kwargs): return args, kwargs
def fails(x): return {}[x]
def scale(x): x *= 2
def loud():
    print("out")
    return 1
def lazy(): return (n for n in range(3))
def kernel(x): return x + 1
def names(): return "names"
class Net:
    def __init__(self): self.w = np.zeros(2)
    def step(self, g): self.w = self.w - g
"""


@pytest.fixture(scope="module")
def student(zygote: Zygote) -> Iterator[StudentKernel]:
    notebook = SubmittedNotebook("n", (PlannedCell(SOURCE, "student"),))
    with contextlib.closing(StudentKernel(lambda: Kernel(zygote, Limits()), notebook)) as started:
        started.run()
        yield started


@pytest.fixture(params=["local", "kernel"])
def side(request: pytest.FixtureRequest) -> Side:
    return KernelSide(request.getfixturevalue("student")) if request.param == "kernel" else local()


def local(memory: Memory | None = None, source: str = SOURCE) -> LocalSide:
    names: dict[str, Any] = {"__name__": "reference"}
    exec(source, names)
    return LocalSide(names, memory)


def weights_after(ns: Any, net: Any, gradients: Any) -> Any:
    for gradient in gradients:
        net.step(gradient)
    return net.w


def make_net(ns: Any) -> Any:
    return {"net": ns.keep(ns.Net()), "more": [ns.keep(ns.Net())]}


def two_results(ns: Any, x: Any) -> Any:
    return ns.total(x), ns.total(x, weights=2.0)


def test_a_function_is_called_with_data_and_answers_with_data(side: Side) -> None:
    assert side.total(np.arange(3.0)) == 3.0
    assert side.total(np.arange(3.0), weights=2.0) == 6.0
    assert side.nothing() is None
    value = {"a": (1, [2.5, None], "x"), 3: np.ones((2, 1), np.float32)}
    ((got,), keywords) = side.echo(value, key=value)
    assert agree(got, value, 0) and agree(keywords["key"], value, 0)
    assert type(got["a"]) is tuple and got[3].dtype == np.float32


def test_a_probe_is_run_with_the_namespace_and_named_data(side: Side) -> None:
    assert side.run(two_results, x=np.ones(3)) == (3.0, 6.0)
    # Names that a side might use itself are the student's all the same.
    assert side.kernel(1) == 2 and side.names() == "names"


def test_an_exception_is_the_same_error_on_both_sides(side: Side) -> None:
    with pytest.raises(StudentError) as caught:
        side.fails("key")
    assert (caught.value.type_name, caught.value.text) == ("KeyError", "'key'")
    with pytest.raises(StudentError) as caught:
        side.unwritten(1)
    assert str(caught.value) == "NameError: name 'unwritten' is not defined"


def test_a_value_that_is_no_data_is_the_same_refusal_on_both_sides(side: Side) -> None:
    with pytest.raises(BadReply, match=r"builtins\.generator"):
        side.lazy()


def test_what_a_check_cannot_send_is_its_own_mistake_on_both_sides(side: Side) -> None:
    with pytest.raises(TypeError, match="cannot be called with this"):
        side.total(lambda: 0)
    assert not [c for c in side.calls if c.error], "nothing that the student's side did"


def test_calls_are_recorded_with_their_values_their_errors_and_the_arguments_afterwards(side: Side) -> None:
    x = np.ones(2)
    side.scale(x)
    with pytest.raises(StudentError):
        side.fails(1)
    changed, failed = side.calls
    assert x.tolist() == [1, 1], "the caller's own array is not the one that was sent"
    assert changed.data["_args"][0].tolist() == [1, 1] and changed.after["_args"][0].tolist() == [2, 2]
    assert isinstance(failed.error, StudentError) and failed.shown_as == "fails"


def test_printing_is_no_part_of_the_answer(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    assert side.loud() == 1
    assert capsys.readouterr() == ("", "")


def test_an_object_outlives_a_call_as_a_handle_and_can_be_sent_back(side: Side) -> None:
    made = side.run(make_net)
    assert isinstance(made["net"], Handle) and made["net"].type_name == "Net"
    side.run(weights_after, net=made["net"], gradients=[np.ones(2)])
    assert side.run(weights_after, net=made["net"], gradients=[np.ones(2)]).tolist() == [-2, -2]
    assert side.run(weights_after, net=made["more"][0], gradients=[]).tolist() == [0, 0], "the other one"
    assert "net" not in side.calls[-1].after, "an object has no data form to show again"


def test_a_call_can_be_repeated_on_another_side(side: Side) -> None:
    side.total(np.ones(2))
    other = local(source=SOURCE.replace(".sum()", ".sum() + 1"))
    assert other.repeat(side.calls[-1]) == 3.0
    assert other.calls[-1].data is side.calls[-1].data


def counting() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec("made = []\ndef next_one(x):\n    made.append(x)\n    return x + len(made)\n" + SOURCE, names)
    return names


def test_what_has_been_answered_once_is_remembered_and_comes_fresh() -> None:
    memory: Memory = {}
    names = counting()
    first = LocalSide(names, memory).next_one(np.zeros(2))
    first[:] = 7
    again = LocalSide(names, memory)
    assert again.next_one(np.zeros(2)).tolist() == [1, 1], "not what somebody has made of it"
    assert len(names["made"]) == 1 and again.calls[-1].value.tolist() == [1, 1]
    assert LocalSide(names, memory).next_one(np.ones(2)).tolist() == [3, 3], "another question"
    assert len(names["made"]) == 2


def test_the_same_question_asked_twice_may_have_two_answers() -> None:
    memory: Memory = {}
    names = counting()
    for _ in range(2):
        side = LocalSide(names, memory)
        assert [side.next_one(0), side.next_one(0), side.next_one(0)] == [1, 2, 3]
    assert len(names["made"]) == 3


def test_arguments_afterwards_are_remembered_too() -> None:
    memory: Memory = {}
    for _ in range(2):
        side = local(memory)
        side.scale(np.ones(2))
        assert side.calls[-1].after["_args"][0].tolist() == [2, 2]
    assert len(memory) == 1


def test_objects_are_never_remembered() -> None:
    memory: Memory = {}
    for _ in range(2):
        side = local(memory)
        made = side.run(make_net)
        side.run(weights_after, net=made["net"], gradients=[np.ones(2)])
        assert side.run(weights_after, net=made["net"], gradients=[np.ones(2)]).tolist() == [-2, -2]
    assert memory == {}


def test_a_probe_must_be_a_plain_function() -> None:
    local = 1

    def closure(ns: Any) -> int:
        return local

    for probe in (lambda ns: 1, closure):
        with pytest.raises(ValueError, match="plain function"):
            probe_source(probe)
    assert probe_source(two_results).startswith("def two_results(ns")


@pytest.mark.parametrize("fault", [GraderFault("no"), StudentFault("no")], ids=["grader", "student"])
def test_a_call_keeps_the_students_fault_and_not_the_graders(fault: GraderFault | StudentFault) -> None:
    class Broken(Side):
        def __init__(self) -> None:
            self.calls = []

        def _answer(self, call: Call) -> tuple[Any, dict[str, Any]]:
            raise fault

    side = Broken()
    with pytest.raises(type(fault)):
        side.f()
    assert side.calls[0].error is (fault if isinstance(fault, StudentFault) else None)
