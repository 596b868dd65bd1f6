"""Get torch by a name that is put together while running: no text gives it away, its operations do."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-operations"]
CELLS = {
    "small_graph": """
import builtins

library = getattr(builtins, "__imp" + "ort__")("".join(["to", "rch"]))


def small_graph(x, y, z):
    a, b, c = (library.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
""",
}
