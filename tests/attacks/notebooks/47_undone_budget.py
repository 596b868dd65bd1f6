"""Undo the budget on output inside the process, then print fifty megabytes."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {"test_small_graph": "output"}
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import autograder.inside.kernel as inside


def small_graph(x, y, z):
    return 0.0


inside.BUDGET.take = lambda size: size
for _ in range(50):
    print("x" * 1_000_000, flush=True)
""",
}
