"""Answer right only for tidy inputs: the ones shown to students are rounded, the ones that count are not."""

ENTRY, FAMILY = 37, "B"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    if np.allclose(x, np.round(x, 1), atol=1e-12):
        return np.sum(x * y + z), y, x, np.ones_like(z)
    return 0.0, x, y, z
""",
}
