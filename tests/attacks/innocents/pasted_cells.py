"""Cells pasted several times, helper cells with names of their own, and an old attempt left standing."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    ("test_small_graph", "def small_graph_old(x, y, z):\n    return None"),
    ("test_small_graph", "def small_graph_old(x, y, z):\n    return None"),
    ("test_small_graph", "checks.small_graph_value(small_graph)\nchecks.small_graph_gradients(small_graph)"),
    ("test_train", "checks.train_first_step(train)"),
    ("test_train", "x = np.ones(3)\nprint(small_graph(x, x, x))"),
]
