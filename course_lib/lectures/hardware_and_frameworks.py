"""The exercises of lecture 01: a check for each, and the solution that the lecture continues with until it is right.

Each check calls the attempt on small inputs and names the mistake that fits. `FRAMEWORKS` has the years of the
frameworks, which the lecture draws and its extra tells, and `NVIDIA_SMI` an example of what that command prints.
"""

# The solutions have no annotations, as in a notebook.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

__all__ = [
    "FRAMEWORKS",
    "NVIDIA_SMI",
    "check_chain_bound",
    "check_gpu_gain",
    "check_loss_and_gradient",
    "check_matmul_loops",
    "check_matmul_rows",
    "check_median_seconds",
    "check_nanoseconds",
    "check_product_bound",
    "check_smallest_batch",
    "check_training_plan",
]

torch: Any = None
"""set by the check that needs it"""

Solution = Callable[..., Any]

FRAMEWORKS: tuple[tuple[str, int, int | None, str, str], ...] = (
    ("MATLAB NN Toolbox", 1992, None, "MathWorks", "now the Deep Learning Toolbox"),
    ("Torch", 2002, 2017, "Idiap, then NYU, Facebook and others", "its core became PyTorch's"),
    ("OpenNN", 2003, None, "CIMNE Barcelona, then Artelnics", "a C++ library, still maintained"),
    ("Theano", 2007, 2017, "Université de Montréal", "MILA stopped; forks: Aesara, PyTensor"),
    ("Caffe", 2013, 2017, "UC Berkeley, Yangqing Jia", "followed by Caffe2"),
    ("DL4J", 2014, 2022, "Skymind, for Java", "an Eclipse project; last release"),
    ("Neon", 2015, 2018, "Nervana", "bought by Intel, discontinued"),
    ("Keras", 2015, None, "François Chollet", "runs on TensorFlow, PyTorch and JAX"),
    ("CNTK", 2015, 2019, "Microsoft", "last release, 2.7"),
    ("Chainer", 2015, 2019, "Preferred Networks", "its makers moved to PyTorch"),
    ("MXNet", 2015, 2023, "DMLC, then Apache and Amazon", "retired to the Apache Attic"),
    ("TensorFlow", 2015, None, "Google", "redesigned as 2.0 in 2019"),
    ("PaddlePaddle", 2016, None, "Baidu", "widely used in China"),
    ("PyTorch", 2017, None, "Facebook (Meta)", "Linux Foundation since 2022"),
    ("Caffe2", 2017, 2018, "Facebook", "merged into PyTorch"),
    ("ONNX", 2017, None, "Facebook and Microsoft", "a file format, not a framework"),
    ("fast.ai", 2018, None, "Jeremy Howard, Sylvain Gugger", "a layer on top of PyTorch"),
    ("JAX", 2018, None, "Google", "NumPy with gradients and a compiler"),
)
"""name, first release, end of development (None: it goes on), made by, what became of it; as of November 2026"""

NVIDIA_SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.82.07              Driver Version: 580.82.07      CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  Tesla T4                       Off |   00000000:00:04.0 Off |                    0 |
| N/A   71C    P0             68W /   70W |   13102MiB /  15360MiB |     23%      Default |
+-----------------------------------------+------------------------+----------------------+
"""
"""what the command prints while a program trains on a T4: example values"""


machines = {"CPU": {"cores": 16, "GHz": 4.3}, "GPU": {"cores": 21_760, "GHz": 2.407}}
"""as in the notebook: its `nanoseconds` finds them there"""

peak = {"CPU": 16 * 4.3e9 * 32 * 2, "GPU": 21_760 * 2.407e9 * 1 * 2}
bandwidth = {"CPU": 89.6e9, "GPU": 1792e9}
"""operations and bytes per second, as in the notebook: its `gpu_gain` finds them there"""


# --- solutions, as the notebook has them ---


def nanoseconds(machine, tasks):
    """How long the "CPU" or the "GPU" takes for so many independent tasks, in nanoseconds."""
    cores = machines[machine]["cores"]
    ticks_per_ns = machines[machine]["GHz"]  # one GHz is a billion ticks per second
    rounds = np.ceil(tasks / cores)
    return rounds / ticks_per_ns


def median_seconds(function, repeats=15):
    """Seconds that function() takes: the median of `repeats` timed calls, after one call that is not timed."""
    function()  # warm up
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        stop = time.perf_counter()
        times.append(stop - start)
    return np.median(times)


def matmul_loops(a, b):
    """a: (m, k), b: (k, n). Return their matrix product, (m, n), one multiplication at a time."""
    m = a.shape[0]
    k = a.shape[1]
    n = b.shape[1]
    c = np.zeros((m, n))
    for i in range(m):
        for j in range(n):
            for p in range(k):
                c[i, j] += a[i, p] * b[p, j]
    return c


def matmul_rows(a, b):
    """a: (m, k), b: (k, n). Return their matrix product, (m, n), with a loop over the rows of a only, without @."""
    m = a.shape[0]
    n = b.shape[1]
    c = np.zeros((m, n))
    for i in range(m):
        column = a[i][:, None]  # (k, 1)
        products = column * b  # (k, n)
        c[i] = products.sum(axis=0)
    return c


def product_bound(m, k, n, itemsize, flops, bandwidth):
    """The least time of (m, k) @ (k, n), with itemsize bytes per number.

    flops: operations per second. bandwidth: bytes per second. Returns seconds (a number) and the limit, "compute" or
    "memory".
    """
    operations = 2 * m * k * n
    numbers = m * k + k * n + m * n
    nbytes = numbers * itemsize
    compute_s = operations / flops
    memory_s = nbytes / bandwidth
    if compute_s > memory_s:
        return compute_s, "compute"
    else:
        return memory_s, "memory"


def chain_bound(n, steps, fused, flops, bandwidth):
    """The least time in seconds of `steps` operations on each of n float32 numbers, one after the other.

    fused: True if all steps are one operation; False if each step reads its input from memory and writes its result.
    """
    operations = steps * n
    transfers = 2  # one vector is read, one is written
    if not fused:
        transfers = 2 * steps
    nbytes = transfers * n * 4
    compute_s = operations / flops
    memory_s = nbytes / bandwidth
    return max(compute_s, memory_s)


def smallest_batch(width, itemsize, flops, bandwidth):
    """The smallest batch for which (batch, width) @ (width, width) is limited by compute (at most 100,000)."""
    for batch in range(1, 100_001):
        bound = product_bound(batch, width, width, itemsize, flops, bandwidth)
        if bound[1] == "compute":
            return batch


def gpu_gain(m, k, n):
    """The time of (m, k) @ (k, n) on the CPU, divided by that on the GPU, copies included: above 1, the GPU helps."""
    nbytes = 4 * (m * k + k * n + m * n)  # of all three matrices
    bus = 63e9  # bytes per second
    copy_s = nbytes / bus
    gpu_s, _ = product_bound(m, k, n, 4, peak["GPU"], bandwidth["GPU"])
    cpu_s, _ = product_bound(m, k, n, 4, peak["CPU"], bandwidth["CPU"])
    return cpu_s / (copy_s + gpu_s)


def training_plan(parameters, examples, memory_gb, peak, utilization, price):
    """Plan a training run in float32 with Adam. examples: how many are processed in all, repetitions included.

    Each GPU has memory_gb GB, peak FLOP/s, of which the fraction utilization is reached, and costs price dollars an
    hour. Returns the number of GPUs (int), the hours, and the dollars for all GPUs.
    """
    nbytes = 16 * parameters
    gpus = int(np.ceil(nbytes / (memory_gb * 1e9)))
    operations = 6 * parameters * examples
    seconds = operations / (gpus * peak * utilization)
    hours = seconds / 3600
    dollars = gpus * hours * price
    return gpus, hours, dollars


def loss_and_gradient(x, W, targets, device):
    """The mean squared difference between the scores x @ W and the targets, and its gradient, computed on `device`.

    x: (n, 64), W: (64, 10), targets: (n, 10), all NumPy arrays. Returns a Python number and a NumPy array, (64, 10).
    """
    images = torch.tensor(x, device=device)
    wanted = torch.tensor(targets, device=device)
    weights = torch.tensor(W, device=device, requires_grad=True)
    scores = images @ weights
    squares = (scores - wanted) ** 2
    loss = squares.mean()
    loss.backward()
    gradient = weights.grad.cpu().numpy()
    return loss.item(), gradient


# --- checks ---


def _close(value: object, wanted: float) -> bool:
    return bool(np.isclose(float(value), wanted, rtol=1e-6, atol=0))  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def check_nanoseconds(attempt: Solution) -> Solution:
    """Whether `attempt(machine, tasks)` is the time of the first model; the attempt if so, else ours."""

    def ticks(tasks: Any, machine: str = "CPU") -> Any:
        return attempt(machine, tasks) * machines[machine]["GHz"]

    def takes_arrays() -> bool:
        try:
            return bool(np.allclose(ticks(np.array([1, 16, 33])), [1, 1, 3]))
        except (TypeError, ValueError):
            return False

    return attempt_or_solution(
        "nanoseconds",
        attempt,
        nanoseconds,
        (lambda: attempt("CPU", 1) is not None, NOTHING_RETURNED),
        (lambda: _is_number(attempt("CPU", 1)), "Return one number, the nanoseconds."),
        (
            lambda: ticks(1) != 0,
            "A single task takes no time. One task needs a whole round, so round up, with `np.ceil`.",
        ),
        (
            lambda: not _close(ticks(1), 1 / 16),
            "A single task takes a sixteenth of a tick. It runs on one core, and the others cannot help, so it needs a "
            "whole round: round up, with `np.ceil`.",
        ),
        (
            lambda: not any(_close(ticks(1), by) and _close(ticks(17), 2 * by) for by in (1e-9, 1e9)),
            "There is a factor of a billion too much or too little. `ticks_per_ns` already counts ticks in one "
            "nanosecond.",
        ),
        (
            lambda: not (_close(ticks(1), 4.3**2) and _close(ticks(17), 2 * 4.3**2)),
            "You multiply by the ticks per nanosecond. With more ticks in a nanosecond a round is shorter, so divide.",
        ),
        (
            lambda: not (_close(ticks(1), 4.3) and _close(ticks(17), 8.6)),
            "These are the rounds. Each takes one tick; divide by the ticks per nanosecond.",
        ),
        (
            lambda: not (_close(ticks(1), 1) and _close(ticks(17), 17)),
            "The cores compute side by side: in one round, every core completes one task. Did you use `cores`?",
        ),
        (
            lambda: not _close(ticks(16), 2),
            "16 tasks take two rounds, but 16 cores complete them in one. Round up with `np.ceil`.",
        ),
        (
            lambda: _close(ticks(1), 1) and _close(ticks(17), 2),
            "On the CPU, 1 task should take one round and 17 tasks two, each 1 / 4.3 nanoseconds long.",
        ),
        (takes_arrays, "It is right for one number of tasks. Use `np.ceil`, which takes an array, too."),
        (
            lambda: _close(ticks(21_761, "GPU"), 2),
            "It is right for the CPU only. Use `cores` and `ticks_per_ns`, which are those of the machine.",
        ),
    )


class _Work:
    """A function that sleeps for the next of `pauses` seconds at each call, and for none after the last."""

    def __init__(self, pauses: Sequence[float]) -> None:
        self.pauses, self.calls = list(pauses), 0

    def __call__(self) -> None:
        if self.calls < len(self.pauses):
            time.sleep(self.pauses[self.calls])
        self.calls += 1


def check_median_seconds(attempt: Solution) -> Solution:
    """Whether `attempt(function, repeats)` is a fair timer; the attempt if so, else ours."""

    def timed(*pauses: float) -> Any:
        return attempt(_Work(pauses), len(pauses) - 1)

    def calls(repeats: int) -> int:
        work = _Work([])
        attempt(work, repeats)
        return work.calls

    return attempt_or_solution(
        "median_seconds",
        attempt,
        median_seconds,
        (lambda: timed(0, 0, 0, 0) is not None, NOTHING_RETURNED),
        (lambda: _is_number(timed(0, 0, 0, 0)), "Return one number, not a list of times: the median of the list."),
        (lambda: calls(7) > 0, "`function` is never called. Call it with `function()`."),
        (
            lambda: calls(7) != calls(4),
            "With repeats=7 there are as many calls as with repeats=4. Use `repeats` for the length of the loop, call "
            "`function()` in it, with parentheses, and return only after the loop.",
        ),
        (
            lambda: calls(7) != 7,
            "`function` is called `repeats` times in all. One more call should warm up: one call before the loop, and "
            "then `repeats` timed ones.",
        ),
        (
            lambda: calls(7) == 8,
            "With repeats=7 there should be 8 calls: one to warm up, and then seven, each with its own start and stop.",
        ),
        (lambda: timed(0, 0.02, 0.02, 0.02) > 0, "A duration is the later reading of the clock minus the earlier one."),
        (lambda: timed(0, 0.02, 0.02, 0.02) < 2, "Return seconds: that is what `time.perf_counter()` counts in."),
        (
            lambda: timed(0, 0.02, 0.02, 0.02) > 0.001,
            "Three timed calls took 0.02 seconds each, and your result is almost 0. Call `function()` between the two "
            "readings of the clock.",
        ),
        (
            lambda: timed(0.1, 0) < 0.03,
            "The first call took a tenth of a second, the second none, and your result contains the first one. Start "
            "the clock after the call that warms up.",
        ),
        (
            lambda: not timed(0, 0.02, 0.02, 0.02, 0.02, 0.02) > 0.05,
            "Five timed calls took 0.02 seconds each, and your result is longer. Read the start again before each "
            "call, inside the loop, and do not add up the durations.",
        ),
        (
            lambda: timed(0, 0, 0, 0.2, 0, 0) < 0.02,
            "Five calls were timed. One took 0.2 seconds and the others none, and your result is far from 0, as the "
            "mean or the maximum would be. The median ignores one slow call. Do you sort the times "
            "before you take the middle one?",
        ),
        (
            lambda: timed(0, 0.03, 0, 0.03, 0.03, 0) > 0.015,
            "Five calls were timed: three took 0.03 seconds and two none. The median is 0.03; your result is smaller, "
            "as the minimum or a mean would be. Is the list made before the loop?",
        ),
    )


def _matrices(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Values in steps of a quarter, so that every sum is exact."""
    rng = np.random.default_rng(m + 10 * k + 100 * n)
    return rng.integers(1, 20, (m, k)) / 4, rng.integers(1, 20, (k, n)) / 4


SMALL, OTHER = (2, 3, 4), ((5, 6, 7), (1, 6, 1), (4, 2, 3))
"""shapes (m, k, n) to try"""


def _matmul_tests(attempt: Solution) -> list[tuple[Callable[[], object], str]]:
    def result(shape: tuple[int, int, int] = SMALL) -> np.ndarray:
        return np.asarray(attempt(*_matrices(*shape)))

    def wanted(shape: tuple[int, int, int] = SMALL) -> np.ndarray:
        a, b = _matrices(*shape)
        return np.asarray(a @ b)

    def right(shape: tuple[int, int, int]) -> bool:
        return bool(result(shape).shape == wanted(shape).shape and np.allclose(result(shape), wanted(shape)))

    def last_only() -> np.ndarray:
        a, b = _matrices(*SMALL)
        return np.asarray(a[:, -1:] * b[-1:])

    def leaves_its_inputs() -> bool:
        a, b = _matrices(*SMALL)
        attempt(a, b)
        return all(np.array_equal(x, y) for x, y in zip((a, b), _matrices(*SMALL), strict=True))

    return [
        (lambda: attempt(*_matrices(*SMALL)) is not None, NOTHING_RETURNED),
        (
            lambda: result().shape == (2, 4),
            "For a (2, 3) and b (3, 4), the result should have the shape (2, 4): a row for each row of a, a column for "
            "each column of b.",
        ),
        (
            lambda: not np.allclose(result(), last_only()),
            "Each entry holds its last product only. Every entry is a sum of k products, so add them up.",
        ),
        (
            lambda: result().dtype.kind not in "iu",
            "The decimals are lost, because the array that you fill has an integer dtype.",
        ),
        (
            lambda: result()[-1, -1] != 0,
            "The last entry is still 0. Are all entries filled before `return`? It may be indented too far.",
        ),
        (
            lambda: np.allclose(result(), wanted()) or not np.isclose(result()[0, 0], wanted()[0, 0]),
            "c[0, 0] is right, other entries are not. c[i, j] is made of row i of a and column j of b alone, and its "
            "sum starts at 0.",
        ),
        (
            lambda: np.allclose(result(), wanted()),
            "The shape is right, the values are not. c[0, 0] should be a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0] + ...: "
            "row 0 of a with column 0 of b.",
        ),
        (leaves_its_inputs, "Your function changes a or b. Write the result into a new array."),
        (
            lambda: all(map(right, OTHER)),
            "It is right for a (2, 3) and b (3, 4) but not for other shapes. Take all sizes from a.shape and b.shape.",
        ),
    ]


class _Watched(np.ndarray):
    """An array that counts how often it is indexed, and notes NumPy's own matrix products, and products of arrays."""

    indexed = 0
    multiplied = False
    at_once = False

    def __getitem__(self, place: Any) -> Any:
        _Watched.indexed += 1
        return super().__getitem__(place)

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        _Watched.multiplied |= ufunc is np.matmul
        _Watched.at_once |= ufunc is np.multiply and any(np.ndim(value) > 0 for value in inputs)
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return result.view(_Watched) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _Watched.multiplied |= function in (np.dot, np.inner, np.vdot, np.einsum, np.tensordot)
        return super().__array_function__(function, types, args, kwargs)


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Watched) else value


def _watched(attempt: Solution) -> type[_Watched]:
    """What `attempt` did to two watched matrices."""
    a, b = _matrices(4, 30, 40)
    _Watched.indexed, _Watched.multiplied, _Watched.at_once = 0, False, False
    attempt(a.view(_Watched), b.view(_Watched))
    return _Watched


def check_matmul_loops(attempt: Solution) -> Solution:
    """Whether `attempt(a, b)` is the matrix product, by single multiplications; the attempt if so, else ours."""
    return attempt_or_solution(
        "matmul_loops",
        attempt,
        matmul_loops,
        *_matmul_tests(attempt),
        (
            lambda: not _watched(attempt).multiplied,
            "The values are right, but NumPy's own matrix product computes them. Write the three loops.",
        ),
        (
            lambda: not _watched(attempt).at_once,
            "The values are right, but NumPy multiplies many numbers at once. Let the innermost of three loops "
            "multiply one pair of numbers.",
        ),
    )


def check_matmul_rows(attempt: Solution) -> Solution:
    """Whether `attempt(a, b)` is the matrix product with one loop over the rows; the attempt if so, else ours."""
    return attempt_or_solution(
        "matmul_rows",
        attempt,
        matmul_rows,
        *_matmul_tests(attempt),
        (
            lambda: not _watched(attempt).multiplied,
            "The values are right, but NumPy's own matrix product computes them. Use `*` and a sum.",
        ),
        (
            lambda: _watched(attempt).indexed < 150,
            "The values are right, but there is still a loop over columns or over single products. Compute all n "
            "entries of row i at once.",
        ),
    )


def check_product_bound(attempt: Solution) -> Solution:
    """Whether `attempt(m, k, n, itemsize, flops, bandwidth)` is the roofline's bound; the attempt if so, else ours."""

    # 600 by 600 in 4 bytes: 432e6 operations and 4.32e6 bytes.
    def compute() -> Any:
        return attempt(600, 600, 600, 4, 4.32e8, 4.32e12)

    def memory(itemsize: int = 4) -> Any:
        return attempt(600, 600, 600, itemsize, 4.32e14, 4.32e6)

    return attempt_or_solution(
        "product_bound",
        attempt,
        product_bound,
        (
            lambda: compute() is not None and memory() is not None,
            "Your function returns None. Is there a `return` on every path?",
        ),
        (
            lambda: isinstance(compute(), tuple | list) and len(compute()) == 2,
            'Return two things, the seconds and the limit: `return compute_s, "compute"`.',
        ),
        (lambda: not isinstance(compute()[0], str), "The seconds come first, then the limit."),
        (
            lambda: not _close(compute()[0], 1e-6) and not _close(memory()[0], 1e-6),
            "That is the shorter of the two times. The operation is finished only when the slower part is.",
        ),
        (
            lambda: not _close(compute()[0], 1e6) and not _close(memory()[0], 1e6),
            "You divide by the wrong one of two numbers. The seconds are operations / flops, and bytes / bandwidth.",
        ),
        (
            lambda: compute()[0] < 1e12,
            "You multiply where you should divide. The seconds are operations / flops, and bytes / bandwidth.",
        ),
        (
            lambda: not _close(compute()[0], 0.5),
            "The time for the arithmetic is half of what it should be: a multiplication and an addition are two "
            "operations.",
        ),
        (
            lambda: not (_close(attempt(600, 600, 600, 4, 4.32e8, 4.32e6)[0], 2) and memory()[0] > 1),
            "You add the two times. Computing and loading go on at the same time, so the longer one counts.",
        ),
        (
            lambda: not _close(compute()[0], 1199 / 1200),
            "You count one addition less for each entry than multiplications. A computer starts the sum at 0, as the "
            "three loops do, so count both `k` times.",
        ),
        (
            lambda: not (compute()[0] > 2 and compute()[1] == "memory"),
            "Here the memory moves 4.32e12 bytes per second, and still you find it slower than the arithmetic: that is "
            "far too many bytes. *Add* the numbers of the three matrices, and multiply by `itemsize`.",
        ),
        (
            lambda: not _close(compute()[0], 4),
            "The time for the arithmetic is 4 times what it should be, and a number takes 4 bytes here. Multiply the "
            "numbers by `itemsize`, not the operations.",
        ),
        (
            lambda: _close(compute()[0], 1),
            "For 600 by 600 matrices and 432,000,000 operations per second, the arithmetic takes 1 second. How many "
            "operations does each of the m * n entries need?",
        ),
        (
            lambda: not _close(memory()[0], 2 / 3),
            "The time for memory is two thirds of what it should be: the result must be written, too.",
        ),
        (
            lambda: not _close(memory()[0], 1 / 4),
            "The time for memory is a quarter of what it should be here, where a number takes 4 bytes: multiply by "
            "`itemsize`.",
        ),
        (
            lambda: _close(memory()[0], 1),
            "For 600 by 600 matrices of 4 bytes per number and 4,320,000 bytes per second, memory takes 1 second. "
            "How many numbers do the three matrices have? Each of them counts once.",
        ),
        (
            lambda: _close(memory(2)[0], 0.5),
            "With 2 bytes per number, memory takes half as long as with 4. Did you use `itemsize`?",
        ),
        (
            lambda: (compute()[1], memory()[1]) != ("memory", "compute"),
            "The two limits are exchanged: if the arithmetic takes longer, the limit is compute.",
        ),
        (
            lambda: (compute()[1], memory()[1]) == ("compute", "memory"),
            'The seconds are right. The limit should be the string "compute" or the string "memory", whichever takes '
            "longer.",
        ),
        (
            lambda: _close(attempt(2, 3, 5, 4, 1, 1e9)[0], 60) and _close(attempt(2, 3, 5, 4, 1e9, 1)[0], 124),
            "It is right for square matrices only. (2, 3) @ (3, 5) needs 60 operations and 31 numbers: which matrix "
            "has which shape?",
        ),
    )


def check_chain_bound(attempt: Solution) -> Solution:
    """Whether `attempt(n, steps, fused, flops, bandwidth)` is the bound of a chain; the attempt if so, else ours."""

    # A million numbers. On these machines one step's arithmetic takes a second, or reading and writing them does.
    def compute(steps: int, fused: bool) -> Any:
        return attempt(1_000_000, steps, fused, 1e6, 8e15)

    def memory(steps: int, fused: bool) -> Any:
        return attempt(1_000_000, steps, fused, 1e15, 8e6)

    return attempt_or_solution(
        "chain_bound",
        attempt,
        chain_bound,
        (
            lambda: memory(1, True) is not None and memory(1, False) is not None,
            "Your function returns None. Is there a `return` on every path?",
        ),
        (lambda: _is_number(memory(1, True)), "Return one number, the seconds."),
        (
            lambda: not _close(memory(1, True), 1e-9) and not _close(compute(1, True), 1e-9),
            "That is the shorter of the two times. The operation is finished only when the slower part is.",
        ),
        (
            lambda: not _close(memory(1, True), 1e9) and not _close(compute(1, True), 1e9),
            "You divide by the wrong one of two numbers. The seconds are operations / flops, and bytes / bandwidth.",
        ),
        (
            lambda: not _close(memory(1, True), 0.5),
            "The time for memory is half of what it should be: each number is read and its result written, 4 bytes "
            "each.",
        ),
        (
            lambda: not _close(memory(1, True), 0.25),
            "The time for memory is a quarter of what it should be: a float32 number has 4 bytes.",
        ),
        (
            lambda: not (_close(memory(1, True), 1 + 1e-9) and _close(attempt(1_000_000, 1, True, 1e6, 8e6), 2)),
            "You add the two times. Computing and loading go on at the same time, so the longer one counts.",
        ),
        (
            lambda: _close(memory(1, True), 1),
            "For a single step on a million numbers and 8,000,000 bytes per second, memory takes 1 second. How many "
            "bytes are read, and how many written?",
        ),
        (
            lambda: not (_close(memory(3, True), 3) and _close(memory(3, False), 1)),
            "The two cases are exchanged: the fused operation is the one that reads and writes only once.",
        ),
        (
            lambda: not (_close(memory(3, True), 1) and _close(memory(3, False), 1)),
            "Three separate steps move as many bytes as one. Without fusion, each step reads its input and writes its "
            "result.",
        ),
        (
            lambda: not _close(memory(3, False), 2),
            "Three separate steps should take the memory 3 seconds. Each of them reads a vector *and* writes one.",
        ),
        (
            lambda: _close(memory(3, False), 3),
            "A separate step takes the memory 1 second here, so three of them take 3 seconds.",
        ),
        (
            lambda: not _close(memory(3, True), 2),
            "A fused operation keeps the results between its steps in the processor. Only the first input is read, "
            "and only the last result is written.",
        ),
        (
            lambda: _close(memory(3, True), 1),
            "A fused operation of three steps should take the memory as long as one step. What does it read, and what "
            "does it write?",
        ),
        (
            lambda: not _close(compute(3, True), 1) and not _close(compute(3, False), 1),
            "Three steps take as much arithmetic as one. Fused or not, each step does one operation for each number.",
        ),
        (
            lambda: _close(compute(3, True), 3) and _close(compute(3, False), 3),
            "For three steps on a million numbers and 1,000,000 operations per second, the arithmetic takes 3 seconds, "
            "fused or not.",
        ),
        (
            lambda: _close(attempt(500, 4, False, 1e9, 1e3), 16) and _close(attempt(500, 4, True, 1e2, 1e9), 20),
            "It is right for a million numbers only. Did you use `n`, `flops` and `bandwidth`?",
        ),
    )


H100 = 989e12, 3.35e12


def check_smallest_batch(attempt: Solution) -> Solution:
    """Whether `attempt(width, itemsize, flops, bandwidth)` is where compute becomes the limit; if not, ours."""
    return attempt_or_solution(
        "smallest_batch",
        attempt,
        smallest_batch,
        (
            lambda: attempt(4096, 2, *H100) is not None,
            "Your function returns None. Return the batch as soon as the second value that `product_bound` returns is "
            "'compute'.",
        ),
        (lambda: _is_number(attempt(4096, 2, *H100)), "Return one number: the batch, not the pair of product_bound."),
        (lambda: attempt(4096, 2, *H100) != 344, "344 is the last batch that is limited by memory. Return the next."),
        (
            lambda: attempt(4096, 2, *H100) != 512,
            "512 is the first power of two. Between 256 and 512 are smaller batches that are limited by compute.",
        ),
        (
            lambda: attempt(4096, 2, *H100) != 1,
            "With batch 1 the limit is still memory. Look at the second value that product_bound returns.",
        ),
        (
            lambda: not 295 <= attempt(4096, 2, *H100) <= 296,
            "About 295 is the ridge of the H100. It is right if only the weights are moved, but the examples and the "
            "results take time, too. Ask product_bound for each batch.",
        ),
        (
            lambda: attempt(4096, 2, *H100) == 345,
            "For a width of 4096 and an H100 the answer is 345: the first batch that is limited by compute. The "
            "product is (batch, width) @ (width, width).",
        ),
        (lambda: attempt(1024, 2, *H100) == 698, "It is right for a width of 4096 only. Did you use `width`?"),
        (lambda: attempt(4096, 4, *H100) == 830, "It is right for 2 bytes per number only. Did you use `itemsize`?"),
        (
            lambda: attempt(4096, 2, 312e12, 1.555e12) == 223,
            "It is right for the H100 only. Did you use `flops` and `bandwidth`?",
        ),
        (
            lambda: attempt(64, 4, 1e6, 1e12) == 1,
            "On a machine that computes very slowly, even a batch of 1 is limited by compute. Start at 1.",
        ),
    )


def check_gpu_gain(attempt: Solution) -> Solution:
    """Whether `attempt(m, k, n)` is how many times the GPU saves the CPU's time, copies included; if not, ours."""
    sizes = 1024, 1024, 1024

    def seconds(m: int, k: int, n: int) -> tuple[float, float, float]:
        """Of the copies, of the product on the GPU, of the product on the CPU."""
        on = (product_bound(m, k, n, 4, peak[name], bandwidth[name])[0] for name in ("GPU", "CPU"))
        return (4 * (m * k + k * n + m * n) / 63e9, *on)

    def gain() -> Any:
        """At `sizes`; a pair where that of `product_bound` was taken for a number."""
        try:
            return attempt(*sizes)
        except TypeError as error:
            if "tuple" in str(error) or "list" in str(error):
                return ()
            raise

    def right(m: int, k: int, n: int) -> bool:
        copy_s, gpu_s, cpu_s = seconds(m, k, n)
        return _close(attempt(m, k, n), cpu_s / (copy_s + gpu_s))

    copy_s, gpu_s, cpu_s = seconds(*sizes)
    return attempt_or_solution(
        "gpu_gain",
        attempt,
        gpu_gain,
        (lambda: gain() is not None, NOTHING_RETURNED),
        (
            lambda: gain() != (),
            "`product_bound` returns two things, the seconds and the limit. Take the seconds: "
            "`gpu_s, _ = product_bound(...)`.",
        ),
        (lambda: _is_number(gain()), "Return one number: the CPU's time divided by the GPU's."),
        (
            lambda: not isinstance(gain(), bool),
            "Return the ratio of the two times, not whether the GPU helps: the CPU's time divided by the GPU's.",
        ),
        (
            lambda: not _close(gain(), cpu_s / gpu_s),
            "The copies are missing. On the GPU, their time comes on top of that of the product.",
        ),
        (
            lambda: not any(_close(gain(), value) for value in ((copy_s + gpu_s) / cpu_s, gpu_s / cpu_s)),
            "That is the GPU's time divided by the CPU's. Divide the CPU's time by the GPU's.",
        ),
        (
            lambda: not _close(gain(), cpu_s / copy_s + gpu_s),
            "The division comes before the sum. Put the two times on the GPU in parentheses.",
        ),
        (
            lambda: not any(_close(gain(), value) for value in (cpu_s / max(copy_s, gpu_s), cpu_s / copy_s)),
            "The GPU's time is that of the copies alone. The product can start only after the copies in, so add its "
            "time.",
        ),
        (
            lambda: not any(_close(gain(), (cpu_s + copy_s) / value) for value in (gpu_s, copy_s + gpu_s)),
            "The CPU's time contains the copies. The matrices lie in its memory, so only the GPU needs them.",
        ),
        (
            lambda: not _close(gain(), gpu_s / (copy_s + cpu_s)),
            "CPU and GPU are exchanged: the copies belong to the GPU's time.",
        ),
        (
            lambda: not any(_close(gain(), value) for value in (cpu_s - copy_s - gpu_s, copy_s + gpu_s - cpu_s)),
            "That is the difference of the two times. Divide the CPU's time by the GPU's.",
        ),
        (
            lambda: right(*sizes),
            "For 1024 by 1024 matrices, the copies take 0.20 ms, the product takes 0.02 ms on the GPU and 0.49 ms on "
            "the CPU, and the result is 2.2. Print your three times.",
        ),
        (
            lambda: right(1, 4096, 4096) and right(64, 512, 2048),
            "It is right for 1024 by 1024 matrices only. Did you use `m`, `k` and `n`, in this order, and 4 bytes per "
            "number?",
        ),
    )


def check_training_plan(attempt: Solution) -> Solution:
    """Whether `attempt(parameters, examples, memory_gb, peak, utilization, price)` is right; if not, ours."""

    def gpus(parameters: float, memory_gb: float) -> Any:
        return attempt(parameters, 1e9, memory_gb, 1e15, 0.5, 3.0)[0]

    def hours(parameters: float = 1e9, utilization: float = 0.5, examples: float = 1e9) -> Any:
        return attempt(parameters, examples, 80, 1e15, utilization, 3.0)[1]

    return attempt_or_solution(
        "training_plan",
        attempt,
        training_plan,
        (lambda: attempt(8e9, 1e9, 80, 1e15, 0.5, 3.0) is not None, NOTHING_RETURNED),
        (
            lambda: len(attempt(8e9, 1e9, 80, 1e15, 0.5, 3.0)) == 3,
            "Return three numbers: the number of GPUs, the hours and the dollars.",
        ),
        (lambda: gpus(7e9, 10) != 3, "3 GPUs of 10 GB hold 7 billion weights. What else is in memory?"),
        (lambda: gpus(7e9, 10) != 6, "6 GPUs of 10 GB hold the weights and the gradients. What does Adam keep?"),
        (
            lambda: gpus(7e9, 10) != 11,
            "112 GB do not fit into 11 GPUs of 10 GB. Round up (`np.ceil`), and take 1e9 bytes for a GB.",
        ),
        (
            lambda: gpus(7e9, 10) == int(gpus(7e9, 10)),
            "What you return first, the number of GPUs, should be a whole number: round up with `np.ceil`.",
        ),
        (
            lambda: gpus(7e9, 10) == 12,
            "7 billion parameters need 112 GB: 12 GPUs of 10 GB. There are 16 bytes per parameter, "
            "and 1e9 bytes in a GB.",
        ),
        (lambda: gpus(5e9, 80) == 1, "80 GB fit exactly into one GPU of 80 GB. `np.ceil` does that."),
        (
            lambda: not _close(hours(), 10 / 9),
            "These are the operations for the output alone. With the gradients, there are 6 per weight and example.",
        ),
        (lambda: not _close(hours(), 12_000), "That is the time in seconds. Return hours."),
        (lambda: not _close(hours(), 200), "That is the time in minutes. Return hours."),
        (lambda: not _close(hours(), hours(examples=2e9)), "The time does not depend on `examples`, but it should."),
        (
            lambda: not _close(hours(), hours(utilization=0.25)),
            "The time does not depend on `utilization`, but it should.",
        ),
        (
            lambda: hours() < hours(utilization=0.25),
            "A lower utilization should make the run longer, not shorter. Which side of the division is it on?",
        ),
        (
            lambda: _close(hours(), 10 / 3),
            "Count 6 operations per parameter and example. 1 billion of each make 6e18, and at 5e14 per second "
            "these take 12,000 seconds.",
        ),
        (
            lambda: _close(hours(8e9), 40 / 3),
            "8 billion parameters need 2 GPUs, which share the work: so the time is that of one GPU divided by 2.",
        ),
        (
            lambda: _close(attempt(8e9, 1e9, 80, 1e15, 0.5, 3.0)[2], 80),
            "You pay for every GPU: the dollars are GPUs times hours times price.",
        ),
        (
            lambda: _close(attempt(1e9, 2e9, 80, 2e15, 0.25, 6.0)[2], 40),
            "It is right for some values only. Did you use `examples`, `peak`, `utilization` and `price`?",
        ),
    )


def check_loss_and_gradient(attempt: Solution) -> Solution:
    """Whether `attempt(x, W, targets, device)` is the loss and its gradient, computed there; if not, ours."""
    globals()["torch"] = importlib.import_module("torch")
    from course_lib import virtual_cuda

    rng = np.random.default_rng(0)
    x, W, targets = (rng.random(shape, dtype=np.float32) for shape in ((5, 4), (4, 3), (5, 3)))
    errors = x.astype(float) @ W - targets
    gradient = 2 * x.T @ errors / errors.size

    def run(device: str) -> tuple[Any, str, str]:
        """What the attempt returns, which operators the device ran, and how it failed if a reply below explains it."""
        explained = "not require grad", "scalar outputs", "'NoneType' object has no", "same device", "numpy"
        with virtual_cuda.session(force=True, quiet=True) as log, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns where `.grad` of a copy is asked for
            log.clear()
            try:
                value, error = attempt(x.copy(), W.copy(), targets.copy(), device), ""
            except (RuntimeError, TypeError, AttributeError) as raised:
                if isinstance(raised, NotImplementedError) or not any(part in str(raised) for part in explained):
                    raise
                value, error = None, str(raised)
            return value, " ".join(map(str, log.launches)), error

    def fails(part: str, device: str = "cpu") -> bool:
        return part in run(device)[2]

    def loss() -> Any:
        return run("cpu")[0][0]

    def slope() -> Any:
        return run("cpu")[0][1]

    def near(value: Any, wanted: Any) -> bool:
        return bool(np.allclose(value, wanted, rtol=1e-4))

    def works_on(device: str) -> bool:
        found, _, error = run(device)
        return not error and near(found[0], loss()) and near(found[1], slope())

    return attempt_or_solution(
        "loss_and_gradient",
        attempt,
        loss_and_gradient,
        (
            lambda: not fails("not require grad"),
            "`backward` finds nothing to compute a gradient for. Write `requires_grad=True` where you make the tensor "
            "of the weights, and multiply by that tensor, not by `W`.",
        ),
        (
            lambda: not fails("scalar outputs"),
            "`backward` starts from one number. Take the mean of the squares, and call `loss.backward()`.",
        ),
        (
            lambda: not fails("'NoneType' object has no"),
            "`.grad` is still None. `loss.backward()` fills it, in the tensor that you made with `requires_grad=True`.",
        ),
        (
            lambda: not fails("numpy"),
            "An array meets a tensor, or you take the array of a tensor that requires a gradient. Make tensors of x, W "
            "*and* the targets, and return the array of `weights.grad`.",
        ),
        (lambda: run("cpu")[0] is not None or run("cpu")[2], NOTHING_RETURNED),
        (
            lambda: isinstance(run("cpu")[0], tuple | list) and len(run("cpu")[0]) == 2,
            "Return two things: the loss and its gradient.",
        ),
        (
            lambda: not isinstance(loss(), torch.Tensor),
            "The loss that you return is a tensor. `.item()` makes a Python number of it.",
        ),
        (lambda: _is_number(loss()), "The first result should be one number, the loss."),
        (lambda: not near(loss(), np.sum(errors**2)), "Your loss is the sum of the squares. Return their mean."),
        (lambda: not near(loss(), np.mean(errors)), "Your loss is the mean difference. Square before you average."),
        (lambda: not near(loss(), np.mean(errors) ** 2), "Square each difference first, and then take the mean."),
        (
            lambda: near(loss(), np.mean(errors**2)),
            "The loss is wrong. It is the mean of the squared differences between `images @ weights` and the targets.",
        ),
        (lambda: slope() is not None, "The gradient is None. `loss.backward()` fills `weights.grad`."),
        (
            lambda: not isinstance(slope(), torch.Tensor),
            "The gradient that you return is a tensor. `.cpu().numpy()` makes an array of it.",
        ),
        (
            lambda: np.shape(slope()) == W.shape,
            "The gradient should have the shape of W, with one number for each weight: return that of the weights.",
        ),
        (lambda: not near(slope(), W), "These are the weights. Their gradient is in `weights.grad`."),
        (lambda: near(slope(), gradient), "The loss is right, its gradient is not. Return `weights.grad` unchanged."),
        (
            lambda: not run("cpu")[1],
            "It uses the GPU even if `device` is the CPU. Write `device=device` in `torch.tensor`.",
        ),
        (
            lambda: not fails("same device", "cuda"),
            'With `device="cuda"` your tensors are not all on the same device. Write `device=device` for all three.',
        ),
        (
            lambda: not fails("'NoneType' object has no", "cuda"),
            'With `device="cuda"`, `.grad` is None: it belongs to the tensor made with `requires_grad=True`, and you '
            "multiply a copy of that. Write `device=device` in the same `torch.tensor`.",
        ),
        (
            lambda: not fails("numpy", "cuda"),
            "NumPy cannot read the memory of the device. Copy the gradient to the host first: `.cpu().numpy()`.",
        ),
        (
            lambda: works_on("cuda"),
            "It is right on the CPU, but not on the device. Use the same tensors in all steps.",
        ),
        (
            lambda: "mm" in run("cuda")[1] or "matmul" in run("cuda")[1],
            "The values are right, but the product is not computed on the device. Write `device=device` for all three.",
        ),
    )
