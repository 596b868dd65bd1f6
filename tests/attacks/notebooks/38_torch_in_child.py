"""Let torch compute in another process: beyond what text and operations show. Right numbers, no flag: a known limit."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
LIMITS = {"cell_s": 15.0, "notebook_s": 100.0, "memory_bytes": 1 << 30}
CELLS = {
    "small_graph": """
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
}
