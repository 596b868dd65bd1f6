"""Warm, confined kernels for every Jupyter tool: nbclient, nbgrader autograde, papermill, nbval, without touching them.

Named by the kernelspec `autograder` as its provisioner. The zygote is started with the first kernel and kept for
the life of the process. The kernel works in a private folder: the plain files beside the notebook are copied there,
notebooks are not (an autograded notebook holds the hidden tests). Where forking is impossible a cold kernel is spawned,
as confined as the host allows; on Windows it is jupyter_client's own, unconfined, and a warning says so.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import stat
import sys
import threading
import time
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Bool, Float

from autograder.kernels.preload import FRAMEWORKS, public_folders
from autograder.kernels.process import KernelProcess, Launcher
from autograder.kernels.zygote import Spawner, Zygote, forking_works
from autograder.records import Limits

MAX_COPIED_BYTES = 64 << 20
MAX_COPIED_FILES = 1000
START_TIMEOUT_S = 60.0

_launcher: Zygote | Spawner | None = None
_lock = threading.Lock()


def shared_launcher() -> Launcher:
    """The one launcher of this process, started at the first call and ended at exit."""
    global _launcher
    with _lock:
        if _launcher is None:
            if forking_works():
                _launcher = Zygote("autograder.kernels.supervisor:kernel_child", FRAMEWORKS)
            else:
                _launcher = Spawner()
            _launcher.start()
            atexit.register(_launcher.stop)
    return _launcher


class ForkProvisioner(LocalProvisioner):
    """A kernel forked from a warm process, in a sandbox, over ipc."""

    confined = Bool(True, help="False only for notebooks you trust, such as your own lectures").tag(config=True)
    memory_gib = Float(4.0, help="private memory of the kernel, GiB").tag(config=True)

    kernel: KernelProcess | None = None

    @property
    def has_process(self) -> bool:
        return self.kernel is not None if sys.platform != "win32" else super().has_process

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Make the private folder and put the connection there: no port is opened, nobody else can connect."""
        if sys.platform == "win32":
            self.log.warning("autograder: no sandbox on Windows; the kernel runs as you, with all you may do")
            return await super().pre_launch(**kwargs)
        self._forget()
        self.kernel = KernelProcess(files_beside(Path(kwargs.get("cwd") or os.getcwd())))
        manager: Any = self.parent
        manager.transport = "ipc"
        manager.ip = self.kernel.address
        # A restart keeps the manager and its file's old address; write it anew.
        manager.cleanup_connection_file()
        manager.connection_file = str(self.kernel.private / "kernel.json")
        for number, name in enumerate(("shell", "iopub", "stdin", "control", "hb"), 1):
            setattr(manager, f"{name}_port", number)
        return await super().pre_launch(**kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork the kernel; `cmd` is what a spawned one would run, and is not needed."""
        if self.kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        # The private folder's owner changes with the box's user: the file must be whole before.
        connection = self.kernel.private / "kernel.json"
        info = {k: v.decode() if isinstance(v, bytes) else v for k, v in self.connection_info.items()}
        connection.write_text(json.dumps({**info, "kernel_name": "autograder"}))
        limits = Limits(memory_bytes=int(self.memory_gib * (1 << 30)))
        await asyncio.to_thread(
            self.kernel.launch, shared_launcher(), connection, limits, public_folders(), confined=self.confined
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.kernel.ready:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the kernel did not start within {START_TIMEOUT_S:.0f} s")
            await asyncio.to_thread(self.kernel.listen, 0.5)
            if self.kernel.end is not None:
                raise RuntimeError(f"the kernel did not start: {self.kernel.end.get('failed', self.kernel.end)}")
        self.pid = self.kernel.pid
        return self.connection_info

    async def poll(self) -> int | None:
        """None while the kernel lives, else its exit code."""
        if self.kernel is None:
            return await super().poll()
        return None if self.kernel.alive else int((self.kernel.end or {}).get("code", 1))

    async def wait(self) -> int | None:
        """Wait for the kernel's end; forget it then."""
        if self.kernel is None:
            return await super().wait()
        while (code := await self.poll()) is None:
            await asyncio.sleep(0.02)
        self._forget()
        return code

    async def send_signal(self, signum: int) -> None:
        """Signal the kernel; SIGKILL ends everything in its box."""
        if self.kernel is None:
            await super().send_signal(signum)
        elif signum == signal.SIGKILL:
            await asyncio.to_thread(self.kernel.kill)
        elif signum != 0:
            self.kernel.signal(signum)

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and everything in its box."""
        if self.kernel is None:
            await super().kill(restart)
        else:
            await asyncio.to_thread(self.kernel.kill)

    async def terminate(self, restart: bool = False) -> None:
        """As `kill`: pid 1 of a namespace does not hear SIGTERM."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the private folder."""
        self._forget()

    def _forget(self) -> None:
        if self.kernel is not None:
            self.kernel.close()
            self.kernel = None


def files_beside(folder: Path) -> dict[str, bytes]:
    """The plain, visible files of a folder and its subfolders, without notebooks, if they are few and small enough."""
    found: dict[str, bytes] = {}
    size = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__pycache__")))
        for name in sorted(names):
            path = Path(place) / name
            facts = path.lstat()
            if name.startswith(".") or name.endswith(".ipynb") or not stat.S_ISREG(facts.st_mode):
                continue
            size += facts.st_size
            if len(found) >= MAX_COPIED_FILES or size > MAX_COPIED_BYTES:
                # A home folder, say: better nothing than a part that depends on the order of names.
                return {}
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
