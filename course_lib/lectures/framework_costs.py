"""One network in several frameworks: the task that all get, and what each version costs in a process of its own.

A version is a function `train(task, log)`: it starts from `task.start`, goes through the batches of `task` in their
order, appends the loss of every step to `log`, and returns its final weights, named as `course_lib.parity` names them.

`python -m course_lib.lectures.framework_costs SOURCE FUNCTION TASK RESULT` runs one version; `measure` starts that and
reads the result. Each gets a new process, because one that has loaded a framework starts the next with warm files,
threads and memory.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import inspect
import io
import json
import linecache
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.frameworks import QUIET

__all__ = ["Cost", "Log", "Task", "Version", "lines_of_code", "measure", "peak_bytes", "version"]

Arrays = dict[str, np.ndarray]

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    **dict.fromkeys(("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
"""environment variables under which each framework computes on one thread"""

COUNTED = 10
"""steps over which calls of Python functions are counted"""


@dataclass(frozen=True)
class Task:
    """What every version gets: data in the order of use, the weights to start from, and the settings."""

    x: np.ndarray
    """`(n, features)`; its dtype is that of the whole training"""
    y: np.ndarray
    """`(n,)`, class numbers"""
    x_test: np.ndarray
    y_test: np.ndarray
    start: Mapping[str, np.ndarray]
    """"0.kernel" `(features, hidden)`, "0.bias", "1.kernel" `(hidden, classes)`, "1.bias" """
    epochs: int = 10
    batch: int = 50
    lr: float = 0.125
    momentum: float = 0.875

    @property
    def hidden(self) -> int:
        """How wide the hidden layer is."""
        return len(self.start["0.bias"])

    @property
    def steps(self) -> int:
        """Batches in an epoch, the last of which may be smaller."""
        return -(-len(self.x) // self.batch)

    def batches(self, epochs: int | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All batches of the training, or of `epochs`, as slices of `x` and `y`: not copied, not shuffled."""
        for _ in range(self.epochs if epochs is None else epochs):
            for first in range(0, len(self.x), self.batch):
                yield self.x[first : first + self.batch], self.y[first : first + self.batch]

    def cast(self, dtype: str) -> Task:
        """The same task with data and weights of another dtype."""
        start = {name: array.astype(dtype) for name, array in self.start.items()}
        return dataclasses.replace(self, x=self.x.astype(dtype), x_test=self.x_test.astype(dtype), start=start)


class Log(list[float]):
    """A list of losses that looks at the clock whenever one is appended."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = time.perf_counter()
        self.times: list[float] = []
        """seconds from the start to each append"""

    def append(self, loss: float) -> None:
        super().append(float(loss))
        self.times.append(time.perf_counter() - self.begun)

    def best_epoch(self, steps: int) -> float:
        """The shortest time in seconds for `steps` steps, from the second epoch on."""
        ends = np.array(self.times[steps - 1 :: steps])
        if len(ends) < 2:
            raise ValueError(f"best_epoch: {len(self)} losses are less than two epochs of {steps}")
        return float(np.diff(ends).min())


@dataclass(frozen=True)
class Version:
    """One way to write the training."""

    train: Callable[[Task, Any], Arrays]
    source: str
    """all that the function needs, imports included, as text"""

    @property
    def lines(self) -> int:
        """Lines of code of the source, by the rule of `lines_of_code`."""
        return lines_of_code(self.source)


@dataclass(frozen=True)
class Cost:
    """What a version took in a process of its own, beyond Python and NumPy, which are there before the clock runs."""

    imports: float
    """seconds for the imports and definitions"""
    first: float
    """seconds from the call to the first loss: building, tracing and compiling included"""
    epoch: float
    """seconds for an epoch: the best of two trainings, from the second epoch on"""
    calls: float
    """calls of Python functions in a step"""
    peak: float
    """bytes that the process held at most; NaN where the system does not say"""
    losses: tuple[float, ...]


def version(train: Callable[[Task, Any], Arrays], *parts: object, imports: str) -> Version:
    """Put together what `train` needs: its import lines, the functions and classes it calls, and `train` itself.

    Their sources are those of the notebook's cells; docstrings are left out, so that they do not count as code.
    """
    pieces = [_without_docstrings(textwrap.dedent(_source_of(part))) for part in (*parts, train)]
    return Version(train, "\n\n\n".join([imports.strip(), *pieces]))


def _source_of(part: Any) -> str:
    """The source of a function or class; of a class from a notebook's cell by way of a method, since it has no file."""
    part = inspect.unwrap(part)
    if not inspect.isclass(part):
        return inspect.getsource(part)
    method = next(value for value in vars(part).values() if inspect.isfunction(value))
    text = "".join(linecache.getlines(method.__code__.co_filename))
    found = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == part.__name__
    ]
    return ast.get_source_segment(text, found[-1]) or ""


def _without_docstrings(source: str) -> str:
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None and node.body[1:]:
            first = node.body[0]
            lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)  # type: ignore[operator]
    return "\n".join(lines)


def lines_of_code(source: str) -> int:
    """Lines that hold code: neither blank nor a comment alone. Imports count, a long string counts whole."""
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    spans = (range(token.start[0], token.end[0] + 1) for token in tokens if token.type not in nothing)
    return len({line for span in spans for line in span})


def measure(version: Version, task: Task) -> Cost:
    """Train `version` on `task` in a new process, on one thread, and say what it took.

    Raises RuntimeError with the end of what the process said if it failed, ValueError for a task of one epoch.
    """
    if task.epochs < 2:
        raise ValueError("measure: give the task two epochs or more; the first one warms up")
    with tempfile.TemporaryDirectory() as folder:
        source, data, result = Path(folder, "version.py"), Path(folder, "task.npz"), Path(folder, "result.json")
        source.write_text(version.source, encoding="utf-8")
        _save(task, data)
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "course_lib.lectures.framework_costs",
                str(source),
                version.train.__name__,
                str(data),
                str(result),
            ],
            env={**QUIET, **os.environ, **ONE_THREAD, "PYTHONPATH": paths},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"measure: the process ended with {done.returncode}: {done.stderr[-800:]}")
        found = json.loads(result.read_text(encoding="utf-8"))
    return Cost(**{**found, "losses": tuple(found["losses"])})


def peak_bytes() -> float:
    """The most memory that this process has held so far, or NaN where the system does not say.

    On Linux this is not `getrusage`: what that returns after a program is started is never less than what the process
    that started it held.
    """
    if sys.platform == "linux":
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="ignore").splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024
    if sys.platform == "darwin":
        import resource

        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return float("nan")


class _Counting(Log):
    """Notes the peak of memory after `after` losses, and counts calls of Python functions in the steps that follow."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after, self.called, self.peak = after, 0, float("nan")

    def append(self, loss: float) -> None:
        super().append(loss)
        if len(self) == self.after:
            self.peak = peak_bytes()
        elif len(self) == self.after + 1:
            sys.setprofile(self._count)
        elif len(self) == self.after + 1 + COUNTED:
            sys.setprofile(None)

    def _count(self, frame: object, event: str, argument: object) -> None:
        self.called += event == "call"


def _main(source: str, function: str, data: str, result: str) -> None:
    task = _load(Path(data))
    begun = time.perf_counter()
    spec = importlib.util.spec_from_file_location("version", source)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["version"] = module
    spec.loader.exec_module(module)
    imports = time.perf_counter() - begun

    timed = task.epochs * task.steps
    more = -(-(COUNTED + 1) // task.steps)
    log = _Counting(timed)
    getattr(module, function)(dataclasses.replace(task, epochs=task.epochs + more), log)
    log.times = log.times[:timed]
    again = Log()  # on a shared machine, something may have slowed down all epochs of the first training
    getattr(module, function)(task, again)
    found = {
        "imports": imports,
        "first": log.times[0],
        "epoch": min(log.best_epoch(task.steps), again.best_epoch(task.steps)),
        "calls": log.called / COUNTED,
        "peak": log.peak,
        "losses": log[:timed],
    }
    Path(result).write_text(json.dumps(found), encoding="utf-8")


def _save(task: Task, path: Path) -> None:
    arrays: dict[str, Any] = {"x": task.x, "y": task.y, "x_test": task.x_test, "y_test": task.y_test}
    arrays |= {f"start {name}": array for name, array in task.start.items()}
    np.savez(path, settings=np.array([task.epochs, task.batch, task.lr, task.momentum]), **arrays)


def _load(path: Path) -> Task:
    with np.load(path) as file:
        start = {name.removeprefix("start "): file[name] for name in file.files if name.startswith("start ")}
        epochs, batch, lr, momentum = file["settings"].tolist()
        x, y, x_test, y_test = (file[name] for name in ("x", "y", "x_test", "y_test"))
        return Task(x, y, x_test, y_test, start, int(epochs), int(batch), lr, momentum)


if __name__ == "__main__":
    _main(*sys.argv[1:])
