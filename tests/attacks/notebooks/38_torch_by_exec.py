"""Get torch without an import statement: by exec. Seen in the text."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-import"]
CELLS = {
    "small_graph": """
ns = {}
exec("import torch", ns)

torch = ns["torch"]


def small_graph(x, y, z):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (x, y, z))
    total = (a * b + c).sum()
    total.backward()
    return total.item(), a.grad.numpy(), b.grad.numpy(), c.grad.numpy()
""",
}
