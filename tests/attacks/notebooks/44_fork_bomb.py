"""Fork without end."""

ENTRY, FAMILY = 44, "C"
EXPECTED = {"test_small_graph": "time"}
TIER = "limits"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import os


def small_graph(x, y, z):
    return 0.0


while True:
    try:
        os.fork()
    except OSError:
        pass
""",
}
