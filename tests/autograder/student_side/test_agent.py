"""The agent beside the student's code: it runs probes, hides nothing, and survives what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.protocol import wire
from autograder.protocol.probes import Namespace, build_tensor, run_probe
from autograder.protocol.wire import Handle, Tensor
from autograder.student_side.agent import Agent


def ask(agent: Agent, body: str, **data: Any) -> dict[str, Any]:
    """The reply to a probe with this body; value and arguments are decoded."""
    source = f"def probe(ns, {', '.join(data)}):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    tree, buffers = wire.encode(data)
    content, out = agent.answer({"source": source, "name": "probe", "data": tree}, buffers)
    if content["status"] == "ok":
        content["value"], content["after"] = wire.decode(content["value"], out), wire.decode(content["after"], out)
    return content


@pytest.fixture
def agent() -> Agent:
    names: dict[str, Any] = {}
    exec("def double(x): return 2 * x\nclass Thing: pass", names)
    return Agent(names)


def test_a_probe_gets_the_names_and_the_data_and_its_value_comes_back(agent: Agent) -> None:
    reply = ask(agent, "return ns.double(x) + y", x=np.ones(2), y=1)
    assert reply["status"] == "ok" and reply["value"].tolist() == [3, 3]


def test_a_name_that_is_not_there_is_a_name_error_as_in_the_notebook() -> None:
    with pytest.raises(NameError, match="name 'f' is not defined"):
        _ = Namespace({}).f


def test_arguments_come_back_as_they_are_after_the_call(agent: Agent) -> None:
    reply = ask(agent, "x[0] = 9\nd['new'] = 1", x=np.zeros(2), d={})
    assert reply["after"]["x"].tolist() == [9, 0] and reply["after"]["d"] == {"new": 1}


def test_an_argument_that_is_no_data_any_more_is_left_out_and_the_rest_is_there(agent: Agent) -> None:
    reply = ask(agent, "d['f'] = len\nx += 1", x=np.zeros(1), d={})
    assert set(reply["after"]) == {"x"} and reply["after"]["x"].tolist() == [1]


def test_what_is_printed_to_either_stream_goes_nowhere(agent: Agent, capfd: pytest.CaptureFixture[str]) -> None:
    printing = "import sys\nprint('a' * 10**6)\nprint('b', file=sys.stderr)\nsys.stdout.flush()\nsys.stdout.isatty()"
    reply = ask(agent, printing)
    assert reply["status"] == "ok" and "aa" not in str(reply) and capfd.readouterr() == ("", "")


def test_writing_bytes_to_the_text_stream_is_the_probes_error(agent: Agent) -> None:
    assert ask(agent, "import sys\nsys.stdout.write(b'x')")["type"] == "TypeError"


def test_exceptions_of_every_kind_become_replies(agent: Agent) -> None:
    for body, name in (
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(1)", "SystemExit"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("class E(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise E", "E"),
    ):
        reply = ask(agent, body)
        assert (reply["status"], reply["type"]) == ("raised", name)
    assert ask(agent, "raise KeyboardInterrupt")["status"] == "interrupted"
    long = ask(agent, "raise ValueError('x' * 10**6)")
    assert len(long["text"]) <= 2000


def test_what_cannot_travel_is_an_unusable_reply_that_names_it(agent: Agent) -> None:
    reply = ask(agent, "return ns.Thing()")
    assert reply["status"] == "unusable" and "Thing" in reply["text"]


def test_a_reply_over_the_limit_is_unusable_and_says_so() -> None:
    agent = Agent({}, reply_bytes=1000)
    assert ask(agent, "return np.zeros(100)")["status"] == "ok"
    reply = ask(agent, "return np.zeros(200)")
    assert reply["status"] == "unusable" and "1000 bytes" in reply["text"]


def test_objects_are_kept_until_they_are_released(agent: Agent) -> None:
    handle = ask(agent, "t = ns.Thing(); t.x = 5\nreturn ns.keep(t)")["value"]
    assert handle == Handle(1, "Thing")
    assert ask(agent, "return t.x", t=handle)["value"] == 5
    assert ask(agent, "t.x = 6", t=handle)["after"] == {}
    assert agent.answer({"release": [handle.number, 99]}, [])[0]["status"] == "ok"
    gone = ask(agent, "return t.x", t=handle)
    assert gone["status"] == "unusable" and "is gone" in gone["text"]


def test_a_probe_does_not_see_the_students_names_as_its_own_nor_leave_any(agent: Agent) -> None:
    before = set(agent.names)
    assert ask(agent, "return 'double' in globals()")["value"] is False
    ask(agent, "global left\nleft = 1")
    assert set(agent.names) == before


def test_a_probe_may_carry_annotations_of_anything() -> None:
    source = "def probe(ns: Unknown, x: np.ndarray[Whatever]) -> Nothing:\n    return x\n"
    assert run_probe(source, "probe", Namespace({}), {"x": 1}) == 1


def test_a_malformed_request_is_answered_and_not_fatal(agent: Agent) -> None:
    for request in ({"source": "def probe(:", "name": "probe", "data": {"dict": []}}, {"source": "", "name": "x"}):
        assert agent.answer(request, [])[0]["status"] in ("raised", "unusable")


@pytest.mark.slow
def test_a_tensor_is_built_where_the_framework_is() -> None:
    torch = pytest.importorskip("torch")
    made = build_tensor(Tensor(np.ones((2, 1)), "torch", "float32", requires_grad=True))
    assert made.dtype is torch.float32 and made.requires_grad and made.is_leaf


def test_the_configuration_of_the_host_is_not_read(tmp_path: Path) -> None:
    from ipykernel.kernelapp import IPKernelApp

    from autograder.student_side.kernel import GradedApp

    (tmp_path / "ipython_kernel_config.py").write_text("c.IPKernelApp.exec_lines = ['1 / 0']")
    for kind, read in ((IPKernelApp, True), (GradedApp, False)):
        app = kind(config_file_paths=[str(tmp_path)])
        app.load_config_file()
        assert ("exec_lines" in app.config.get("IPKernelApp", {})) == read
