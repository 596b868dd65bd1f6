"""Let torch compute the gradient. Right numbers, forbidden route: full marks here, and a flag for a person."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-import"]
CELLS = {
    "small_graph": """
import numpy as np
import torch


def small_graph(x, y, z):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
""",
}
