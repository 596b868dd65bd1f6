"""A hundred thousand displays, updates and cleared outputs in one cell."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {"test_small_graph": "output"}
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
from IPython.display import clear_output, display


def small_graph(x, y, z):
    return 0.0


pub = get_ipython().display_pub
for hook in list(pub._hooks):
    pub.unregister_hook(hook)
for number in range(100_000):
    display(number)
    clear_output()
""",
}
