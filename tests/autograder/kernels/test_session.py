"""A cell and a call in a confined kernel: what comes back, and what each limit does to code that ignores it."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from autograder.errors import BadReply, KernelFailed, LimitReached, StudentError
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


# -- cells -----------------------------------------------------------------------------------------------------------


def test_cells_share_one_namespace_in_the_order_of_running(kernel: Kernel) -> None:
    first, second, third = run_all(kernel, "x = [1]", "x.append(2)", "x")
    assert [r.verdict for r in (first, second, third)] == [Verdict.PASSED] * 3
    assert third.outputs == [{"output_type": "execute_result", "data": {"text/plain": "[1, 2]"}, "metadata": {}}]


def test_a_cell_that_raises_has_failed_and_the_next_one_runs(kernel: Kernel) -> None:
    failed, after = run_all(kernel, "print('so far')\n1 / 0\nprint('never')", "print('on')")
    assert failed.verdict is Verdict.FAILED and failed.error == "ZeroDivisionError: division by zero"
    assert "".join(failed.text) == "so far\n"
    assert [o["output_type"] for o in failed.outputs] == ["stream", "error"]
    assert after.verdict is Verdict.PASSED and after.text == ["on\n"]


def test_what_is_printed_to_both_streams_is_gathered(kernel: Kernel) -> None:
    ran = kernel.run_cell("import sys\nprint('a')\nprint('b', file=sys.stderr)")
    assert {(o["name"], o["text"]) for o in ran.outputs} == {("stdout", "a\n"), ("stderr", "b\n")}


def test_a_syntax_error_is_a_failure_with_its_name(kernel: Kernel) -> None:
    ran = kernel.run_cell("def (:")
    assert ran.verdict is Verdict.FAILED and ran.error.startswith("SyntaxError")


def test_asking_for_input_fails_instead_of_waiting(kernel: Kernel) -> None:
    ran = kernel.run_cell("input('your name? ')")
    assert ran.verdict is Verdict.FAILED and "StdinNotImplementedError" in ran.error


def test_text_that_no_file_could_hold_arrives_as_text_that_it_can(kernel: Kernel) -> None:
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


def test_printing_text_that_cannot_be_encoded_does_not_hang_the_cell(kernel: Kernel) -> None:
    assert kernel.run_cell("print('\\ud800')").verdict in (Verdict.PASSED, Verdict.FAILED)
    assert kernel.run_cell("print('on')").text == ["on\n"]


# -- time ------------------------------------------------------------------------------------------------------------


def test_an_endless_loop_is_interrupted_by_its_computing_time_and_the_kernel_lives(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=0.5, notebook_s=60))
    began = time.monotonic()
    loop, after = run_all(kernel, "x = 1\nwhile True: pass", "print(x)")
    assert loop.verdict is Verdict.TIME and not loop.by_wall_clock
    assert loop.error == "it was stopped after 0.5 s of computing time"
    assert after.text == ["1\n"]
    assert time.monotonic() - began < 10


def test_a_loop_that_ignores_interrupts_is_killed(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=0.5, notebook_s=60))
    ran = kernel.run_cell(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    )
    assert ran.verdict is Verdict.TIME and not kernel.alive


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


# -- ends ------------------------------------------------------------------------------------------------------------


def test_too_much_memory_is_told_apart_from_a_crash(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(memory_bytes=200 * MIB))
    ran = kernel.run_cell("kept = []\nwhile True: kept.append(bytearray(b'x') * (10 << 20))")
    assert ran.verdict is Verdict.MEMORY and ran.error == "it used more than 200 MiB of memory"
    assert not kernel.alive


@pytest.mark.parametrize(
    ("cell", "how"),
    [
        ("import os; os._exit(7)", "with status 7"),
        ("import os; os._exit(0)", "with status 0"),
        ("import ctypes; ctypes.string_at(0)", "by signal SIGSEGV"),
        ("import os; os.abort()", "by signal SIG"),  # the first process of a namespace does not feel SIGABRT
    ],
)
def test_an_end_of_the_process_is_a_crash_and_never_a_pass(kernel: Kernel, cell: str, how: str) -> None:
    ran = kernel.run_cell(cell)
    assert ran.verdict is Verdict.CRASH and how in ran.error
    assert not kernel.alive


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


# -- output ----------------------------------------------------------------------------------------------------------


def test_an_honest_flood_of_text_is_cut_at_the_source_and_the_cell_has_run(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_bytes=100_000))
    ran = kernel.run_cell("for i in range(100_000): print('line', i)")
    text = "".join(ran.text)
    assert ran.verdict is Verdict.PASSED
    assert 50_000 <= len(text) < 51_000 and text.startswith("line 0\n") and text.count("output cut here") == 1


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


RAW = """
k = get_ipython().kernel
parent = k.get_parent()
def send(text): k.session.send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': text}, parent)
"""


def test_a_flood_of_bytes_past_our_stream_is_stopped_by_the_receiver(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_bytes=100_000))
    ran = kernel.run_cell(RAW + "while True: send('x' * 50_000)")
    assert ran.verdict is Verdict.OUTPUT and not kernel.alive


def test_a_flood_of_messages_past_our_stream_is_stopped_by_the_receiver(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_messages=200))
    ran = kernel.run_cell(RAW + "while True: send('')")
    assert ran.verdict is Verdict.OUTPUT and not kernel.alive


def test_a_flood_from_a_thread_is_stopped_too(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(output_messages=200))
    ran = kernel.run_cell(
        "import threading, time\nfrom IPython.display import display\n"
        "def flood():\n    while True: print('x' * 100, flush=True)\n"
        "for _ in range(4): threading.Thread(target=flood, daemon=True).start()\ntime.sleep(1)"
    )
    assert ran.verdict in (Verdict.PASSED, Verdict.OUTPUT)
    assert sum(map(len, ran.text)) <= 5 * kernel.limits.output_bytes


# -- calls -----------------------------------------------------------------------------------------------------------


def test_a_call_gives_the_value_and_the_arguments_as_they_are_afterwards(kernel: Kernel) -> None:
    kernel.run_cell("def double_in_place(x):\n    x *= 2\n    return x.sum()")
    reply = kernel.call("def probe(ns, x):\n    return ns.double_in_place(x)\n", "probe", {"x": np.ones(3)})
    assert reply.value == 6 and reply.after["x"].tolist() == [2, 2, 2]


def test_each_call_gets_fresh_copies(kernel: Kernel) -> None:
    x = np.zeros(2)
    for _ in range(2):
        assert answer(kernel, "x += 1\nreturn x", x=x).tolist() == [1, 1]
    assert x.tolist() == [0, 0]


def test_an_exception_in_a_call_carries_type_text_and_the_students_line(kernel: Kernel) -> None:
    kernel.run_cell("def f():\n    y = 1\n    return {}[y]")
    with pytest.raises(StudentError) as caught:
        answer(kernel, "return ns.f()")
    assert (caught.value.type_name, caught.value.text) == ("KeyError", "1")
    assert caught.value.line == "line 3 of the cell: return {}[y]"


def test_a_missing_name_is_the_students_name_error(kernel: Kernel) -> None:
    with pytest.raises(StudentError, match="NameError: name 'train' is not defined"):
        answer(kernel, "return ns.train()")


def test_exit_in_a_call_is_an_exception_and_the_kernel_lives(kernel: Kernel) -> None:
    with pytest.raises(StudentError, match="SystemExit"):
        answer(kernel, "import sys\nsys.exit(3)")
    assert answer(kernel, "return 1") == 1


def test_a_value_that_is_no_data_is_named_in_the_refusal(kernel: Kernel) -> None:
    with pytest.raises(BadReply, match=r"builtins\.generator cannot be returned"):
        answer(kernel, "return (n for n in [1])")


def test_what_a_check_cannot_send_is_the_checks_error(kernel: Kernel) -> None:
    with pytest.raises(TypeError, match="cannot be called with this"):
        answer(kernel, "return x", x=lambda: 0)


def test_a_call_has_its_own_time(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(cell_s=0.5, notebook_s=60))
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "while True: pass")
    assert caught.value.verdict == Verdict.TIME and answer(kernel, "return 1") == 1


def test_a_call_that_ends_the_process_is_a_crash(kernel: Kernel) -> None:
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "import os\nos._exit(0)")
    assert caught.value.verdict == Verdict.CRASH and not kernel.alive


def test_a_reply_over_the_limit_is_refused_with_its_size_and_the_kernel_lives(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(reply_bytes=MIB))
    with pytest.raises(BadReply, match=f"the limit is {MIB} bytes"):
        answer(kernel, "return np.zeros(10**6)")
    assert answer(kernel, "return np.zeros(10**5)").shape == (10**5,)


def test_what_a_call_prints_goes_nowhere(kernel: Kernel) -> None:
    assert answer(kernel, "print('x' * 10**7)\nreturn 1") == 1
    assert kernel.run_cell("pass").text == []


# -- a kernel that lies ----------------------------------------------------------------------------------------------

SOCKET = """
import threading, json
k = get_ipython().kernel
def reply_as(content, buffers=(), kind="autograder_reply", session=None):
    def answer(stream, ident, parent):
        async def go(stream, ident, parent):
            (session or k.session).send(stream, kind, content, parent, ident=ident, buffers=list(buffers))
        return go(stream, ident, parent)
    k.shell_handlers["autograder_call"] = answer
"""


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "{'status': 'ok'}",
        "{'status': 'ok', 'value': {'array': {'dtype': 'float64', 'shape': [9], 'data': 0}}, 'after': None}",
        "{'status': 'ok', 'value': {'list': [{'list': 5}]}, 'after': None}",
        "{'status': 'ok', 'value': 1, 'after': {'bytes': 3}}",
        "{'status': []}",
        "{'status': 'unusable', 'text': {'a': 1}}",
    ],
)
def test_a_forged_reply_that_is_no_data_is_a_bad_reply(kernel: Kernel, content: str) -> None:
    kernel.run_cell(SOCKET + f"reply_as({content})")
    if content == "{'status': 'ok'}":
        assert answer(kernel, "return 5") is None  # as if it had returned nothing
    else:
        with pytest.raises(BadReply):
            answer(kernel, "return 5")


def test_fields_of_odd_types_in_a_forged_reply_do_no_harm(kernel: Kernel) -> None:
    kernel.run_cell(SOCKET + "reply_as({'status': 'ok', 'value': 1, 'after': [1], 'operations': 5})")
    with pytest.raises(BadReply):
        kernel.call(ECHO, "echo", {"x": 1}, watch=("torch",))
    kernel.run_cell("reply_as({'status': 'ok', 'value': 1, 'after': 2, 'operations': 5})")
    reply = kernel.call(ECHO, "echo", {"x": 1}, watch=("torch",))
    assert (reply.value, reply.after, reply.operations) == (1, {}, ())


def test_unsigned_and_malformed_messages_are_not_heard(kernel: Kernel) -> None:
    ran = kernel.run_cell(
        "import zmq\n"
        "k = get_ipython().kernel\n"
        "for frames in ([b''], [b'<IDS|MSG>'], [b'<IDS|MSG>', b''] * 3, [b'<IDS|MSG>', b'0' * 64, *[b'{}'] * 4],\n"
        "               [b'<IDS|MSG>', b'', b'[' * 100_000, b'{}', b'{}', b'{}']):\n"
        "    k.iopub_socket.send_multipart(frames)\n"
        "print('still here')"
    )
    assert ran.verdict is Verdict.PASSED and ran.text == ["still here\n"]


def test_a_signed_message_of_unreadable_json_is_not_heard(kernel: Kernel) -> None:
    ran = kernel.run_cell(
        "k = get_ipython().kernel\n"
        'head = b\'{"msg_id": 1, "msg_type": 2}\'\n'
        "for parts in ([b'[' * 100_000] * 4, [b'\\xff'] * 4, [b'[]'] * 4, [head, b'7', b'8', b'9']):\n"
        "    k.iopub_socket.send_multipart([b'<IDS|MSG>', k.session.sign(parts), *parts])\n"
        "print('still here')"
    )
    assert ran.verdict is Verdict.PASSED and ran.text == ["still here\n"]


def test_a_call_without_any_readable_answer_ends_soon(kernel: Kernel) -> None:
    kernel.run_cell(SOCKET + "async def mute(*a): pass\nk.shell_handlers['autograder_call'] = mute")
    began = time.monotonic()
    with pytest.raises(LimitReached) as caught:
        answer(kernel, "return 1")
    assert caught.value.verdict == Verdict.CRASH and time.monotonic() - began < 15


def test_a_frame_over_the_limit_never_reaches_the_judge(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(reply_bytes=MIB))
    kernel.run_cell(SOCKET + "reply_as({'status': 'ok'}, [bytes(20 << 20)])")
    before = peak()
    with pytest.raises(LimitReached):
        answer(kernel, "return 1")
    assert peak() - before < 15 * MIB


def test_a_message_of_many_frames_is_stopped_before_it_fills_the_judges_memory(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(Limits(reply_bytes=8 * MIB, memory_bytes=400 * MIB))
    kernel.run_cell(
        SOCKET + "import zmq\nblock = bytes(4 << 20)\n"
        "def endless(stream, ident, parent):\n"
        "    async def go():\n"
        "        raw = stream.socket if hasattr(stream, 'socket') else stream\n"
        "        raw.send(ident[0], zmq.SNDMORE)\n"
        "        for _ in range(1000): raw.send(block, zmq.SNDMORE, copy=False)\n"
        "        raw.send(b'')\n"
        "    return go()\n"
        "k.shell_handlers['autograder_call'] = endless"
    )
    before = peak()
    with pytest.raises(LimitReached):
        answer(kernel, "return 1")
    assert not kernel.alive
    assert peak() - before < 2 << 30


def test_a_forged_reply_to_an_earlier_request_is_not_taken(kernel: Kernel) -> None:
    kernel.run_cell(
        "k = get_ipython().kernel\nearlier = k.get_parent()\n"
        "def late():\n    k.session.send(k.shell_stream, 'autograder_reply', {'status': 'ok', 'value': 666}, earlier)\n"
    )
    assert answer(kernel, "ns.late()\nreturn 5") == 5


# -- starting --------------------------------------------------------------------------------------------------------


def test_files_lie_in_the_working_folder_and_nothing_else(make_kernel: MakeKernel) -> None:
    kernel = make_kernel(files={"data/a.csv": b"1,2", "b.txt": b"hello"})
    assert answer(kernel, "import os\nreturn sorted(os.listdir('.')), open('data/a.csv').read()") == (
        ["b.txt", "data"],
        "1,2",
    )


def test_the_folder_of_a_kernel_is_readable_by_nobody_else(kernel: Kernel) -> None:
    assert kernel.process.private.stat().st_mode & 0o077 == 0


def test_a_kernel_that_cannot_start_says_why(zygote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        KernelProcess, "launch", lambda self, *a, **k: setattr(self, "end", {"failed": "no such thing"})
    )
    kernel = Kernel(zygote, Limits())
    with pytest.raises(KernelFailed, match="no such thing"):
        kernel.wait_until_ready()
    kernel.close()


def test_a_folder_whose_name_is_too_long_for_a_socket_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("autograder.kernels.process.new_private", lambda: Path(_made(long / "box")))
    with pytest.raises(KernelFailed, match="TMPDIR"):
        KernelProcess()
    assert not os.listdir(long), "nothing is left behind"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
