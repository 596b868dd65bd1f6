"""What a training step costs on virtual CUDA, against the plain CPU run and against modes that do nothing.

Empty function and dispatch modes are the floor for anything that watches every operator from Python. All variants run
the same step from the same weights, in turns within one process, so that a busy machine slows them alike; the figures
are medians over the rounds, the ratios medians of each round's ratio.

    python benchmarks/virtual_cuda.py [--out FILE] [--rounds N] [--threads N]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib import virtual_cuda

Step = Callable[[], object]


class EmptyFunctionMode(TorchFunctionMode):
    """Sees every function, does nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class EmptyDispatchMode(TorchDispatchMode):
    """Sees every operator, does nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def empty_modes() -> Iterator[None]:
    """The floor."""
    with EmptyFunctionMode(), EmptyDispatchMode():
        yield


@contextlib.contextmanager
def virtual() -> Iterator[None]:
    """What is measured."""
    with virtual_cuda.session(force=True, quiet=True):
        yield


VARIANTS: dict[str, tuple[str, Callable[[], contextlib.AbstractContextManager[Any]]]] = {
    "cpu": ("cpu", contextlib.nullcontext),
    "empty modes": ("cpu", empty_modes),
    "virtual cuda": ("cuda", virtual),
}


# -- the programs ----------------------------------------------------------------------------------------------------


def mlp() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Linear 20-32-3, batch 64: so small that only overhead counts."""
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
    return model, torch.randn(64, 20), torch.randint(0, 3, (64,))


def transformer() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Two encoder layers, width 256, sequence 64, batch 32."""
    layer = nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.LazyLinear(10))
    x = torch.randn(32, 64, 256)
    model(x)
    return model, x, torch.randint(0, 10, (32,))


def cnn() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Three convolutions with batch normalization on 64x3x32x32."""
    model = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4096, 10)),
    )
    return model, torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))


@dataclass(frozen=True)
class Program:
    """A training step, how often a round repeats it, and what it may cost at most."""

    name: str
    make: Callable[[], tuple[nn.Module, torch.Tensor, torch.Tensor]]
    steps: int
    against: str
    bound: float


PROGRAMS = (
    Program("MLP 20-32-3, batch 64", mlp, 200, "empty modes", 1.6),
    Program("transformer d 256, sequence 64, batch 32", transformer, 2, "cpu", 1.25),
    Program("CNN, 64x3x32x32", cnn, 2, "cpu", 1.1),
)


def training_step(program: Program, device: str) -> Step:
    """The step on `device`, from the same weights and data each time."""
    torch.manual_seed(0)
    model, x, y = program.make()
    model.to(device)
    x, y = x.to(device), y.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


# -- measuring -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One program: milliseconds for each step by variant, and the ratio that was asked about."""

    program: str
    ms: dict[str, float]
    against: str
    ratio: float
    bound: float
    ratio_to_cpu: float


def measure(program: Program, rounds: int) -> Row:
    """All variants in turns."""
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for number in range(rounds + 1):
        for name, (device, context) in VARIANTS.items():
            with context():
                step = training_step(program, device)
                step()
                start = time.perf_counter()
                for _ in range(program.steps):
                    step()
                spent = (time.perf_counter() - start) / program.steps
            if number:  # the first round warms up
                times[name].append(1e3 * spent)

    def ratio(other: str) -> float:
        return statistics.median(a / b for a, b in zip(times["virtual cuda"], times[other], strict=True))

    medians = {name: statistics.median(spent) for name, spent in times.items()}
    return Row(program.name, medians, program.against, ratio(program.against), program.bound, ratio("cpu"))


def show(rows: list[Row]) -> None:
    """The table."""
    table = Table("step", *(f"{name}, ms" for name in VARIANTS), "ratio", "of", "at most", "to the CPU")
    for row in rows:
        times = (f"{row.ms[name]:.3g}" for name in VARIANTS)
        table.add_row(row.program, *times, f"{row.ratio:.2f}", row.against, f"{row.bound}", f"{row.ratio_to_cpu:.2f}")
    Console(width=140).print(table)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch, for one operator")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = [measure(program, options.rounds) for program in PROGRAMS]
    show(rows)
    if options.out:
        host = {"machine": platform.machine(), "python": platform.python_version(), "torch": torch.__version__}
        options.out.write_text(json.dumps({"host": host, "rows": [asdict(r) for r in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
