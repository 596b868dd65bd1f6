"""Run a function of a notebook in the processes that `torchrun` starts.

`torchrun` starts the processes of a script. What a script would hold lies in a file here, pickled by `cloudpickle`,
which takes functions of a notebook too. Each process that `torchrun` starts from this module calls it, and leaves its
result beside that file.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle

__all__ = ["torchrun", "torchrun_script"]


def torchrun_script(script: str | Path, processes: int) -> str:
    """`torchrun --nproc-per-node PROCESSES SCRIPT`, on a free port; what it printed, in alphabetical order.

    Raises RuntimeError, with the last lines of the error output, if a process fails.
    """
    return "\n".join(sorted(_torchrun(processes, str(script)).splitlines()))


def torchrun(function: Callable[..., Any], processes: int, *arguments: object) -> list[Any]:
    """What `function(*arguments)` returns in each of the processes that `torchrun` starts, by rank."""
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job")
        job.write_bytes(cloudpickle.dumps((function, arguments)))
        _torchrun(processes, "-m", "course_lib.lectures.distributed.launch", str(job))
        return [pickle.loads(Path(f"{job}.{rank}").read_bytes()) for rank in range(processes)]


def _torchrun(processes: int, *what: str) -> str:
    # `--standalone` finds a free port too, but asks for the machine's name: minutes where there is no network.
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = ["--master-addr", "127.0.0.1", "--master-port", str(free.getsockname()[1])]
    command = [sys.executable, "-m", "torch.distributed.run", *address, "--nproc-per-node", str(processes)]
    interface = "lo0" if sys.platform == "darwin" else "lo"
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH")]))
    environment = {"GLOO_SOCKET_IFNAME": interface} | os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    done = subprocess.run([*command, *what], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"torchrun ended with exit code {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    job_file = sys.argv[1]
    function, arguments = pickle.loads(Path(job_file).read_bytes())
    Path(f"{job_file}.{os.environ['RANK']}").write_bytes(pickle.dumps(function(*arguments)))
