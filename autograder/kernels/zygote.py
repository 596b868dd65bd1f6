"""Keep a process that has already imported torch and TensorFlow, and fork from it.

A submission then waits for its own cells, not for `import torch`. Forking is safe only from a process that has one
thread, no zmq context, no event loop and no CUDA context; so a zygote imports, and does nothing else. It never
runs student code and never serves two submissions with one child.

There are two: one forks kernels (`supervisor.supervise`), one forks judges. Each listens on a unix socket in
a folder of its owner's; every connection becomes one child, whose first message is the request. A zygote ends when its
owner's pipe closes.

    python -m autograder.kernels.zygote SOCKET MODULE:FUNCTION [NAME ...]

It imports the modules of these names. What else it is to import and to prepare comes through its stdin, so it can be
started before that is known (`started_ahead`).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder import log
from autograder.errors import KernelFailed
from autograder.kernels.preload import import_what_can_be
from autograder.protocol.frames import MAX_REQUEST, pack, receive, send
from autograder.sandbox import cgroups, own_prefix, sweep_folders

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}
"""Numbers must not depend on how many workers share the machine."""

MAX_ADDRESS = 107
"""bytes in the name of a unix socket"""
MAX_REFUSALS = 100
LOGGER = logging.getLogger("autograder.kernels.zygote")  # as a program its name is __main__

Child = Callable[[socket.socket, dict[str, Any]], None]
_Process = tuple["tempfile.TemporaryDirectory[str]", "subprocess.Popen[bytes]"]
_ahead: dict[str, _Process] = {}
"""child -> a process and its folder, until a zygote takes it over"""


@contextlib.contextmanager
def started_ahead(children: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Start a process for each `module:function`, with what it imports; the first zygote for that function has it.

    At the end those end that no zygote has taken.
    """
    with contextlib.suppress(OSError):  # whoever needs one says why there is none
        for child, preload in children.items():
            _ahead[child] = _start_process(child, preload)
    try:
        yield
    finally:
        for folder, process in _ahead.values():
            process.kill()
            process.communicate()
            folder.cleanup()
        _ahead.clear()


def sweep() -> None:
    """Remove the folders and control groups that processes of earlier runs left behind when they were killed."""
    for base in cgroups.candidates():
        cgroups.sweep(base)
    sweep_folders()
    for kind in ("agz-", "gradebook-"):
        sweep_folders(kind, Path(tempfile.gettempdir()))


class Zygote:
    """The owner's side: starts the process, knows its socket, ends it."""

    def __init__(
        self,
        child: str,
        preload: Sequence[str] = (),
        setup: dict[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        tried: Sequence[str] = (),
    ) -> None:
        self.child = child
        """`module:function`, called as `function(connection, request)` in each child"""
        self.preload = tuple(preload)
        self.tried = tuple(tried)
        """imported after them, see `import_what_can_be`"""
        self.setup = setup
        """given to the module's `prepare` before the first fork, through a pipe: no other process can read it"""
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.environment = dict(environment or {})
        """variables that it has before it imports these, for libraries that read them once"""
        self.started_here = 0
        self.lives = 3
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to warm up; returns at once. `connect` waits until the zygote listens."""
        sweep()
        folder, process = _ahead.pop(self.child) if self.child in _ahead else _start_process(self.child)
        self.folder, self.process = folder, process
        self.started_here = os.getpid()
        imports = {"environment": self.environment, "preload": self.preload, "try": self.tried}
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended already: `connect` says why
            process.stdin.write(pack({**imports, "setup": self.setup or {}, "log": log.target()}))
            process.stdin.flush()

    @property
    def address(self) -> str:
        assert self.folder is not None, "start() comes first"
        return _address(self.folder)

    def connect(self, request: dict[str, Any], timeout_s: float = 120.0) -> socket.socket:
        """A connection to a new child that was given `request`. Raises KernelFailed if the zygote cannot start."""
        with self._lock:
            if self.process is None:
                self.start()
        return connect(self.address, request, timeout_s, self._why_unreachable)

    def revive(self) -> None:
        """Start again if the process was lost, to the machine's memory shortage for instance. It may be lost thrice."""
        with self._lock:
            if self.process is None or self.process.poll() is None or self.lives < 1:
                return
            # One that never listened may fail again for the same reason; or it was interrupted: that may be status 1.
            failed = not os.path.exists(self.address) and self.process.returncode >= 0
            self.lives = 0 if failed else self.lives - 1
            self.stop()
            self.start()

    def _why_unreachable(self) -> str | None:
        """Why no connection will ever come, or None while one still may."""
        if self.process is None or self.process.poll() is None:
            return None
        return f"the warm process ended with status {self.process.returncode}: {self._last_words()}"

    def _last_words(self) -> str:
        assert self.folder is not None
        text = (Path(self.folder.name) / "log").read_text(errors="replace")[-2000:]
        return text.strip() or "it printed nothing"

    def stop(self) -> None:
        """End the zygote; its children end when their own clients leave. Safe to call twice, and in a forked copy."""
        if self.process is None or os.getpid() != self.started_here:
            return
        assert self.process.stdin is not None
        if reason := self._why_unreachable():
            LOGGER.error("%s: %s", self.child, reason)  # its own file goes with its folder
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        if self.folder:
            self.folder.cleanup()

    def __enter__(self) -> Zygote:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _start_process(child: str, preload: Sequence[str] = ()) -> _Process:
    folder = tempfile.TemporaryDirectory(prefix=own_prefix("agz-"))
    with open(Path(folder.name) / "log", "wb") as errors:
        process = subprocess.Popen(
            # -P: the working folder may hold what strangers handed in, a `json.py` for example.
            [sys.executable, "-P", "-m", __name__, _address(folder), child, *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**_clean_environment(), **ONE_THREAD},
            # Its own session: Ctrl-C at the terminal is for the owner, who then ends it in order.
            start_new_session=True,
        )
    return folder, process


def _address(folder: tempfile.TemporaryDirectory[str]) -> str:
    return str(Path(folder.name) / "s")


def address_too_long(address: str) -> str:
    """What to say of a socket that cannot be made."""
    return f"the name {address} is too long for a socket; set TMPDIR to a folder with a shorter name"


def connect(
    address: str, request: dict[str, Any], timeout_s: float, explain: Callable[[], str | None] = lambda: None
) -> socket.socket:
    """Connect to the zygote listening at `address` and hand it a request."""
    if len(os.fsencode(address)) > MAX_ADDRESS:
        raise KernelFailed(f"no kernel can be started: {address_too_long(address)}")
    deadline = time.monotonic() + timeout_s
    refused = 0
    while True:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(address)
            send(client, request)
            return client
        except (FileNotFoundError, ConnectionError) as error:
            client.close()
            refused += isinstance(error, ConnectionRefusedError)
        # It listens before its socket has its name, so whoever is refused has found one that is gone.
        gone = refused > MAX_REFUSALS or not os.path.isdir(os.path.dirname(address))
        reason = explain() or ("the warm process is gone" if gone else None)
        if reason or time.monotonic() > deadline:
            raise KernelFailed(f"no kernel can be started: {reason or 'the warm process did not answer in time'}")
        time.sleep(0.01)


class RemoteZygote:
    """A zygote that another process owns, by its address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def connect(self, request: dict[str, Any]) -> socket.socket:
        """A connection to a new child of that zygote. Raises KernelFailed if it does not listen."""
        return connect(self.address, request, timeout_s=120)


class Spawner:
    """Starts a cold kernel for each request, where a zygote cannot fork. Slower, and as confined as the host allows."""

    def start(self) -> None:
        """Nothing to warm up."""

    def stop(self) -> None:
        """Nothing to end: each kernel ends with its client's socket."""

    def connect(self, request: dict[str, Any]) -> socket.socket:
        """A socket to the supervisor of a new kernel."""
        client, theirs = socket.socketpair()
        subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.kernels.supervisor", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**_clean_environment(), **ONE_THREAD},
            start_new_session=True,
        )
        theirs.close()
        send(client, request)
        return client


def forking_works() -> bool:
    """Whether this platform can fork a process that holds torch and TensorFlow (Linux; macOS's frameworks cannot).

    The environment variable AUTOGRADER_SPAWN, set to anything, says no.
    """
    return sys.platform == "linux" and not os.environ.get("AUTOGRADER_SPAWN")


def _clean_environment() -> dict[str, str]:
    """The owner's environment without what a kernel must not inherit: tokens, keys, notebook settings."""
    # Whole names: by its beginning, LANGCHAIN_API_KEY would pass for a language.
    kept = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TMPDIR", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES"}
    environment = {k: v for k, v in os.environ.items() if k in kept}
    # Libraries ask for the home folder while they load, and fail where neither HOME nor a list of users tells it.
    home = os.path.expanduser("~")
    environment["HOME"] = home if os.path.isabs(home) else tempfile.gettempdir()
    return {**environment, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "MPLBACKEND": "agg"}


def main() -> None:
    """The zygote's side: import, then fork one child for each connection until the owner closes our stdin."""
    address, called, *names = sys.argv[1:]
    place, _, function = called.partition(":")
    module = importlib.import_module(place)
    child: Child = getattr(module, function)
    for first in names:
        importlib.import_module(first)
    if begin := getattr(module, "begin", None):
        begin()
    try:
        given, _ = receive(0)  # and no byte more: afterwards the end of our stdin is watched for
    except EOFError:
        raise SystemExit("the owner has gone") from None
    log.start_from(given["log"], f"{function.removesuffix('_child')} zygote")
    os.environ.update(given["environment"])
    for name in given["preload"]:
        importlib.import_module(name)
    if given["try"]:
        import_what_can_be(given["try"])
    if prepare := getattr(module, "prepare", None):
        prepare(given["setup"])
    if threading.active_count() > 1:
        busy = ", ".join(t.name for t in threading.enumerate())
        raise SystemExit(f"a preloaded module started a thread, which makes forking unsafe: {busy}")
    _serve_requests(address, child)
    os._exit(0)  # Python would take all these modules apart first, and the owner waits


def _serve_requests(address: str, child: Child) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address + ".new")
    listener.listen(64)
    # The garbage collector would else touch, and so copy, every page of the parent in every child.
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.rename(address + ".new", address)
    LOGGER.info("ready to fork")
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    poller.register(0, select.POLLIN | select.POLLHUP)
    while True:
        ready = dict(poller.poll(1000))
        _reap_children()
        if 0 in ready:
            return
        if listener.fileno() in ready:
            client, _ = listener.accept()
            if os.fork() == 0:
                _run_child(child, client, listener)
            client.close()


def _run_child(child: Child, client: socket.socket, listener: socket.socket) -> None:
    """In the forked process. Never returns."""
    code = 1
    try:
        listener.close()
        os.close(0)
        os.open(os.devnull, os.O_RDONLY)
        request = read_request(client)
        if request is not None:
            child(client, request)
        code = 0
    except BaseException:
        traceback.print_exc()  # into the zygote's own file; the client sees its connection close
        LOGGER.exception("a forked process failed")
    finally:
        os._exit(code)


def read_request(client: socket.socket) -> dict[str, Any] | None:
    """What the client asks for; None if it left, or does not speak our language."""
    client.settimeout(30)
    try:
        request, _ = receive(client, MAX_REQUEST)
    except (EOFError, ValueError):
        return None
    client.settimeout(None)
    return request


def _reap_children() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
