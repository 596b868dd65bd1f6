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
import sys
library = vars(sys)["mod" + "ules"]["tensor" + "flow"]
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
    return variant(title, small_graph=start + gradient, expected="passed", flags=[flag])


torch_import = by_torch("imported", "forbidden-import", "import numpy as np\nimport torch")
torch_by_exec = by_torch("by exec", "forbidden-import", 'ns = {}\nexec("import torch", ns)\ntorch = ns["torch"]')
torch_by_importlib = by_torch(
    "by importlib", "forbidden-import", 'import importlib\ntorch = importlib.import_module("torch")'
)
torch_by_sys_modules = by_torch("out of sys.modules", "forbidden-import", 'import sys\ntorch = sys.modules["torch"]')
torch_hidden_name = by_torch(
    "by a name that is put together while running: no text gives it away, its operations do",
    "forbidden-operations",
    'import builtins\nlibrary = getattr(builtins, "__imp" + "ort__")("".join(["to", "rch"]))',
    "library",
)

torch_in_child = variant(
    "Let torch compute in another process: beyond what text and operations show. Right numbers, no flag: a known limit.",
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
    limits=ROOMY,
)
