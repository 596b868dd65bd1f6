"""%%time, %timeit, !ls, %%bash, %cd, %%writefile and an import of what it wrote."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "small_graph": """%%time
import numpy as np


def small_graph(x, y, z):
    return np.sum(x * y + z), y * 1.0, x * 1.0, np.ones(z.shape)
""",
}
EXTRA = [
    ("test_small_graph", "!ls -la\n!echo done"),
    ("test_small_graph", "%timeit -n 2 -r 2 small_graph(np.ones(3), np.ones(3), np.ones(3))"),
    ("test_small_graph", "%%bash\necho from bash\npython3 -c 'print(1 + 1)'"),
    ("test_small_graph", "%%writefile helpers.py\ndef total(v):\n    return v.sum()"),
    ("test_small_graph", "from helpers import total\n\nprint(total(np.ones(3)))\nfiles = !ls\n%who"),
    ("test_train", "%cd -q /tmp\n%pip list"),
]
