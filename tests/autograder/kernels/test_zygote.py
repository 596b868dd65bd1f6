"""A warm process: forks differ in all that must differ, share nothing, and end with their owner."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.errors import KernelFailed
from autograder.kernels import supervisor
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import MAX_ADDRESS, Zygote, connect, started_ahead
from autograder.protocol.frames import receive, send
from autograder.records import Limits

pytestmark = pytest.mark.slow

SUPERVISOR = "autograder.kernels.supervisor:kernel_child"


def ask(kernel: Kernel, expression: str) -> Any:
    probe = f"def probe(ns):\n    import os, sys, random, threading\n    return {expression}\n"
    return kernel.call(probe, "probe", {}).value


def test_two_kernels_are_two_processes_with_other_random_numbers_and_share_no_names_and_no_files(
    make_kernel: Callable[..., Kernel],
) -> None:
    one, other = make_kernel(), make_kernel()
    assert one.process.pid != other.process.pid
    for draw in ("random.random()", "np.random.rand()", "np.random.default_rng().random()", "os.urandom(8)"):
        assert ask(one, draw) != ask(other, draw), draw
    one.run_cell("secret = 1\nimport numpy\nnumpy.secret = 1")
    one.run_cell("for path in ('s', '/tmp/s'): open(path, 'w').write('1')")
    one.run_cell("import sys, types; sys.modules['evil'] = types.ModuleType('evil')")
    assert other.run_cell("secret").error.startswith("NameError")
    assert not ask(other, "hasattr(np, 'secret') or 'evil' in sys.modules")
    # /tmp may hold the way to Python, where that lies below it.
    assert ask(other, "os.listdir('.')") == []
    assert "s" not in ask(other, "os.listdir('/tmp')")


def test_a_fork_starts_with_one_thread(tmp_path: Path) -> None:
    # Read off the zygote itself: what it has, every fork would be missing.
    with Zygote(SUPERVISOR, ("numpy", "torch")) as zygote:
        zygote.connect({}).close()
        assert zygote.process is not None
        assert psutil.Process(zygote.process.pid).num_threads() == 1


def test_nothing_of_the_owners_environment_but_a_few_names_reaches_a_kernel(
    monkeypatch: pytest.MonkeyPatch, make_kernel: Callable[..., Kernel]
) -> None:
    for name in ("GITHUB_TOKEN", "LANGCHAIN_API_KEY", "PATH_TO_KEYS", "PYTHONPATH", "JPY_PARENT_PID", "LC_SECRET"):
        monkeypatch.setenv(name, "/hunter2")
    with Zygote(SUPERVISOR) as zygote:
        zygote.connect({}).close()
        assert zygote.process is not None
        environment = psutil.Process(zygote.process.pid).environ()
        kernel = make_kernel(launcher=zygote)
        assert "hunter2" not in str(environment)
        assert "hunter2" not in ask(kernel, "str(dict(os.environ)) + open('/proc/self/environ').read()")
        assert ask(kernel, "os.environ['OMP_NUM_THREADS']") == "1"


def test_a_zygote_has_the_variables_that_libraries_read_once_before_it_imports_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reading.py").write_text("import os\nFOUND = os.environ['KERAS_BACKEND']\n")
    (tmp_path / "telling.py").write_text(
        "def child(run, request):\n    import reading\n    run.sendall(reading.FOUND.encode())\n"
    )
    monkeypatch.setattr("autograder.kernels.zygote._clean_environment", lambda: {"PYTHONPATH": str(tmp_path)})
    zygote = Zygote("telling:child", ("reading",), environment={"KERAS_BACKEND": "torch"})
    with zygote, zygote.connect({}) as child:
        assert child.recv(100) == b"torch"


def test_what_a_zygote_is_given_to_prepare_with_stands_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "preparing.py").write_text(
        "import json\ngiven = {}\ndef prepare(setup): given.update(setup)\n"
        "def child(run, request): run.sendall(json.dumps(given).encode())\n"
    )
    monkeypatch.setattr("autograder.kernels.zygote._clean_environment", lambda: {"PYTHONPATH": str(tmp_path)})
    with Zygote("preparing:child", setup={"secret": "hunter2"}) as zygote:
        with zygote.connect({}) as child:
            assert b"hunter2" in child.recv(1000)
        assert zygote.process is not None
        process = psutil.Process(zygote.process.pid)
        assert "hunter2" not in str(process.cmdline()) + str(process.environ())


def test_a_kernel_holds_no_descriptor_of_its_makers(make_kernel: Callable[..., Kernel]) -> None:
    kernel = make_kernel()
    links = "[os.readlink(p) for n in os.listdir('/proc/self/fd') if os.path.lexists(p := f'/proc/self/fd/{n}')]"
    known = ("/dev/null", "pipe:", "socket:", "anon_inode:", str(kernel.process.private), "/proc/")
    assert not [name for name in ask(kernel, links) if not name.startswith(known)]
    # The zygote's log is not the student's to write. (What C code prints goes to ipykernel's own pipes.)
    assert ask(kernel, "os.readlink('/proc/self/fd/0')") == "/dev/null"


def test_modules_in_the_owners_working_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # An instructor may stand in the folder of submissions: a file there must not run outside every box.
    for name in ("json", "psutil", "numpy", "torch", "IPython", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with Zygote(SUPERVISOR, ("numpy",)) as zygote:
        zygote.connect({}).close()
    assert not (tmp_path / "ran").exists()


def test_a_zygote_ends_when_its_owner_is_killed(tmp_path: Path, still_alive: Callable[..., Any]) -> None:
    code = (
        "import time\nfrom autograder.kernels.zygote import Zygote\n"
        f"zygote = Zygote({SUPERVISOR!r})\nzygote.connect({{}}).close()\n"
        "print(zygote.process.pid, flush=True)\ntime.sleep(600)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert owner.stdout is not None
    warm = psutil.Process(int(owner.stdout.readline()))
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert not still_alive([warm])


def test_a_kernel_ends_when_its_client_leaves(zygote: Zygote, still_alive: Callable[..., Any]) -> None:
    kernel = Kernel(zygote, Limits())
    kernel.wait_until_ready()
    process = psutil.Process(kernel.process.pid)
    assert kernel.process._socket is not None
    kernel.process._socket.close()
    assert not still_alive([process])
    deadline = time.monotonic() + 5
    while kernel.process.private.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not kernel.process.private.exists(), "the client may have been killed: nobody else would remove it"
    kernel.process._socket = None
    kernel.close()


def test_a_stopped_zygote_leaves_no_process_and_no_folder(still_alive: Callable[..., Any]) -> None:
    zygote = Zygote(SUPERVISOR)
    zygote.connect({}).close()
    assert zygote.process is not None and zygote.folder is not None
    process, folder = psutil.Process(zygote.process.pid), Path(zygote.folder.name)
    zygote.stop()
    assert not still_alive([process]) and not folder.exists()
    zygote.stop()


def test_a_process_started_ahead_is_taken_over_once_and_else_ended(
    make_kernel: Callable[..., Kernel], still_alive: Callable[..., Any]
) -> None:
    before = psutil.Process().children()
    with started_ahead({SUPERVISOR: ("email.mime.audio",), "autograder.runs.judge_process:judge_child": ()}):
        ahead = {child.pid: child for child in psutil.Process().children() if child not in before}
        with Zygote(SUPERVISOR, ("mailbox",)) as first, Zygote(SUPERVISOR) as second:
            assert first.process is not None and second.process is not None
            assert first.process.pid in ahead and second.process.pid not in ahead
            names = "[n for n in ('email.mime.audio', 'mailbox') if n in sys.modules]"
            assert ask(make_kernel(launcher=first), names) == ["email.mime.audio", "mailbox"]
            assert ask(make_kernel(launcher=second), names) == []
            (left,) = ahead.keys() - {first.process.pid}
    assert not psutil.pid_exists(left)  # at once
    assert not still_alive(list(ahead.values()))


def test_dead_children_are_reaped(zygote: Zygote) -> None:
    assert zygote.process is not None
    own = psutil.Process(zygote.process.pid)
    before, children = set(own.children()), set()
    for _ in range(3):
        zygote.connect({}).close()
        time.sleep(0.2)
        children |= set(own.children()) - before
    deadline = time.monotonic() + 20
    while any(child.is_running() for child in children):  # the dead are, until somebody has asked for their status
        assert time.monotonic() < deadline
        time.sleep(0.3)
        zygote.connect({}).close()


THREAD = "import threading as t, time; t.Thread(target=time.sleep, args=({},), name='busy', daemon=True).start()"


@pytest.fixture
def preloading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Zygote]]:
    """A zygote that imports a module with this source, or tries to import modules with these."""
    started, own = [], sys.executable

    def start(source: str = "", **tried: str) -> Zygote:
        # Its own copy of Python's path: only there can such a module be put.
        for name, text in {"hasty_preload": source, **tried}.items():
            (tmp_path / f"{name}.py").write_text(text)
        starting = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        (tmp_path / "with_path.py").write_text(f"{starting}from autograder.kernels.zygote import main\nmain()\n")
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nshift 3\nexec {own} -P {tmp_path / "with_path.py"} "$@"\n')
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))
        started.append(Zygote(SUPERVISOR, ("hasty_preload",), tried=("missing", *tried)))
        return started[-1]

    yield start
    for zygote in started:
        zygote.stop()


@pytest.mark.parametrize(
    ("source", "words"), [(THREAD.format(60), "busy"), ("raise RuntimeError('no such luck')\n", "no such luck")]
)
def test_a_preload_that_starts_a_thread_or_fails_is_refused_by_name(
    source: str, words: str, preloading: Callable[..., Zygote]
) -> None:
    with pytest.raises(KernelFailed, match=words):
        preloading(source).connect({})


def test_what_can_be_imported_without_a_thread_is_there_and_gives_way_to_a_file_of_the_same_name(
    preloading: Callable[..., Zygote], make_kernel: Callable[..., Kernel]
) -> None:
    there = {"broken": "1 / 0", "leaves": "raise SystemExit", "utils": "WHO = 'installed'", "later": ""}
    assert ask(make_kernel(launcher=preloading(**there)), "'utils' in sys.modules") is False  # after what ends Python
    del there["leaves"]
    zygote = preloading(**there, threads=THREAD.format(60), behind="")
    names = "[n for n in ('broken', 'utils', 'later', 'threads', 'behind') if n in sys.modules]"
    assert ask(make_kernel(launcher=zygote), names) == ["utils", "later"]
    kernel = make_kernel(launcher=zygote, files={"utils.py": b"WHO = 'the student'"})
    assert kernel.run_cell("import utils\nprint(utils.WHO)").text == ["the student\n"]


def test_a_module_that_does_not_come_to_an_end_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import time\ntime.sleep(60)\n")
    program = (
        "import sys; from autograder.kernels import preload; preload.TRY_S = 0.5; "
        "preload.import_what_can_be(['mailbox', 'waits', 'imaplib']); "
        "print({'mailbox', 'imaplib'} & sys.modules.keys())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        timeout=30,
    )
    assert said.stdout == b"{'mailbox'}\n", said.stderr


def test_an_address_that_is_too_long_for_a_socket_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * MAX_ADDRESS)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    zygote = Zygote(SUPERVISOR)
    with pytest.raises(KernelFailed, match=r"too long for a socket.*TMPDIR"):
        zygote.connect({})
    zygote.stop()


def test_nobody_listening_is_a_failure_in_time(tmp_path: Path) -> None:
    with pytest.raises(KernelFailed, match="did not answer"):
        connect(str(tmp_path / "s"), {}, timeout_s=0.1)
    with pytest.raises(KernelFailed, match="the warm process is gone"):
        connect("/nowhere/s", {}, timeout_s=60)


def test_a_folder_goes_when_the_client_leaves_though_the_kernel_ended_before_and_orders_were_not_read(
    tmp_path: Path,
) -> None:
    ours, theirs = socket.socketpair()
    private = tmp_path / "box"
    private.mkdir()
    request = {"private": str(private), "limits": "none that a kernel could have"}
    with ours, theirs, ThreadPoolExecutor() as pool:
        serving = pool.submit(supervisor.kernel_child, ours, request)
        send(theirs, {"signal": 2})
        assert "failed" in receive(theirs)[0]
        assert private.exists(), "the client may still read what lies there"
        theirs.close()
        serving.result(timeout=10)
    assert not private.exists()
