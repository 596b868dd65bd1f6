"""Grade on many machines with Dask: each Dask worker holds the warm pool of its machine.

The journal, the run's secret and the gradebook stay here. A worker is asked what is installed there, is sent the
assignment, and opens a pool; from then on each of its threads grades one submission at a time. Which worker gets which
submission is decided here, so that a worker that does not fit gets none, and one that is lost costs the submissions it
was grading one more try elsewhere. A pool lives as long as this process holds the Dask future that stands for it: if
this process is killed, the scheduler lets the future go and the worker closes its pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import platform
import queue
import socket
import tempfile
import threading
import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future as StartFuture
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import dask
from distributed import Client, Future, LocalCluster, Security, WorkerPlugin, get_worker
from distributed.utils import sync
from distributed.versions import VersionMismatchWarning
from distributed.worker import Worker

from autograder import records
from autograder.assignment import digest, grading_files, load_assignment
from autograder.errors import BadAssignment, ClusterFailed, KernelFailed, WrongUse
from autograder.records import CUDA, Assignment, Limits, Report, Submission
from autograder.runs.hidden import hidden_places
from autograder.runs.journal import installed, our_sources
from autograder.runs.pool import TRIES, GradedSubmission, LocalPool, Pool, bounded_pieces, default_workers, not_graded
from autograder.sandbox import own_prefix
from autograder.submissions.intake import StudentFiles

LOGGER = logging.getLogger(__name__)
LOOK_S = 0.5
"""how often the scheduler is asked which workers it has"""
CLOSE_S = 15.0
"""how long a worker may take to close its pool; then it is left to end by itself"""
NAMED = 4
"""differences of a worker that are named; the others are counted"""


@dataclass(frozen=True)
class Cluster:
    """Which Dask cluster grades."""

    scheduler: str = ""
    """an address, or the path of a scheduler file; empty: what Dask's configuration names, else workers started here"""
    workers: int = 0
    """how many workers to start here; 0: one for each core"""


@dataclass(frozen=True)
class Job:
    """What a worker needs to know to grade for a run, beside the files of the assignment."""

    assignment: str
    device: str
    limits: Limits
    """a course may set them outside the assignment's folder"""
    digest: str
    """of the assignment's files"""
    secret: str
    """decides the hidden inputs of this assignment"""
    hidden: tuple[str, ...]
    """places of the machine that runs the command: a shared file system may show them to a worker too"""
    pool: type[LocalPool]


@dataclass
class _Waiting:
    """A submission to grade."""

    number: int
    student_files: StudentFiles
    alone: bool
    """with no other on the same machine"""
    lost: int = 0
    """how often the worker that graded it was lost"""


class _Refused(Exception):
    """A worker that cannot be used; says why."""


class DaskPool(Pool):
    """Judges and kernels on the workers of a Dask cluster."""

    pool = LocalPool
    """what a worker opens"""

    def __init__(
        self, assignment: Assignment, secret: bytes, cluster: Cluster = Cluster(), hidden: Sequence[Path] = ()
    ) -> None:
        self.assignment = assignment
        self.cluster = cluster
        self._files = {name: path.read_bytes() for name, path in grading_files(assignment).items()}
        places = tuple(map(str, hidden))
        self._job = Job(
            assignment.name, assignment.device, assignment.limits, digest(assignment), secret.hex(), places, self.pool
        )
        self._done: queue.SimpleQueue[GradedSubmission | BaseException] = queue.SimpleQueue()
        self._connected: StartFuture[None] = StartFuture()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._main: asyncio.Task[None]
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __enter__(self) -> Self:
        self._thread.start()
        self._connected.result()
        return self

    def __exit__(self, *error: object) -> None:
        self._call(self._main.cancel)
        self._thread.join()

    def _distribute(
        self,
        numbers: Sequence[int],
        student_files: Sequence[StudentFiles],
        *,
        alone: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Iterator[GradedSubmission]:
        for number in numbers:
            self._call(self._waiting.put_nowait, _Waiting(number, student_files[number], alone))
        meanwhile()
        for _ in numbers:
            result = self._done.get()
            if isinstance(result, BaseException):
                raise result
            yield result

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and has said why
            self._loop.call_soon_threadsafe(function, *arguments)

    # -- in a thread of its own, for Dask's clients are made for event loops ------------------------------------------

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._grade())

    async def _grade(self) -> None:
        self._loop, self._waiting = asyncio.get_running_loop(), asyncio.Queue[_Waiting]()
        self._main = asyncio.current_task()  # type: ignore[assignment]  # there is one
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = await self._connect(stack)
                self._connected.set_result(None)
                await self._watch(client)
        except Exception as error:
            if self._connected.done():
                self._done.put(error)
            else:
                self._connected.set_exception(error)

    async def _connect(self, stack: contextlib.AsyncExitStack) -> Client:
        # What differs between our machines is told in our own words; submissions may be large.
        warnings.simplefilter("ignore", VersionMismatchWarning)
        warnings.filterwarnings("ignore", "Sending large graph")
        address = self.cluster.scheduler or dask.config.get("scheduler-address", None)
        if self.cluster.workers or not address:
            started = LocalCluster(
                n_workers=self.cluster.workers or default_workers(),
                threads_per_worker=1,
                memory_limit=0,  # the kernels have limits of their own
                # Else whoever can log in here could have its workers run any program.
                security=Security.temporary(),
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                # Ctrl-C is for this process, which then ends them in order.
                preload=["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
                asynchronous=True,
            )
            cluster = await stack.enter_async_context(started)
            client = Client(cluster, asynchronous=True, set_as_default=False)
        elif address.endswith(".json"):
            if not Path(address).is_file():  # Dask would wait for it
                raise WrongUse(f"--scheduler {address}: no such file. `dask scheduler --scheduler-file` writes one.")
            client = Client(scheduler_file=address, asynchronous=True, set_as_default=False)
        else:
            client = Client(address, asynchronous=True, set_as_default=False)
        try:
            await stack.enter_async_context(client)
        except (OSError, ValueError, TypeError) as error:  # the last for an address with TLS, if none is set up
            await client.close(0)
            raise WrongUse(
                f"--scheduler {address}: no Dask scheduler answers there ({error}). Start one with `dask scheduler` "
                "and give the address that it prints; if it speaks TLS, set Dask's own options, see docs/cluster.md."
            ) from error
        if client.dashboard_link:
            LOGGER.info("Dask's dashboard: %s", client.dashboard_link)
        try:
            theirs = await client.run_on_scheduler(installed_here)
        except Exception as error:
            raise ClusterFailed(_unfit(f"The scheduler {address}", f"it cannot load the grader ({error})")) from error
        if different := differences(installed_here(), theirs):
            raise ClusterFailed(_unfit(f"The scheduler {address}", different))
        return client

    async def _watch(self, client: Client) -> None:
        """Serve every worker that the scheduler has, from when it comes until it goes."""
        files: Future[Any] = client.submit(dict, self._files, key=_key("assignment"))
        serving: dict[str, asyncio.Task[None]] = {}
        refused: dict[str, str] = {}
        try:
            while True:
                try:
                    present = await client.nthreads()
                except (OSError, AttributeError) as error:
                    raise ClusterFailed(
                        f"The connection to Dask's scheduler was lost ({error}). What is graded is kept; start the "
                        "scheduler again, and the same command goes on from here."
                    ) from error
                for address in serving.keys() - present.keys():
                    if address not in refused:
                        LOGGER.warning("Worker %s was lost; what it was grading is graded elsewhere", address)
                    refused.pop(address, None)
                    serving.pop(address).cancel()
                for address in present.keys() - serving.keys():
                    serving[address] = asyncio.create_task(self._serve(client, files, address, present[address]))
                if refused and serving.keys() == refused.keys():
                    raise ClusterFailed(f"None of Dask's workers can grade. {' '.join(refused.values())}")
                await asyncio.sleep(LOOK_S)
                for address, task in serving.items():
                    ended = task.exception() if task.done() and address not in refused else None
                    if isinstance(ended, _Refused):
                        refused[address] = str(ended)
                        LOGGER.warning("%s", ended)
                    elif ended:
                        raise ended
        finally:
            for task in serving.values():
                task.cancel()
            await asyncio.gather(*serving.values(), return_exceptions=True)

    async def _serve(self, client: Client, files: Future[Any], address: str, threads: int) -> None:
        """Have one worker open a pool and grade, until it goes. Raises _Refused, or BadAssignment."""
        try:
            # No task: a worker that cannot load a task's function ends.
            theirs = (await client.run(installed_here, workers=[address]))[address]
        except Exception as error:
            raise _Refused(_unfit(f"Worker {address}", f"it cannot load the grader ({error})")) from error
        name = f"Worker {theirs['worker']} ({address})"
        if different := differences(installed_here(), theirs):
            raise _Refused(_unfit(name, different))
        on_gpu: dict[str, Any] = {"resources": {"GPU": 1}} if self.assignment.device == CUDA else {}
        if on_gpu and not theirs["gpus"]:
            raise _Refused(f"{name} is not used: it offers no GPU. Start it with `dask worker --resources GPU=1`.")
        at_once = min(threads, theirs["gpus"]) if on_gpu else threads
        where: dict[str, Any] = {"workers": [address], "pure": False}
        opened = client.submit(open_pool, files, self._job, key=_key("pool"), **where)
        seats: list[asyncio.Task[None]] = []
        try:
            await opened
            LOGGER.info("%s grades %d at once", name, at_once)
            host = self._hosts[theirs["host"]]
            seats += [asyncio.create_task(self._seat(client, opened, host, where | on_gpu)) for _ in range(at_once)]
            await asyncio.gather(*seats)
        except BadAssignment:
            raise
        except Exception as error:
            raise _Refused(f"{name} is not used any more: {error}") from error
        finally:
            for seat in seats:
                seat.cancel()
            await asyncio.gather(*seats, return_exceptions=True)
            with contextlib.suppress(Exception):  # it may be gone, and its pool with it
                await asyncio.wait_for(client.run(close_pool, opened.key, workers=[address]), CLOSE_S)
            opened.release()

    async def _seat(self, client: Client, opened: Future[str], host: asyncio.Lock, where: Mapping[str, Any]) -> None:
        """Grade one submission after the other on one worker."""
        while True:
            one = await self._waiting.get()
            try:
                async with host if one.alone else contextlib.nullcontext():
                    args = (opened, _in_memory(one.student_files))
                    answer = await client.submit(grade_one, *args, key=_key("grade"), **where)
            except BaseException:  # the worker has gone, cannot grade, or nobody is to grade any more
                self._put_back(one)
                raise
            submission = records.from_data(Submission, answer["submission"])
            self._done.put(GradedSubmission(one.number, submission, records.from_data(Report, answer["report"])))

    def _put_back(self, one: _Waiting) -> None:
        one.lost += 1
        if one.lost < TRIES:
            self._waiting.put_nowait(one)
        else:
            problem = KernelFailed(f"{one.lost} of Dask's workers were lost while they graded it")
            self._done.put(not_graded(one.number, one.student_files, self.assignment, problem))


def _key(kind: str) -> str:
    """A new name for a task. Dask's dashboard shows it, so it says nothing of a student."""
    return f"autograder-{kind}-{uuid.uuid4().hex}"


def _in_memory(student_files: StudentFiles) -> StudentFiles:
    """A submission that can be sent; files that cannot be read reject it."""
    files: dict[str, bytearray] = {}
    try:
        for name, piece in bounded_pieces(student_files):
            files.setdefault(name, bytearray()).extend(piece)
    except OSError as error:
        return replace(student_files, files={}, rejected=str(error))
    return replace(student_files, files={name: bytes(content) for name, content in files.items()})


def _unfit(who: str, finding: str) -> str:
    return f"{who} is not used: {finding}. Install the same requirements.lock and the same copy of the grader there."


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """What is installed on another machine that is not installed here, or the other way round; empty if nothing."""
    here, there = dict(ours["packages"]), dict(theirs["packages"])
    found = []
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            theirs_is, ours_is = there.get(name, "missing"), here.get(name, "missing")
            found.append(f"{name} is {theirs_is} there and {ours_is} here")
    if ours["grader"] != theirs["grader"]:
        found.insert(0, "its copy of autograder, course_lib or data is another one")
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + more


# -- on a worker -----------------------------------------------------------------------------------------------------


def installed_here(dask_worker: Any = None) -> dict[str, Any]:
    """What can change a verdict on this machine, and whose machine it is."""
    _, machine, *distributions = installed()
    packages = {"Python": platform.python_version(), "the processor": machine}
    for one in distributions:
        name, _, packages_version = one.rpartition(".")[0].partition("-")
        packages[name] = packages_version
    worker = str(getattr(dask_worker, "name", ""))  # Dask passes its scheduler by this name too, which has none
    state = getattr(dask_worker, "state", None)
    gpus = getattr(state, "total_resources", {}).get("GPU", 0)
    names = {"worker": worker, "host": socket.gethostname(), "gpus": int(gpus)}
    return {"packages": packages, "grader": our_sources(), **names}


class WarmPool(WorkerPlugin):
    """The pool of one run on one worker: it ends with the worker, or when the run lets go of the task `key`."""

    def __init__(self, files: Mapping[str, bytes], job: Job, key: str) -> None:
        self.name = key
        self.worker: Worker | None = None
        self.folder = tempfile.TemporaryDirectory(prefix=own_prefix("agz-"))
        folder = Path(self.folder.name) / job.assignment
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        assignment = replace(load_assignment(folder, folder), device=job.device, limits=job.limits)
        if digest(assignment) != job.digest:
            raise KernelFailed(f"the assignment {job.assignment} arrived incomplete")
        hidden = [*map(Path, job.hidden), *hidden_places(folder.parent, *_places_of_dask(get_worker()))]
        self.pool = job.pool(assignment, bytes.fromhex(job.secret), 1, hidden)

    def setup(self, worker: Worker) -> None:
        """Called when the worker takes it up."""
        self.worker = worker
        self.pool.__enter__()

    async def teardown(self, worker: Worker) -> None:
        """Called when the worker ends, or takes it off."""
        self.worker = None
        await asyncio.to_thread(self.pool.__exit__)
        self.folder.cleanup()

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """Called for whatever becomes of a task."""
        if key == self.name and finish in ("released", "forgotten", "cancelled") and self.worker:
            worker, self.worker = self.worker, None
            worker.loop.add_callback(worker.plugin_remove, name=self.name)


def _places_of_dask(worker: Worker) -> Iterator[Path]:
    """Where the worker keeps data and the key that it proves itself with."""
    yield Path(worker.local_directory)
    key = worker.security.get_tls_config_for_role("worker")["key"]
    if key and "\n" not in key:
        yield Path(key)


def open_pool(files: Mapping[str, bytes], job: Job) -> str:
    """Open a pool on this worker, and say by which name it is found. Raises BadAssignment or KernelFailed."""
    worker = get_worker()
    warm = WarmPool(files, job, str(worker.get_current_task()))
    sync(worker.loop, worker.plugin_add, plugin=warm, name=warm.name, catch_errors=False)
    warm.pool.warm_up()
    return warm.name


async def close_pool(pool: str, dask_worker: Worker) -> None:
    """Close a pool on this worker."""
    if pool in dask_worker.plugins:
        await dask_worker.plugin_remove(pool)


def grade_one(pool: str, student_files: StudentFiles) -> dict[str, Any]:
    """Grade one submission in this worker's pool."""
    warm: Any = get_worker().plugins[pool]
    graded = warm.pool.grade_one(student_files)
    return {"submission": records.to_data(graded.submission), "report": records.to_data(graded.report)}
