"""Honest notebooks need all of this, so all of it works in a box: loaders, processes, loopback, figures, records."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from autograder.records import Limits
from autograder.sandbox import Tier
from autograder.sandbox.host import NO_NAMESPACES
from autograder.sandbox.processes import descendants

ROOMY = replace(Limits(), memory_bytes=2 << 30, disk_bytes=256 << 20, processes=64, open_files=512)

pytestmark = pytest.mark.slow  # the warm zygote has both frameworks in it


@pytest.fixture
def roomy(warm_box: Any) -> Any:
    """A warm box with the limits that assignments have by default."""

    def run(function: Any, **options: Any) -> Any:
        outcome = warm_box(function, limits=ROOMY, wait_s=90.0, **options)
        assert outcome.raised == "", outcome.traceback
        assert (outcome.ended_by, outcome.left) == ("itself", [])
        return outcome

    return run


def test_torch_loads_data_with_worker_processes(roomy: Any) -> None:
    def load() -> list[float]:
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        data = TensorDataset(torch.arange(12.0).reshape(6, 2))
        return [float(batch.sum()) for (batch,) in DataLoader(data, batch_size=2, num_workers=2)]

    assert roomy(load).result == [sum(range(4)), sum(range(4, 8)), sum(range(8, 12))]


def test_processes_start_by_spawn_and_by_fork_and_share_memory(roomy: Any) -> None:
    def start() -> dict[str, Any]:
        import math
        import multiprocessing
        from multiprocessing import shared_memory

        import numpy as np

        # The main module of a notebook cannot be imported by a spawned process: functions come from modules.
        results = {}
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                results[method] = pool.map(math.factorial, range(5))
        block = shared_memory.SharedMemory(create=True, size=1 << 20)
        mine = np.ndarray(8, dtype=np.int64, buffer=block.buf)
        mine[:] = 0
        code = (
            "import sys; from multiprocessing import shared_memory, resource_tracker as r\n"
            "b = shared_memory.SharedMemory(sys.argv[1]); b.buf[0] = 7; r.unregister(b._name, 'shared_memory')"
        )
        subprocess.run([sys.executable, "-c", code, block.name], check=True)
        results["shared"] = int(mine[0])
        del mine
        block.close()
        block.unlink()
        return results

    wanted = [1, 1, 2, 6, 24]
    assert roomy(start).result == {"fork": wanted, "spawn": wanted, "shared": 7}


def test_two_processes_average_a_gradient_by_gloo_over_loopback(roomy: Any) -> None:
    def average() -> list[float]:
        import torch
        import torch.distributed as dist

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        reader, writer = os.pipe()
        ranks = []
        for rank in range(2):
            child = os.fork()
            if child == 0:
                os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
                dist.init_process_group("gloo", rank=rank, world_size=2)
                value = torch.tensor([float(rank + 1)])
                dist.all_reduce(value)
                os.write(writer, f"{float(value)} ".encode())
                os._exit(0)
            ranks.append(child)
        status = [os.waitstatus_to_exitcode(os.waitpid(r, 0)[1]) for r in ranks]
        assert status == [0, 0], status
        return [float(v) for v in os.read(reader, 100).split()]

    assert roomy(average).result == [3.0, 3.0]


def test_figures_temporary_files_histories_and_threads_work(roomy: Any) -> None:
    def write() -> list[Any]:
        import matplotlib
        from IPython.core.interactiveshell import InteractiveShell

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        plt.plot([1, 2, 3])
        plt.savefig("loss.png")
        with tempfile.NamedTemporaryFile() as named, tempfile.TemporaryFile() as unnamed:
            named.write(b"x")
            unnamed.write(b"x")
            below = Path(named.name).is_relative_to(os.environ["TMPDIR"])
        shell = InteractiveShell()
        shell.run_cell("x = 1", store_history=True)
        shell.history_manager.writeout_cache()
        inputs = [source for _, _, source in shell.history_manager.search("x*")]
        history = Path(shell.history_manager.hist_file).is_relative_to(Path.home())
        seen: list[int] = []
        threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        config = matplotlib.get_configdir().startswith(os.environ["HOME"])
        return [Path("loss.png").stat().st_size > 1000, below, inputs, history, sorted(seen), config]

    assert roomy(write).result == [True, True, ["x = 1"], True, list(range(8)), True]


def test_both_frameworks_write_event_files_for_tensorboard(roomy: Any) -> None:
    def log() -> list[Any]:
        import tensorflow as tf
        from torch.utils.tensorboard import SummaryWriter

        total = int(tf.reduce_sum(tf.range(5)))
        with tf.summary.create_file_writer("runs").as_default():
            tf.summary.write("loss", 0.5, step=1)
        with SummaryWriter("others") as writer:
            writer.add_scalar("loss", 0.5, 1)
        return [total, *([p.name.split(".")[0] for p in Path(folder).iterdir()] for folder in ("runs", "others"))]

    assert roomy(log).result == [10, ["events"], ["events"]]


def test_shell_commands_have_a_terminal_and_children_return_what_they_print(roomy: Any) -> None:
    def shell() -> list[Any]:
        import getpass

        from IPython.utils.process import getoutput

        child = subprocess.check_output([sys.executable, "-c", "print(6 * 7)"], text=True)
        processors = os.cpu_count() == len(os.sched_getaffinity(0)) or bool(os.cpu_count())
        terminal = os.isatty(os.openpty()[1])
        return [child, getoutput("echo hello; whoami").split(), terminal, getpass.getuser(), processors]

    assert roomy(shell).result == ["42\n", ["hello", "student"], True, "student", True]


@pytest.mark.parametrize("weakness", [(), NO_NAMESPACES], ids=["full", "no namespaces"])
def test_a_kernel_in_the_box_answers_a_judge_outside_by_its_path(
    roomy: Any, heavy: Any, private: Path, weakness: tuple[str, ...]
) -> None:
    """The judge sends code, interrupts it and goes on: sockets, signals to the first process, and reaping."""

    def serve(connection: str) -> None:
        from ipykernel.kernelapp import IPKernelApp

        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["kernel", "-f", connection]
        app = IPKernelApp.instance()
        app.initialize(sys.argv[1:])
        app.start()
        os._exit(0)

    file, _ = write_connection_file(str(private / "kernel.json"), transport="ipc", ip=str(private / "kernel"))
    os.chmod(file, 0o644)
    with ThreadPoolExecutor(1) as pool:
        boxed = pool.submit(roomy, serve, connection=file, private=str(private), without=weakness)
        client = BlockingKernelClient(connection_file=file)
        client.load_connection_file()
        # On a busy machine a kernel that lives misses beats of one second.
        client.hb_channel.time_to_dead = 20.0
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)

            def run(code: str) -> tuple[str, str]:
                printed: list[str] = []

                def keep(message: dict[str, Any]) -> None:
                    printed.append(message["content"].get("text", ""))

                reply = client.execute_interactive(code, output_hook=keep, timeout=30)
                return reply["content"].get("ename", "ok"), "".join(printed).strip()

            computed = "import torch, tensorflow as tf; print(int(torch.ones(2).sum()), int(tf.reduce_sum([1, 2])))"
            assert run(computed) == ("ok", "2 3")
            assert run("import os; print(os.getcwd())") == ("ok", f"{private}/work")
            if not weakness:
                assert run("import os; print(os.getpid())") == ("ok", "1")
                assert run("!echo from a shell") == ("ok", "from a shell")
            supervisor, kernel, *_ = descendants(heavy.process.pid)
            assert supervisor != kernel
            threading.Timer(0.5, os.kill, (kernel, signal.SIGINT)).start()
            assert run("import time; time.sleep(20)")[0] == "KeyboardInterrupt"
            assert run("print('still here')") == ("ok", "still here")
        finally:
            client.shutdown()
            client.stop_channels()
        assert boxed.result(timeout=30).tier is (Tier.FILES if weakness else Tier.FULL)
