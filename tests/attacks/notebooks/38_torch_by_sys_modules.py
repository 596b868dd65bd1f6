"""Get torch without an import statement: by sys_modules. Seen in the text."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-import"]
CELLS = {
    "small_graph": """
import importlib
import sys

torch = sys.modules["torch"]


def small_graph(x, y, z):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
""",
}
