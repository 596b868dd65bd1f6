"""A cell and a call in a confined kernel: what comes back, and what each limit does to code that ignores it."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.errors import BadReply, KernelFailed, LimitReached, StudentError
from autograder.kernels.preload import public_folders
from autograder.kernels.process import KernelProcess
from autograder.kernels.session import CellResult, Kernel
from autograder.records import Limits, Verdict

pytestmark = pytest.mark.slow

MakeKernel = Callable[..., Kernel]
MIB = 1 << 20
ECHO = "def echo(ns, x):\n    return x\n"


def peak() -> int:
    """The most memory that this process ever held, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture(scope="module")
def shared(zygote: Any) -> Iterator[Kernel]:
    """One kernel for the tests that leave it as they found it."""
    with Kernel(zygote, Limits(cell_s=20, notebook_s=120, memory_bytes=512 * MIB), public_folders()) as kernel:
        kernel.wait_until_ready()
        yield kernel


def run_all(kernel: Kernel, *cells: str) -> list[CellResult]:
    return [kernel.run_cell(cell) for cell in cells]


def answer(kernel: Kernel, body: str, **data: Any) -> Any:
    """Call a probe with this body; its data is named in it."""
    names = ", ".join(["ns", *data])
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return kernel.call(f"def probe({names}):\n{lines}\n", "probe", data).value


def test_a_link_in_the_place_of_a_kernels_socket_is_not_followed(zygote: Any, tmp_path: Path) -> None:
    """The folder is the student's to write, and a link could lead the judge to any socket of the host."""
    with Kernel(zygote, Limits()) as kernel, socket.socket(socket.AF_UNIX) as elsewhere:
        while not kernel.process.ready:
            kernel.process.listen(1.0)
        elsewhere.bind(str(tmp_path / "s"))
        place = Path(f"{kernel.process.address}-1")
        place.unlink()
        place.symlink_to(tmp_path / "s")
        with pytest.raises(KernelFailed, match="not a socket"):
            kernel.wait_until_ready()


def test_cells_share_one_namespace_in_the_order_of_running(shared: Kernel) -> None:
    first, second, third = run_all(shared, "x = [1]", "x.append(2)", "x")
    assert [r.verdict for r in (first, second, third)] == [Verdict.PASSED] * 3
    assert third.outputs == [{"output_type": "execute_result", "data": {"text/plain": "[1, 2]"}, "metadata": {}}]


def test_a_cell_that_raises_has_failed_and_the_next_one_runs(shared: Kernel) -> None:
    failed, after = run_all(shared, "print('so far')\n1 / 0\nprint('never')", "print('on')")
    assert failed.verdict is Verdict.FAILED
    assert failed.error == "ZeroDivisionError: division by zero (line 2 of the cell)"
    assert "".join(failed.text) == "so far\n"
    assert [o["output_type"] for o in failed.outputs] == ["error"]
    assert after.verdict is Verdict.PASSED and after.text == ["on\n"]


def test_what_is_printed_to_both_streams_is_gathered(shared: Kernel) -> None:
    ran = shared.run_cell("import sys\nprint('a')\nprint('b', file=sys.stderr)")
    assert sorted("".join(ran.text).split()) == ["a", "b"]


@pytest.mark.parametrize(
    ("cell", "error"),
    [("x = 1\ndef (:", "SyntaxError: invalid syntax (line 2 of the cell)"), ("input('?')", "StdinNotImplementedError")],
)
def test_a_cell_that_cannot_run_or_asks_for_input_fails_with_its_name(shared: Kernel, cell: str, error: str) -> None:
    ran = shared.run_cell(cell)
    assert ran.verdict is Verdict.FAILED and error in ran.error


def test_text_that_no_file_could_hold_arrives_as_text_that_it_can_and_hangs_no_cell(kernel: Kernel) -> None:
    ran = kernel.run_cell("print('\\ud800')")
    assert ran.verdict is Verdict.PASSED and ran.text == ["\\ud800\n"]
    assert kernel.run_cell("print('on')").text == ["on\n"]
    ran = kernel.run_cell(
        "k = get_ipython().kernel\n"
        "import json\n"
        "k.session.pack = lambda data: json.dumps(data, default=str).encode()\n"
        "print('\\ud800')\n"
        "raise ValueError('\\udfff')"
    )
    for text in (*ran.text, ran.error, *(str(o) for o in ran.outputs)):
        text.encode()
    assert "ValueError" in ran.error


def test_an_endless_loop_is_interrupted_by_its_computing_time_and_the_kernel_lives(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=0.5, notebook_s=60))
    began = time.monotonic()
    loop, after = run_all(kernel, "x = 1\nwhile True: pass", "print(x)")
    assert loop.verdict is Verdict.TIME and not loop.by_wall_clock
    assert loop.error == "it was stopped after 0.5 s of computing time"
    assert after.text == ["1\n"] and time.monotonic() - began < 10
    with pytest.raises(LimitReached) as caught:  # a call has its own time
        answer(kernel, "while True: pass")
    assert caught.value.verdict == Verdict.TIME and answer(kernel, "return 1") == 1


RAW = """
k = get_ipython().kernel
parent = k.get_parent()
def send(text): k.session.send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': text}, parent)
"""
DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
FOREVER = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
# Only their number can stop messages that are nearly empty.
FEW = Limits(output_messages=200, output_bytes=1 << 30)
GREEDY = "kept = []\nwhile True: kept.append(bytearray(b'x') * (10 << 20))"


@pytest.mark.parametrize(
    ("limits", "cell", "verdict", "error"),
    [
        pytest.param(Limits(cell_s=0.5), DEAF + FOREVER, "time", "computing time", id="ignored interrupts"),
        pytest.param(Limits(memory_bytes=200 * MIB), GREEDY, "memory", "more than 200 MiB of memory", id="memory"),
        pytest.param(Limits(), "import os; os._exit(7)", "crash", "with status 7", id="status 7"),
        pytest.param(Limits(), "import os; os._exit(0)", "crash", "with status 0", id="status 0"),
        pytest.param(Limits(), "import ctypes; ctypes.string_at(0)", "crash", "by signal SIGSEGV", id="segfault"),
        # The first process of a namespace does not feel SIGABRT.
        pytest.param(Limits(), "import os; os.abort()", "crash", "by signal SIG", id="abort"),
        # Past our stream, which cuts an honest flood: stopped by the receiver.
        pytest.param(Limits(output_bytes=100_000), RAW + "while True: send('x' * 50_000)", "output", "", id="flood"),
        pytest.param(FEW, RAW + "while True: send('')", "output", "", id="flood of messages"),
    ],
)
def test_a_cell_that_cannot_be_stopped_or_ends_the_process_has_its_verdict_and_no_kernel(
    make_kernel: MakeKernel, limits: Limits, cell: str, verdict: str, error: str
) -> None:
    kernel = make_kernel(limits)
    ran = kernel.run_cell(cell)
    assert ran.verdict == verdict and error in ran.error and not kernel.alive


def test_sleeping_meets_the_wall_limit_and_is_marked_so(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=0.4, wall_factor=2, notebook_s=60))
    ran = kernel.run_cell("import time; time.sleep(60)")
    assert ran.verdict is Verdict.TIME and ran.by_wall_clock
    assert 0.8 <= ran.seconds < 10
    assert kernel.run_cell("2").verdict is Verdict.PASSED


def test_the_computing_time_of_child_processes_counts(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=1, notebook_s=60))
    ran = kernel.run_cell("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])")
    assert ran.verdict is Verdict.TIME and not ran.by_wall_clock


def test_children_that_compute_on_after_the_interrupt_end_with_the_kernel(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=1, notebook_s=60))
    spin = "while True: pass"
    ran = kernel.run_cell(f"import os\nfor _ in range(6):\n    if os.fork() == 0:\n        {spin}\n{spin}")
    assert ran.verdict is Verdict.TIME and not kernel.alive


def test_a_killed_kernel_is_dead_though_its_supervisor_does_not_answer(kernel: Kernel) -> None:
    supervisor = psutil.Process(kernel.process.pid).parent()
    assert supervisor is not None
    supervisor.suspend()
    try:
        kernel.process.kill(wait_s=0.2)
        assert not kernel.alive
        with pytest.raises(LimitReached):
            raise kernel.process.end_reason()
    finally:
        supervisor.resume()


def test_all_cells_together_may_use_the_notebooks_time_and_no_more(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=2, notebook_s=1))
    busy = "import time\nend = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
    first, second, third = run_all(kernel, busy, busy, "1 + 1")
    assert first.verdict is Verdict.PASSED
    assert second.verdict is Verdict.TIME
    assert second.error == "it was stopped: the notebook had used its 1 s of computing time"
    assert third.verdict is Verdict.PASSED, "what takes no time is not refused"


def test_many_cells_that_sleep_meet_the_notebooks_wall_limit(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=1, notebook_s=0.4, wall_factor=2))
    sleep = "import time; time.sleep(0.6)"
    first, second = run_all(kernel, sleep, sleep)
    assert first.verdict is Verdict.PASSED
    assert second.verdict is Verdict.TIME and second.by_wall_clock


def test_leaving_in_a_cell_ends_no_more_than_the_cell(kernel: Kernel) -> None:
    exits = run_all(kernel, "x = 1", "import sys; sys.exit(0)", "exit()", "quit", "exit", "raise SystemExit")
    assert [r.verdict for r in exits[2:5]] == [Verdict.PASSED] * 3
    time.sleep(0.3)
    assert kernel.alive and kernel.run_cell("print(x)").text == ["1\n"]


def test_closing_a_kernel_leaves_no_process_and_no_file(make_kernel: MakeKernel) -> None:
    kernel = make_kernel()
    kernel.run_cell(
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import os, time; os.setsid(); time.sleep(600)'])"
    )
    own = psutil.Process(kernel.process.pid)
    family = [own, *own.children(recursive=True)]
    assert len(family) >= 2
    private = kernel.process.private
    kernel.close()
    assert not [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert not private.exists()


def test_an_honest_flood_of_text_is_cut_at_the_source_and_the_cell_has_run(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_bytes=30_000))
    ran = kernel.run_cell("for i in range(100_000): print('line', i)")
    text = "".join(ran.text)
    assert ran.verdict is Verdict.PASSED
    assert 15_000 <= len(text) < 16_000 and text.startswith("line 0\n") and text.count("output cut here") == 1


def test_an_honest_loop_that_flushes_each_line_has_run(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_messages=100))
    ran = kernel.run_cell("for i in range(3000): print(i, flush=True)")
    assert ran.verdict is Verdict.PASSED
    assert "".join(ran.text).split() == [str(i) for i in range(3000)], "nothing is lost but the haste"


def test_a_value_with_a_very_long_text_is_cut_and_the_cell_has_run(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_bytes=100_000))
    ran = kernel.run_cell("'x' * 10_000_000")
    assert ran.verdict is Verdict.PASSED and 1000 < len("".join(ran.text)) < 5000


def test_after_a_flood_the_value_of_the_cell_still_arrives(make_kernel: MakeKernel) -> None:
    # A foreign test cell ends in its score; printing a lot must not make that vanish.
    kernel = make_kernel(Limits(output_bytes=10_000, output_messages=50))
    ran = kernel.run_cell("for i in range(10_000): print(i, flush=True)\n0.5")
    (result,) = [o for o in ran.outputs if o["output_type"] == "execute_result"]
    assert result["data"]["text/plain"] == "0.5"


def test_a_flood_from_a_thread_is_stopped_too(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_messages=200))
    ran = kernel.run_cell(
        "import threading, time\nfrom IPython.display import display\n"
        "def flood():\n    while True: print('x' * 100, flush=True)\n"
        "for _ in range(4): threading.Thread(target=flood, daemon=True).start()\ntime.sleep(1)"
    )
    assert ran.verdict in (Verdict.PASSED, Verdict.OUTPUT)
    assert sum(map(len, ran.text)) <= 5 * kernel.limits.output_bytes


def test_an_exception_in_a_call_carries_type_text_and_the_students_line(shared: Kernel) -> None:
    shared.run_cell("def f():\n    y = 1\n    return {}[y]")
    with pytest.raises(StudentError) as caught:
        answer(shared, "return ns.f()")
    assert (caught.value.type_name, caught.value.text) == ("KeyError", "1")
    assert caught.value.line == "line 3 of the cell: return {}[y]"


def test_errors_warnings_and_tracebacks_name_line_and_cell_and_no_place_in_the_box(kernel: Kernel) -> None:
    kernel.run_cell("def f(x):\n    return 1 / x", 'your cell "f"')
    kernel.run_cell("  ", "an empty cell, which takes no number")
    raised = kernel.run_cell("y = 2\nf(0)", 'your cell "y"')
    assert raised.error == 'ZeroDivisionError: division by zero (line 2 of your cell "f")'
    told = kernel.run_cell(
        "import os, traceback, warnings\nwarnings.warn('odd')\ntry: f(0)\nexcept Exception: traceback.print_exc()\n"
        "print(os.path.abspath('mine.csv'))\nopen(os.path.abspath('no.csv'))",
        "a cell that you added",
    )
    text = "".join(told.text)
    assert "line 2 of a cell that you added: UserWarning: odd" in text and 'line 2 of your cell "f", in f' in text
    assert "mine.csv" in text.splitlines() and "ipykernel" not in text and str(kernel.process.private) not in text
    assert told.error == (
        "FileNotFoundError: [Errno 2] No such file or directory: 'no.csv' (line 6 of a cell that you added)"
    )
    with pytest.raises(StudentError) as caught:
        answer(kernel, "return ns.f(0)")
    assert caught.value.line == 'line 2 of your cell "f": return 1 / x'


def test_exit_in_a_call_is_an_exception_and_the_kernel_lives(shared: Kernel) -> None:
    with pytest.raises(StudentError, match="SystemExit"):
        answer(shared, "import sys\nsys.exit(3)")
    assert answer(shared, "return 1") == 1


def test_a_call_that_ends_the_process_is_a_crash(kernel: Kernel) -> None:
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "import os\nos._exit(0)")
    assert caught.value.verdict == Verdict.CRASH and not kernel.alive


def test_a_reply_over_the_limit_is_refused_with_its_size_and_the_kernel_lives(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(reply_bytes=MIB))
    with pytest.raises(BadReply, match=f"the limit is {MIB} bytes"):
        answer(kernel, "return np.zeros(10**6)")
    assert answer(kernel, "return np.zeros(10**5)").shape == (10**5,)


def test_large_arguments_and_answers_arrive_whole(shared: Kernel) -> None:
    """Far more than a socket holds, both ways."""
    sent = bytes(range(256)) * (MIB // 16)
    assert shared.call(ECHO, "echo", {"x": sent}).value == sent


def test_what_a_call_prints_goes_nowhere(shared: Kernel) -> None:
    assert answer(shared, "print('x' * 10**7)\nreturn 1") == 1
    assert shared.run_cell("pass").text == []


FORGE = """
import struct, time
import autograder.student_side.kernel as side
agent, pack, receive, judges = get_ipython().kernel.agent, side.pack, side.receive, []
side.receive = lambda judge: (judges.append(judge), receive(judge))[1]
def reply_as(content, buffers=()):
    agent.answer = lambda request, buffers_sent: (content, list(buffers))
def reply_raw(write):
    '''write(message) gives what goes through the socket instead of the frame.'''
    side.pack = lambda message, blobs=(): write(message)
"""


FORGED = (
    "{}",
    "{'status': 'ok', 'value': {'array': {'dtype': 'float64', 'shape': [9], 'data': 0}}, 'after': None}",
    "{'status': 'ok', 'value': {'list': [{'list': 5}]}, 'after': None}",
    "{'status': 'ok', 'value': 1, 'after': {'bytes': 3}}",
    "{'status': []}",
    "{'status': 'unusable', 'text': {'a': 1}}",
)


def test_a_forged_reply_that_is_no_data_is_a_bad_reply(kernel: Kernel) -> None:
    kernel.run_cell(FORGE)
    for content in FORGED:
        kernel.run_cell(f"reply_as({content})")
        with pytest.raises(BadReply):
            answer(kernel, "return 5")
    kernel.run_cell("reply_as({'status': 'ok'})")
    assert answer(kernel, "return 5") is None  # as if it had returned nothing


def test_a_forged_reply_that_would_take_long_to_parse_is_not_read(kernel: Kernel) -> None:
    kernel.run_cell(FORGE + "reply_as({'status': 'ok', 'value': [[]] * 6_000_000})")
    began = time.process_time()
    with pytest.raises(LimitReached, match="gave no answer"):
        answer(kernel, "return 5")
    assert time.process_time() - began < 10


def test_fields_of_odd_types_in_a_forged_reply_do_no_harm(kernel: Kernel) -> None:
    kernel.run_cell(FORGE + "reply_as({'status': 'ok', 'value': 1, 'after': [1], 'operations': 5})")
    with pytest.raises(BadReply):
        kernel.call(ECHO, "echo", {"x": 1}, watch=("torch",))
    kernel.run_cell("reply_as({'status': 'ok', 'value': 1, 'after': 2, 'operations': 5})")
    reply = kernel.call(ECHO, "echo", {"x": 1}, watch=("torch",))
    assert (reply.value, reply.after, reply.operations) == (1, {}, ())


UNSIGNED = """
import zmq
for frames in ([b''], [b'<IDS|MSG>'], [b'<IDS|MSG>', b''] * 3, [b'<IDS|MSG>', b'0' * 64, *[b'{}'] * 4],
               [b'<IDS|MSG>', b'', b'[' * 100_000, b'{}', b'{}', b'{}']):
    k.iopub_socket.send_multipart(frames)
"""
SIGNED = """
head = b'{"msg_id": 1, "msg_type": 2}'
for parts in ([b'[' * 100_000] * 4, [b'\\xff'] * 4, [b'[]'] * 4, [head, b'7', b'8', b'9']):
    k.iopub_socket.send_multipart([b'<IDS|MSG>', k.session.sign(parts), *parts])
"""


@pytest.mark.parametrize("messages", [UNSIGNED, SIGNED], ids=["unsigned", "signed"])
def test_malformed_messages_are_not_heard(shared: Kernel, messages: str) -> None:
    ran = shared.run_cell("k = get_ipython().kernel\n" + messages + "print('still here')")
    assert ran.verdict is Verdict.PASSED and ran.text == ["still here\n"]


@pytest.fixture
def soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that never comes is not waited for long."""
    monkeypatch.setattr("autograder.kernels.session.ANSWER_GRACE_S", 0.5)


UNREADABLE = {
    "no length": "b'x' * 8",
    "endless head": "struct.pack('>Q', 1 << 62)",
    "no JSON": "struct.pack('>Q', 4) + b'null'",
    "no blobs": "struct.pack('>Q', 2) + b'{}'",
    "negative blobs": "struct.pack('>Q', 13) + b'{\"blobs\":[-1]}'",
    "deep": "struct.pack('>Q', 300_000) + b'[' * 300_000",
    "UTF-8 that is none": "struct.pack('>Q', 4) + b'\\xff' * 4",
}


@pytest.mark.parametrize("frame", UNREADABLE.values(), ids=UNREADABLE)
def test_a_call_without_any_readable_answer_ends_soon(kernel: Kernel, soon_given_up: None, frame: str) -> None:
    kernel.run_cell(FORGE + f"reply_raw(lambda message: {frame})")
    began = time.monotonic()
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "return 1")
    assert caught.value.verdict == Verdict.CRASH and time.monotonic() - began < 15


def test_a_frame_over_the_limit_never_reaches_the_judge(make_kernel: MakeKernel, soon_given_up: None) -> None:
    kernel = make_kernel(Limits(reply_bytes=MIB))
    kernel.run_cell(FORGE + "reply_as({'status': 'ok'}, [bytes(20 << 20)])")
    before = peak()
    with pytest.raises(LimitReached):
        answer(kernel, "return 1")
    assert peak() - before < 15 * MIB


def test_a_message_of_many_frames_is_stopped_before_it_fills_the_judges_memory(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(reply_bytes=8 * MIB, memory_bytes=400 * MIB))
    kernel.run_cell(FORGE + "reply_raw(lambda message: pack({'number': 0}, (bytes(7 << 20),)) * 40)")
    before = peak()
    with pytest.raises(LimitReached):
        answer(kernel, "return 1")
    assert not kernel.alive
    assert peak() - before < 2 << 30


def test_a_forged_reply_to_another_request_is_not_taken(kernel: Kernel) -> None:
    kernel.run_cell(
        FORGE + "def write(message):\n"
        "    others = [{**message, 'number': n, 'content': {'status': 'ok', 'value': 666}} for n in range(90)]\n"
        "    return b''.join(map(pack, [o for o in others if o['number'] != message['number']])) + pack(message)\n"
        "reply_raw(write)"
    )
    assert [answer(kernel, f"return {n}") for n in range(20)] == list(range(20))


def test_a_fork_that_comes_out_of_students_code_answers_nothing(kernel: Kernel) -> None:
    who = "import os\nreturn os.getpid()"
    parent = answer(kernel, who)
    for _ in range(3):
        assert answer(kernel, "import os\nos.fork()\nreturn os.getpid()") == parent
    kernel.run_cell("import os\nos.fork()")
    assert {answer(kernel, who) for _ in range(100)} == {parent}


def test_a_kernel_whose_socket_is_closed_is_given_up_soon(kernel: Kernel, soon_given_up: None) -> None:
    kernel.run_cell(FORGE + "import os\nreply_raw(lambda message: os.closerange(3, 1000))")
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "return 1")
    assert caught.value.verdict == Verdict.CRASH and not kernel.alive


def test_a_kernel_that_does_not_read_is_stopped_by_its_limits(make_kernel: MakeKernel) -> None:
    """More is asked than fits into the socket while the last answer was forged and its code goes on."""
    kernel = make_kernel(Limits(cell_s=1.0, wall_factor=2.0))
    kernel.run_cell(
        FORGE + "def early():\n"
        "    judges[-1].sendall(pack({'number': 1, 'content': {'status': 'ok', 'value': 5}}))\n"
        "    time.sleep(60)"
    )
    assert answer(kernel, "ns.early()") == 5
    with pytest.raises(LimitReached) as caught:
        kernel.call(ECHO, "echo", {"x": bytes(8 << 20)})
    assert caught.value.verdict == Verdict.TIME


def test_files_lie_in_the_working_folder_and_nothing_else(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(files={"data/a.csv": b"1,2", "b.txt": b"hello"})
    assert answer(kernel, "import os\nreturn sorted(os.listdir('.')), open('data/a.csv').read()") == (
        ["b.txt", "data"],
        "1,2",
    )


def test_a_kernel_that_cannot_start_says_why(zygote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    end = {"failed": "no such thing"}
    monkeypatch.setattr(KernelProcess, "launch", lambda self, *a, **k: setattr(self, "end", end))
    with Kernel(zygote, Limits()) as kernel, pytest.raises(KernelFailed, match="no such thing"):
        kernel.wait_until_ready()


def test_a_folder_whose_name_is_too_long_for_a_socket_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / ("x" * 120) / "box"
    box.mkdir(parents=True)
    monkeypatch.setattr("autograder.kernels.process.new_private", lambda: box)
    with pytest.raises(KernelFailed, match="TMPDIR"):
        KernelProcess()
    assert not box.exists(), "nothing is left behind"
