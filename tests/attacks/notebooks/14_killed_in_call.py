"""SIGKILL oneself in a call: other checks keep their results."""

ENTRY, FAMILY = 14, "C"
EXPECTED = {"test_small_graph": "crash"}
NBGRADER = "not graded"
CELLS = {
    "small_graph": """
import os
import signal


def small_graph(x, y, z):
    os.kill(os.getpid(), signal.SIGKILL)  # the first process of a namespace is deaf to its own
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(9)
""",
}
