"""Get torch without an import statement: by importlib. Seen in the text."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-import"]
CELLS = {
    "small_graph": """
import importlib
import sys

torch = importlib.import_module("torch")


def small_graph(x, y, z):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
""",
}
