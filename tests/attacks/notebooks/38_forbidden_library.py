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
    return total.numpy(), *(g.numpy() for g in tape.gradient(total, (a, b, c)))
""",
    expected="passed",
    flags=["forbidden-operations"],
    limits=ROOMY,
)

torch_by_exec = variant(
    "Get torch without an import statement: by exec. Seen in the text.",
    small_graph="""
ns = {}
exec("import torch", ns)

torch = ns["torch"]
"""
    + BY_TORCH,
    expected="passed",
    flags=["forbidden-import"],
)

torch_by_importlib = variant(
    "Get torch without an import statement: by importlib. Seen in the text.",
    small_graph="""
import importlib
import sys

torch = importlib.import_module("torch")
"""
    + BY_TORCH,
    expected="passed",
    flags=["forbidden-import"],
)

torch_by_sys_modules = variant(
    "Get torch without an import statement: by sys_modules. Seen in the text.",
    small_graph="""
import importlib
import sys

torch = sys.modules["torch"]
"""
    + BY_TORCH,
    expected="passed",
    flags=["forbidden-import"],
)

torch_hidden_name = variant(
    "Get torch by a name that is put together while running: no text gives it away, its operations do.",
    small_graph="""
import builtins

library = getattr(builtins, "__imp" + "ort__")("".join(["to", "rch"]))
"""
    + BY_TORCH.replace("torch.", "library."),
    expected="passed",
    flags=["forbidden-operations"],
)

torch_import = variant(
    "Let torch compute the gradient. Right numbers, forbidden route: full marks here, and a flag for a person.",
    small_graph="""
import numpy as np
import torch
"""
    + BY_TORCH,
    expected="passed",
    flags=["forbidden-import"],
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
    return mine.recv()
""",
    expected="passed",
    limits=ROOMY,
)
