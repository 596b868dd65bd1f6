"""Take all memory at once."""

ENTRY, FAMILY = 45, "C"
EXPECTED = {"test_small_graph": "memory"}
TIER = "limits"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return np.ones(1 << 29)
""",
}
