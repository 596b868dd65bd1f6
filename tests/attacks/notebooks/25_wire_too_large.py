"""An honest reply that is larger than one answer may be."""

ENTRY, FAMILY = 25, "A"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return np.zeros(3_000_000), y, x, np.ones_like(z)
""",
}
