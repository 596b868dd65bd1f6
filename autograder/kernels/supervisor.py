"""Start one confined kernel and stay outside its box as long as it lives.

A supervisor is a forked child of the zygote. The socket to its client is its lifetime: when the client goes away,
however it goes, the box is emptied. It forwards signals, watches memory, and says how the kernel ended, in
frames (`protocol.frames`):

    client -> supervisor   {"signal": 2}, {"kill": true}
    supervisor -> client   {"started": {...}}, {"ready": true}, {"failed": "..."}, {"exited": {...}}
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import multiprocessing.process
import os
import random
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder import log, records
from autograder.errors import KernelFailed
from autograder.kernels import preload
from autograder.kernels.zygote import read_request
from autograder.protocol.frames import Reader, pack, send
from autograder.sandbox import Box, Host, View, default_read, gpu, probe
from course_lib import virtual_cuda

MEMORY_INTERVAL_S = 0.05
DISK_INTERVAL_S = 1.0
LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class LaunchRequest:
    """What a client asks of a zygote."""

    private: Path
    """the kernel's own folder, existing; sockets, HOME and working folder lie in it"""
    connection_file: Path
    """inside `private`, transport ipc"""
    limits: records.Limits
    read: tuple[Path, ...] = ()
    """public folders to show read-only, beyond Python itself"""
    confined: bool = True
    """False leaves the sandbox out: for trusted notebooks only, such as the course's own lectures"""
    device: str = records.CPU
    """`cpu`, `virtual cuda`, or `cuda`: this host's GPU"""
    hidden: tuple[Path, ...] = ()
    """see `View.hidden`"""


def supervise(client: socket.socket, data: dict[str, Any], host: Host) -> None:
    """Launch the kernel that `data` (a LaunchRequest) asks for; return when it has ended and the box is empty."""
    log.rename_process("supervisor")
    request: LaunchRequest = records.from_data(LaunchRequest, data)
    # An interrupt ends this process as any other signal does. As a KeyboardInterrupt it could be lost: what is raised
    # while Python finalizes an object is printed and forgotten.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(PermissionError):  # a spawned one leads a session already
        os.setsid()
    view = view_for(request)
    box = Box(view, request.limits, host) if request.confined else None
    if box:
        box.enter_namespaces()
    # The box's first step is ours, its second the child's. Forked between them, the child is process 1 of the namespace
    # made here; we keep the host's files and process ids, and with them `told`, to hear `ready` or why it failed.
    told, tell = os.pipe()
    kernel = os.fork()
    if kernel == 0:
        os.close(told)
        client.close()
        _become_kernel(request, box, tell)
    os.close(tell)
    if box:
        box.adopt(kernel)
    tier, sentence = (int(box.reached.tier), box.reached.sentence) if box else (0, "not confined")
    LOGGER.info("kernel %d started on %s", kernel, request.device)
    _send_news(client, {"started": {"pid": kernel, "tier": tier, "sandbox": sentence}})
    try:
        status, over = _watch_kernel(client, kernel, told, box)
    finally:
        if box:
            box.clean()
    code = os.waitstatus_to_exitcode(status)
    LOGGER.info("kernel %d ended: status %d%s", kernel, code, f", over its limit of {over}" if over else "")
    _send_news(client, {"exited": {"code": code, "memory": over == "memory", "disk": over == "disk"}})


def view_for(request: LaunchRequest) -> View:
    """What the box of a kernel shows. Raises KernelFailed where a GPU is asked for that is not there."""
    devices = gpu.device_files() if request.device == records.CUDA else ()
    if request.device == records.CUDA and not devices:
        raise KernelFailed("the device is cuda, and this host has no device file of an NVIDIA GPU")
    return View(request.private, default_read() + request.read, devices, request.hidden)


def _become_kernel(request: LaunchRequest, box: Box | None, tell: int) -> None:
    """In the kernel's process: confine it, then serve Jupyter until the end. Never returns."""
    code = 1
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log.stop()  # the file is not the student's to write
    try:
        if box:
            box.confine(keep_fds=(tell,), variables=_thread_variables())
        else:
            os.chdir(request.private / "work")
        if request.device == records.VIRTUAL_CUDA:
            # No GPU beside it: what the report calls virtual must not be a real one on a host without a sandbox.
            os.environ.update({virtual_cuda.VARIABLE: str(records.VIRTUAL_DEVICES), "CUDA_VISIBLE_DEVICES": ""})
        _separate_fork_state()
        from autograder.student_side import kernel

        kernel.serve(str(request.connection_file), request.limits, lambda: _announce_ready(tell))
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    except BaseException as error:
        text = "".join(traceback.format_exception(error))[-4000:]
        try:
            os.write(tell, pack({"failed": text}))
        except OSError:
            sys.stderr.write(text)
    finally:
        os._exit(code)


def _separate_fork_state() -> None:
    """What must differ between forks of one process."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # for processes the student starts
    sys.path[:] = ["", *(p for p in sys.path if p)]
    preload.forget_hidden()
    # What a spawned child of the student's takes for its folder: the zygote's else, and `import helper` fails there.
    multiprocessing.process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    random.seed()
    if "numpy" in sys.modules:
        # Every fork would else draw the same "random" numbers from the generator it inherited.
        sys.modules["numpy"].random.seed()


def _thread_variables() -> dict[str, str]:
    """What a box's environment keeps of the zygote's: how many threads to use, which native log lines to leave out."""
    kept = ("OMP_", "MKL_", "OPENBLAS_", "TF_", "CUDA_VISIBLE_DEVICES")
    return {k: v for k, v in os.environ.items() if k.startswith(kept)}


def _announce_ready(tell: int) -> None:
    os.write(tell, pack({"ready": True}))
    os.close(tell)


def _watch_kernel(client: socket.socket, kernel: int, told: int, box: Box | None) -> tuple[int, str]:
    """Wait for the kernel's end; kill it when the client leaves, asks for it, or memory or disk run over.

    Returns the status that `waitpid` gave, and what ran over: `memory`, `disk` or nothing.
    """
    poller = select.poll()
    for fd in (told, client.fileno()):
        poller.register(fd, select.POLLIN)
    if hasattr(os, "pidfd_open"):
        poller.register(os.pidfd_open(kernel), select.POLLIN)
    news, orders = Reader(), Reader()
    over, disk_looked = "", time.monotonic()
    while True:
        ready = dict(poller.poll(MEMORY_INTERVAL_S * 1000))
        if told in ready:
            received = os.read(told, 65536)
            for message, _ in news.feed(received):
                _send_news(client, message)
            if not received:
                poller.unregister(told)
        if client.fileno() in ready:
            try:
                received = client.recv(65536)
            except OSError:
                received = b""
            if not received:
                os.kill(kernel, signal.SIGKILL)
                poller.unregister(client.fileno())
            for order, _ in orders.feed(received):
                os.kill(kernel, signal.SIGKILL if order.get("kill") else int(order["signal"]))
        ended, status = os.waitpid(kernel, os.WNOHANG)
        if ended:
            return status, over or ("memory" if box and box.over_memory() else "")
        if box and not over:
            over = "memory" if box.over_memory() else ""
            # Where the host bounds the box's disk itself this finds nothing, at once.
            if not over and time.monotonic() - disk_looked > DISK_INTERVAL_S:
                disk_looked = time.monotonic()
                over = "disk" if box.over_disk() else ""
            if over:
                os.kill(kernel, signal.SIGKILL)


def _wait_until_left(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while client.recv(65536):
            pass  # an order that came too late


def _send_news(client: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the client has gone; the kernel's end matters to nobody now
        send(client, message)


_HOST: Host | None = None


def begin() -> None:
    """Called first in the zygote: find out what this host can promise, import what every kernel needs."""
    global _HOST
    importlib.import_module("autograder.student_side.kernel")
    _HOST = probe()


def prepare(setup: dict[str, Any]) -> None:
    """Called once in the zygote, before it forks and with all imported."""
    from autograder.student_side import kernel

    kernel.warm_up()


def kernel_child(client: socket.socket, data: dict[str, Any]) -> None:
    """The zygote's child for a kernel."""
    try:
        supervise(client, data, _HOST or probe())
    except Exception as error:
        LOGGER.exception("no kernel could be started")
        _send_news(client, {"failed": "".join(traceback.format_exception(error))[-4000:]})
    finally:
        if "private" in data:
            # The client may still read what lies there. It removes the folder when it closes the kernel, but it may be
            # killed before: at a run's end, when its time is up. Nobody else knows of this folder.
            _wait_until_left(client)
            shutil.rmtree(data["private"], ignore_errors=True)


def main() -> None:
    """Serve the one client whose socket was inherited: a spawned kernel, cold but as confined as a forked one."""
    client = socket.socket(fileno=int(sys.argv[1]))
    data = read_request(client)
    if data is not None:
        begin()
        prepare({})
        kernel_child(client, data)


if __name__ == "__main__":
    main()
