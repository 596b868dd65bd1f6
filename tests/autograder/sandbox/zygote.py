"""A small stand-in for the kernels' zygote: forks one box for each request and answers with what became of it.

Started by conftest.py as a script. A request is one line of JSON on standard input, an answer one line on standard
output. Importing the names given on the command line first makes it a heavy zygote.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.records import Limits, from_data
from autograder.sandbox import Box, View, new_private
from autograder.sandbox.host import Host
from autograder.sandbox.mounts import MS_BIND, MS_PRIVATE, MS_REC, mount
from autograder.sandbox.processes import descendants
from autograder.sandbox.syscalls import CLONE_NEWNS, unshare
from autograder.sandbox.view import outermost

NOBODY = 65534


def outcomes(ways: dict[str, Callable[[], object]]) -> dict[str, str]:
    """What became of each attempt: `done`, or the name of the error."""
    found = {}
    for name, act in ways.items():
        try:
            act()
            found[name] = "done"
        except OSError as error:
            found[name] = type(error).__name__
    return found


def running(marker: str) -> list[int]:
    """Processes of this host whose command line holds `marker`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


GIVEN = (contextlib, ctypes, os, resource, shutil, signal, socket, subprocess, sys, tempfile, threading, time)
KNOWN = {module.__name__: module for module in GIVEN} | {"Path": Path, "outcomes": outcomes}
"""what a program need not import"""


def main() -> None:
    for name in sys.argv[1:]:
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(in_fork(json.loads(line))), flush=True)


def in_fork(request: dict[str, Any]) -> dict[str, Any]:
    """Answer in a forked process, as a supervisor must: it can hold one box."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = supervise(request)
        except BaseException:
            answer = {"grader_error": traceback.format_exc()}
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return dict(json.loads(text))


def supervise(request: dict[str, Any]) -> dict[str, Any]:
    if os.geteuid() == 0:
        open_closed_folders(request["readable"]) if request["drop"] or request["open"] else None
        become_nobody() if request["drop"] else os.setgroups([0, 4])  # as a grader who may read what others may not
    private = Path(request["private"] or new_private())
    read, devices, hidden = (tuple(map(Path, request[name])) for name in ("readable", "devices", "hidden"))
    view = View(private, read, devices, hidden)
    view.work.mkdir()
    box = Box(view, from_data(Limits, request["limits"]), from_data(Host, request["host"]))
    data = {**request["data"]}
    if request["wants_pids"]:
        data["pids"] = {"supervisor": os.getpid(), "zygote": os.getppid()}
    reader, writer = os.pipe()
    started = time.process_time()
    box.enter_namespaces()
    pid = os.fork()
    if pid == 0:
        inside(box, writer, request["source"], data)
    entered = time.process_time() - started
    box.adopt(pid)
    os.close(writer)
    answer = watch(box, pid, reader, request["wait_s"])
    answer |= {
        "memory": box.memory(),
        "disk": box.disk(),
        "over_memory": box.over_memory(),
        "over_disk": box.over_disk(),
    }
    answer["alive"] = len(descendants(os.getpid()))
    box.clean()
    answer["over_memory"] = answer["over_memory"] or box.over_memory()
    answer |= {"tier": int(box.reached.tier), "left": descendants(os.getpid()), "private": str(private)}
    answer["supervisor_cpu_s"] = entered
    answer["written"] = {
        str(p.relative_to(private)): p.lstat().st_size for p in private.rglob("*") if p.is_file() and not p.is_symlink()
    }
    shutil.rmtree(private, ignore_errors=True)
    return answer


def inside(box: Box, writer: int, source: str, data: dict[str, Any]) -> None:
    """The box's first process: confine, run `source`'s one function, report, end."""
    report: dict[str, Any] = {}
    try:
        begun = time.process_time()
        box.confine(keep_fds=[writer, 2], variables={"OMP_NUM_THREADS": "1"})
        report["confine_cpu_s"] = time.process_time() - begun
        # As in a kernel, the main module has no file: processes started by spawn do not run this script again.
        main_module = sys.modules["__main__"] = ModuleType("__main__")
        vars(main_module).update(KNOWN)
        exec(compile(source, "<notebook>", "exec"), vars(main_module))
        report["result"] = main_module.program(**data)
    except BaseException as error:
        report["raised"] = type(error).__name__
        report["traceback"] = traceback.format_exc()
    with contextlib.suppress(OSError):
        os.write(writer, json.dumps(report).encode())
    time.sleep(60)  # the supervisor still reads the counters
    os._exit(0)


def watch(box: Box, pid: int, reader: int, wait_s: float) -> dict[str, Any]:
    """Wait until the first process has reported or ended, or must be ended."""
    answer: dict[str, Any] = {"ended_by": "itself"}
    until = time.monotonic() + wait_s
    text = b""
    while True:
        if select.select([reader], [], [], 0.02)[0]:
            piece = os.read(reader, 1 << 16)
            text += piece
            if not piece:
                break
            with contextlib.suppress(ValueError):
                json.loads(text)
                break
        if box.over_memory():
            answer["ended_by"] = "memory"
            break
        if time.monotonic() > until:
            answer["ended_by"] = "time"
            break
    with contextlib.suppress(ValueError):
        answer |= json.loads(text)
    return answer


def open_closed_folders(readable: list[str]) -> None:
    """Make `readable` reachable for a user without rights, in this process and its children alone.

    Where root runs the tests, Python may lie below root's own folder. Such folders are replaced by ones that hold the
    readable paths alone.
    """
    unshare(CLONE_NEWNS)
    mount("", "/", "", MS_REC | MS_PRIVATE)
    wanted = [p for p in map(Path, readable) if p.is_absolute()]
    closed = {next((d for d in reversed(p.parents) if not d.stat().st_mode & 1), None) for p in wanted} - {None}
    for folder in filter(None, closed):
        kept = outermost(p.resolve() for p in wanted if p.is_relative_to(folder))
        held = [(path, os.open(path, os.O_PATH)) for path in kept]
        mount("tmpfs", folder, "tmpfs", 0, "mode=755")
        for path, fd in held:
            path.mkdir(parents=True)
            mount(f"/proc/self/fd/{fd}", path, "", MS_BIND | MS_REC)
            os.close(fd)


def become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


if __name__ == "__main__":
    main()
