"""What honest students do that a grader may mistake for something else: full marks, and no alarm."""

from tests.attacks.corpus import variant

awaited_and_generated = variant(
    "Top-level await, asyncio tasks, generators and context managers.",
    after_test_train="""
import asyncio, contextlib, io
async def slow(n):
    await asyncio.sleep(0.01)
    return n
assert await slow(3) == 3
print(await asyncio.gather(slow(1), slow(2)))
with contextlib.redirect_stdout(io.StringIO()) as text:
    print("inside")
assert text.getvalue() == "inside\\n"
""",
)

careful_code = variant(
    "try and except everywhere, asserts, global counters, names of builtins reused, a cell that raises on purpose.",
    small_graph="""
import numpy as np
CALLS = 0
list = [1, 2, 3]
max = 7
data = call = ns = None
def small_graph(x, y, z):
    global CALLS
    CALLS += 1
    try:
        assert x.shape == y.shape == z.shape, "shapes differ"
        return np.sum(x * y + z), y + 0, x + 0, np.ones_like(z)
    except Exception as error:
        print("went wrong:", error)
        raise
    finally:
        CALLS += 0""",
    train="""
del list, max
def train(x, labels, params, learning_rate, batches):
    new = {key: np.copy(value) for key, value in params.items()}
    history = []
    try:
        for rows in batches:
            out, memory = two_layer_forward(x[rows], new)
            value, slope = softmax_cross_entropy(out, labels[rows])
            history.append(value)
            for key, gradient in two_layer_backward(slope, memory).items():
                new[key] -= learning_rate * gradient
    except KeyboardInterrupt:
        print("stopped")
    return new, np.array(history)
if __name__ == "__main__":
    print("run as a notebook")""",
    after_test_small_graph=["1 / 0", "assert False, 'my own test fails'"],
    after_test_train="undefined_name",
)

cleared_progress = variant(
    "A training loop that clears its output and shows the latest figure, thousands of times.",
    after_test_train="""
from IPython.display import clear_output, display
for step in range(1500):
    clear_output(wait=True)
    display(f"step {step}")""",
)

data_loader = variant(
    "A DataLoader with workers in an added cell, for comparison: told to a person here, because a1 does without torch.",
    after_test_train="""
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.arange(40.0)), batch_size=8, num_workers=2, shuffle=True)
print(sum(batch.sum().item() for (batch,) in loader))""",
    flags=["forbidden-import", "forbidden-operations"],
)

files_and_folders = variant(
    "tempfile, files in the working folder and in HOME, a database, a pickle of one's own.",
    after_test_small_graph="""
import os, pickle, sqlite3, tempfile
from pathlib import Path
with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/x.npy", np.arange(10))
    assert np.load(f"{folder}/x.npy").sum() == 45
Path("notes.txt").write_text("kept")
Path.home().joinpath(".mine").write_text("kept")
with sqlite3.connect("mine.db") as base:
    base.execute("create table t (x)")
assert pickle.loads(pickle.dumps({"a": [1, 2]})) == {"a": [1, 2]}
os.chdir(tempfile.mkdtemp())""",
)

flushed_prints = variant(
    "Thousands of lines, each flushed: as progress is printed by those who want to see it at once.",
    after_test_train=[
        'for step in range(5000):\n    print("step", step, "loss", 1 / (step + 1), flush=True)',
        'import sys\n\nfor step in range(5000):\n    sys.stderr.write(f"\\r{step}")\n    sys.stderr.flush()',
    ],
)

large_output = variant(
    "Two megabytes of legal output in one cell, and a table of values in another.",
    softmax_cross_entropy="""
import numpy as np
def softmax_cross_entropy(scores, labels):
    print(scores, labels)
    print("debug " * 20_000)
    n = len(labels)
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    loss = np.mean(np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(n), labels])
    d = p.copy()
    d[np.arange(n), labels] -= 1
    return loss, d / n
list(range(100_000))""",
    after_test_small_graph="for number in range(40_000):\n    print(number, 'a line of some fifty characters, no more, no less')",
)

long_computation = variant(
    "A long and legal computation: several seconds in a cell, and a gradient by loops over loops.",
    two_layer_forward="""
def two_layer_forward(x, params):
    hidden = [[0.0] * len(params["b1"]) for _ in x]
    for i in range(len(x)):
        for j in range(len(params["b1"])):
            total = params["b1"][j]
            for k in range(x.shape[1]):
                total = total + x[i, k] * params["W1"][k, j]
            hidden[i][j] = total if total > 0 else 0.0
    hidden = np.array(hidden)
    return hidden @ params["W2"] + params["b2"], {"x": x, "hidden": hidden, "W2": params["W2"]}""",
    after_test_train="""
import time
total, until = 0, time.process_time() + 4
while time.process_time() < until:
    total += sum(range(1000))
time.sleep(2)""",
)

magics_and_shell = variant(
    "%%time, %timeit, !ls, %%bash, %cd, %%writefile and an import of what it wrote.",
    small_graph="""%%time
import numpy as np
def small_graph(x, y, z):
    return np.sum(x * y + z), y * 1.0, x * 1.0, np.ones(z.shape)""",
    after_test_small_graph=[
        "!ls -la\n!echo done",
        "%timeit -n 2 -r 2 small_graph(np.ones(3), np.ones(3), np.ones(3))",
        "%%bash\necho from bash\npython3 -c 'print(1 + 1)'",
        "%%writefile helpers.py\ndef total(v):\n    return v.sum()",
        "from helpers import total\n\nprint(total(np.ones(3)))\nfiles = !ls\n%who",
    ],
    after_test_train="%cd -q /tmp\n%pip list",
)

odd_arrays = variant(
    "Right answers in odd clothes: Fortran order, views, read-only, negative strides, 0-d arrays, float32.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    frozen = np.ones(z.shape)
    frozen.flags.writeable = False
    return np.array(np.sum(x * y + z)), np.asfortranarray(y), np.repeat(x, 2, axis=-1)[..., ::2], frozen""",
    numerical_gradient="""
def numerical_gradient(f, x, h=1e-5):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + h
        above = f(x)
        x[index] = kept - h
        below = f(x)
        x[index] = kept
        gradient[index] = (above - below) / (2 * h)
    return gradient[::-1][::-1]""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    shifted = (scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d = np.exp(log_p)
    d[rows, labels] -= 1
    return float(-log_p[rows, labels].mean()), np.ascontiguousarray(d.T / len(labels)).T""",
)

pasted_cells = variant(
    "Cells pasted several times, helper cells with names of their own, and an old attempt left standing.",
    after_test_small_graph=[
        "def small_graph_old(x, y, z):\n    return None",
        "def small_graph_old(x, y, z):\n    return None",
        "checks.small_graph_value(small_graph)\nchecks.small_graph_gradients(small_graph)",
    ],
    after_test_train=["checks.train_first_step(train)", "x = np.ones(3)\nprint(small_graph(x, x, x))"],
)

plots = variant(
    "Plots by %matplotlib inline, with savefig, and a table in HTML.",
    first="%matplotlib inline\n%config InlineBackend.figure_format = 'svg'",
    after_test_train="""
import matplotlib.pyplot as plt
from IPython.display import HTML
hs = np.logspace(-12, 0, 30)
plt.loglog(hs, [abs(numerical_gradient(lambda v: np.sin(v).sum(), np.ones(1), h)[0] - np.cos(1)) for h in hs])
plt.xlabel("h")
plt.savefig("errors.png")
plt.show()
HTML("<table><tr><td>1</td></tr></table>")""",
)

processes = variant(
    "subprocess, threads, a pool of processes and a thread pool, in cells and in calls.",
    numerical_gradient="""
from concurrent.futures import ThreadPoolExecutor
import numpy as np
def numerical_gradient(f, x, h=1e-5):
    gradient = np.zeros(x.shape)
    def one(index):
        step = np.zeros(x.shape)
        step[index] = h
        gradient[index] = (f(x + step) - f(x - step)) / (2 * h)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, np.ndindex(x.shape)))
    return gradient""",
    after_test_numerical_gradient="""
import multiprocessing, subprocess, sys, threading
def square(number):
    return number * number
print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True, check=True).stdout)
with multiprocessing.Pool(2) as pool:
    assert pool.map(square, range(10)) == [n * n for n in range(10)]
threads = [threading.Thread(target=square, args=(n,)) for n in range(10)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]""",
)

seeds_and_settings = variant(
    "Seeds, print options, error states and recursion limits set for the whole session.",
    first="""
import os, random, sys, warnings
import numpy as np
random.seed(0)
np.random.seed(0)
np.set_printoptions(precision=3, suppress=True)
np.seterr(all="ignore")
sys.setrecursionlimit(10_000)
os.environ["OMP_NUM_THREADS"] = "2"
warnings.filterwarnings("ignore")
IN_COLAB = "google.colab" in sys.modules""",
)

spawned_processes = variant(
    "Processes by spawn, a process pool executor and a manager.",
    after_test_train="""
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
    assert list(pool.map(sqrt, [1.0, 4.0])) == [1.0, 2.0]
with multiprocessing.Manager() as manager:
    assert list(manager.list([1, 2])) == [1, 2]""",
)

stderr_and_progress = variant(
    "Warnings, progress bars and logging on stderr, in cells and in calls.",
    small_graph='''
import logging, sys, warnings
import numpy as np
def bar(values):
    """What tqdm does, which a student's machine may lack."""
    values = list(values)
    for number, value in enumerate(values, 1):
        sys.stderr.write(f"\\r{100 * number // len(values):3d}%|{'#' * (20 * number // len(values)):20}|")
        sys.stderr.flush()
        yield value
logging.basicConfig(level=logging.DEBUG)
log = logging.getLogger(__name__)
def small_graph(x, y, z):
    warnings.warn("nothing bad", stacklevel=2)
    log.info("shape %s", x.shape)
    print("to stderr", file=sys.stderr)
    np.log(np.zeros(1))  # a RuntimeWarning
    total = 0.0
    for value in bar(np.ravel(x * y + z)):
        total += value
    return total, y.copy(), x.copy(), np.ones_like(z)
for _ in bar(range(1000)):
    pass
small_graph(*np.ones((3, 2)))''',
)

typed_classes = variant(
    "Type hints, dataclasses, named tuples, decorators, closures and a class behind each function.",
    two_layer_forward="""
from __future__ import annotations
import functools
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
import numpy.typing as npt
Array = npt.NDArray[np.floating]
@dataclass(frozen=True)
class Cache:
    x: Array
    hidden: Array
    W2: Array

class Forward(NamedTuple):
    scores: Array
    cache: Cache

def counted(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        inner.calls += 1
        return function(*args, **kwargs)
    inner.calls = 0
    return inner

@counted
def two_layer_forward(x: Array, params: dict[str, Array]) -> Forward:
    hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    return Forward(hidden @ params["W2"] + params["b2"], Cache(x, hidden, params["W2"]))""",
    two_layer_backward="""
from collections import OrderedDict
def two_layer_backward(dscores: Array, cache: Cache) -> OrderedDict[str, Array]:
    match cache:
        case Cache(x=x, hidden=hidden, W2=W2):
            d = (dscores @ W2.T) * (hidden > 0)
    return OrderedDict(W1=x.T @ d, b1=d.sum(0), W2=hidden.T @ dscores, b2=dscores.sum(0))""",
)
