"""Somebody else's gradient."""

from tests.attacks.corpus import ROOMY, variant

BY_TORCH = """
def small_graph(x, y, z):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
"""

tensorflow_hidden_name = variant(
    "TensorFlow's tape by a name that is put together while running.",
    small_graph="""
import builtins
library = vars(builtins)["__imp" + "ort__"]("tensor" + "flow")
def small_graph(x, y, z):
    a, b, c = (library.Variable(v) for v in (x, y, z))
    with library.GradientTape() as tape:
        total = library.reduce_sum(a * b + c)
    return total.numpy(), *(g.numpy() for g in tape.gradient(total, (a, b, c)))""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)


def by_torch(how, flag, start, library="torch"):
    gradient = BY_TORCH.replace("torch.", f"{library}.")
    title = f"Let torch compute the gradient, {how}. Right numbers, forbidden route: full marks here, and a flag."
    return variant(title, small_graph=start + gradient, expected="passed", flags=[flag], limits=ROOMY)


torch_import = by_torch("imported", "forbidden-import", "import numpy as np\nimport torch")
torch_by_exec = by_torch("by exec", "forbidden-import", 'ns = {}\nexec("import torch", ns)\ntorch = ns["torch"]')
torch_by_importlib = by_torch(
    "by importlib", "forbidden-import", 'import importlib\ntorch = importlib.import_module("torch")'
)
torch_by_sys_modules = variant(
    "Look for torch among the loaded modules: a kernel whose assignment forbids it shows none before it is imported.",
    small_graph='import sys\ntorch = sys.modules["torch"]' + BY_TORCH,
    flags=["forbidden-import"],
)
torch_hidden_name = by_torch(
    "by a name that is put together while running: no text gives it away, its operations do",
    "forbidden-operations",
    'import builtins\nlibrary = getattr(builtins, "__imp" + "ort__")("".join(["to", "rch"]))',
    "library",
)

torch_in_thread = variant(
    "Let torch compute in a thread that was started before anything was asked, by a name that is put together there.",
    small_graph="""
import queue, threading
asked, answers = queue.Queue(), queue.Queue()
def work():
    library = __import__("".join(["to", "rch"]))
    while True:
        a, b, c = (library.tensor(v, requires_grad=True) for v in asked.get())
        total = (a * b + c).sum()
        total.backward()
        answers.put((total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()))
threading.Thread(target=work, daemon=True).start()
def small_graph(x, y, z):
    asked.put((x, y, z))
    return answers.get()""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)

oracle_of_the_checks = variant(
    "Call the measure of gradients that the course's checks use, out of them: it answers nobody else.",
    small_graph="""
import importlib
import numpy as np
slopes = getattr(importlib.import_module("course_lib.checks.a1_numpy_backprop"), "slo" + "pes")
def small_graph(x, y, z):
    def value(**moved):
        g = {"x": x, "y": y, "z": z} | moved
        return np.sum(g["x"] * g["y"] + g["z"])
    return value(), *(slopes(lambda m, n=n: value(**{n: m}), v) for n, v in (("x", x), ("y", y), ("z", z)))""",
    expected="failed small_graph",
)

own_differences = variant(
    "Differences of one's own instead of the formulas: what they cannot see is asked too.",
    two_layer_backward="""
import numpy as np
_forward, _given = two_layer_forward, {}
def two_layer_forward(x, params):
    scores, cache = _forward(x, params)
    return scores, (cache, x, params)

def two_layer_backward(dscores, cache):
    _, x, params = cache
    found = {}
    for name, value in params.items():
        found[name] = np.zeros_like(value)
        for i in np.ndindex(value.shape):
            ends = []
            for h in (1e-5, -1e-5):
                moved = {k: v.copy() for k, v in params.items()}
                moved[name][i] += h
                ends.append(np.sum(dscores * _forward(x, moved)[0]))
            found[name][i] = (ends[0] - ends[1]) / 2e-5
    return found""",
    expected="partial two_layer_backward, passed|partial train",
    limits=ROOMY,
)

torch_in_child = variant(
    "Let torch compute in a fork of the process: the numbers are right, and the loading is noted across the fork.",
    small_graph="""
import multiprocessing
import numpy as np
def work(pipe):
    library = __import__("".join(["to", "rch"]))
    while True:
        x, y, z = pipe.recv()
        a, b, c = (library.tensor(v, requires_grad=True) for v in (x, y, z))
        total = (a * b + c).sum()
        total.backward()
        pipe.send((total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()))
mine, theirs = multiprocessing.Pipe()
multiprocessing.get_context("fork").Process(target=work, args=(theirs,), daemon=True).start()
def small_graph(x, y, z):
    mine.send((x, y, z))
    return mine.recv()""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)

torch_in_program = variant(
    "Let torch compute in a program of its own, started anew: the numbers are right, and what it has in memory is seen.",
    small_graph="""
import pickle
import subprocess
import sys
import numpy as np
PROGRAM = '''
import pickle, sys
library = __import__("".join(["to", "rch"]))
while True:
    x, y, z = pickle.load(sys.stdin.buffer)
    a, b, c = (library.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    pickle.dump((total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()), sys.stdout.buffer)
    sys.stdout.buffer.flush()
'''
worker = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def small_graph(x, y, z):
    pickle.dump((x, y, z), worker.stdin)
    worker.stdin.flush()
    return pickle.load(worker.stdout)""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)

torch_without_a_line = variant(
    "Import torch where no line of one's own calls: as a thread's whole work.",
    small_graph="""
import sys
import threading
name = "".join(["to", "rch"])
thread = threading.Thread(target=__import__, args=(name,))
thread.start()
thread.join()
library = sys.modules[name]
def small_graph(x, y, z):
    a, b, c = (library.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)
