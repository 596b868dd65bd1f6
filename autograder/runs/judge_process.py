"""A judge's process: forked ahead of need with a ready kernel, grades one submission, and ends.

It is forked from a zygote that has loaded the assignment's checks, its reference and its known mistakes, and that never
meets student code. The kernel it holds comes from the other zygote.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import resource
import signal
import socket
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from autograder import log, records
from autograder.errors import BadAssignment, GraderFault
from autograder.grading import could_not_grade
from autograder.grading.grade import grade
from autograder.judge.run import Checks
from autograder.kernels.preload import public_folders
from autograder.kernels.session import Kernel
from autograder.kernels.zygote import RemoteZygote, Spawner, forking_works
from autograder.protocol.frames import receive, send
from autograder.records import VIRTUAL_CUDA, VIRTUAL_DEVICES, Assignment, Flag
from autograder.submissions.intake import StudentFiles
from autograder.submissions.plan import own_files
from course_lib import virtual_cuda

LOGGER = logging.getLogger(__name__)
PR_SET_PDEATHSIG = 1
JUDGE_BYTES = 4 << 30
"""what a judge may use beyond what the assignment takes once loaded"""


@dataclass
class _LoadedAssignment:
    """What the judge zygote has ready for all its children."""

    assignment: Assignment
    checks: Checks | None
    secret: bytes
    """of the run: decides the hidden inputs"""
    hidden: tuple[Path, ...]
    """what no kernel may be able to open"""


_loaded: _LoadedAssignment | BadAssignment | None = None


def prepare(setup: dict[str, Any]) -> None:
    """Called once in the judge zygote: load the assignment, try the reference, build all mistakes, warm pytest up."""
    global _loaded
    try:
        _loaded = _load(setup)
    except BadAssignment as error:
        _loaded = error  # each judge says so to the run


def _load(setup: dict[str, Any]) -> _LoadedAssignment:
    assignment = records.from_data(Assignment, setup["assignment"])  # read once: that takes a second of imports
    if assignment.device == VIRTUAL_CUDA and assignment.checks:
        # The reference is run in the judges forked from here, on the device that the students' code uses.
        virtual_cuda.enable(VIRTUAL_DEVICES, force=True, quiet=True, forks=True)
    checks, secret = Checks(assignment) if assignment.checks else None, bytes.fromhex(setup["secret"])
    if checks and forking_works():
        checks.warm_up_apart(secret, (Path(setup["kept"]), setup["kept_key"]) if setup["kept"] else None)
    elif checks:
        checks.warm_up(secret)
    return _LoadedAssignment(assignment, checks, secret, tuple(map(Path, setup.get("hidden", ()))))


def judge_child(run: socket.socket, request: dict[str, Any]) -> None:
    """In the forked judge: get a kernel ready, wait for one submission, answer with its report."""
    assert _loaded is not None, "prepare() comes first"
    log.rename_process("judge")
    # The run may be killed outright; no judge, and so no kernel, outlives its zygote.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        return
    if isinstance(_loaded, BadAssignment):
        send(run, {"refused": str(_loaded)})
        return
    assignment, checks = _loaded.assignment, _loaded.checks
    kernels = _Kernels(request["kernels"], assignment, _loaded.hidden)
    try:
        kernels.warm()
        _bound_memory()
        send(run, {"ready": True, "pid": os.getpid()})
        received = _receive_files(run)
        submission = received.read(assignment)
        kernels.bring(own_files(received.files, assignment))
        LOGGER.info("grading %s", submission.student)
        try:
            report = grade(submission, assignment, checks, kernels.next, _loaded.secret)
        except GraderFault as error:
            LOGGER.exception("%s could not be graded", submission.student)
            report = could_not_grade(submission, assignment, error)
        send(run, {"report": records.to_data(report), "submission": records.to_data(submission)})
    except (EOFError, ConnectionError):
        return  # the run does not need this judge any more, and may not have read that it is ready
    except Exception as error:
        known = isinstance(error, GraderFault)
        LOGGER.exception("the judge failed")
        send(run, {"failed": str(error) if known else "".join(traceback.format_exception(error))[-4000:]})
    finally:
        kernels.close()


def _bound_memory() -> None:
    """A check that asks for far too much memory, led there by a student's values, gets a MemoryError."""
    allowed = psutil.Process().memory_info().data + JUDGE_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))


def _receive_files(run: socket.socket) -> StudentFiles:
    """What `pool` sends of one submission."""
    files: dict[str, bytearray] = {}
    while "student" not in (message := receive(run))[0]:
        files.setdefault(message[0]["file"], bytearray()).extend(b"".join(message[1]))
    last = message[0]
    flags = records.from_data(tuple[Flag, ...], last["flags"])
    whole = {name: bytes(content) for name, content in files.items()}
    return StudentFiles(last["student"], whole, last["note"], last["rejected"], flags)


class _Kernels:
    """Starts kernels for one judge; the first is started before its submission is known."""

    def __init__(self, address: str | None, assignment: Assignment, hidden: tuple[Path, ...]) -> None:
        self.hidden = hidden
        self.launcher = RemoteZygote(address) if address else Spawner()
        self.assignment = assignment
        self.spare: Kernel | None = None
        self.own: dict[str, bytes] = {}

    def _start(self) -> Kernel:
        files = {p.relative_to(self.assignment.folder).as_posix(): p.read_bytes() for p in self.assignment.files}
        read, device = public_folders(), self.assignment.device
        return Kernel(self.launcher, self.assignment.limits, read, files | self.own, device=device, hidden=self.hidden)

    def warm(self) -> None:
        """Have a kernel ready."""
        self.spare = self._start()
        self.spare.wait_until_ready()

    def bring(self, own: dict[str, bytes]) -> None:
        """Have a student's own files in every kernel from now on; one that is ready can take none any more."""
        self.own = own
        if own:
            self.close()
            self.spare = None

    def next(self) -> Kernel:
        """The spare kernel, or a new one."""
        kernel, self.spare = self.spare or self._start(), None
        return kernel

    def close(self) -> None:
        if self.spare is not None:
            with contextlib.suppress(OSError):
                self.spare.close()
