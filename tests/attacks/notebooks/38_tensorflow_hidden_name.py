"""TensorFlow's tape by a name that is put together while running."""

ENTRY, FAMILY = 38, "B"
EXPECTED = {}
FLAGS = ["forbidden-operations"]
LIMITS = {"cell_s": 15.0, "notebook_s": 100.0, "memory_bytes": 1 << 30}
CELLS = {
    "small_graph": """
import sys

library = vars(sys)["mod" + "ules"]["tensor" + "flow"]


def small_graph(x, y, z):
    a, b, c = (library.Variable(v) for v in (x, y, z))
    with library.GradientTape() as tape:
        total = library.reduce_sum(a * b + c)
    return total.numpy(), *(g.numpy() for g in tape.gradient(total, (a, b, c)))
""",
}
