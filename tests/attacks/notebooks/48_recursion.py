"""Exhaust the stack: in Python without a limit, in C, and in repr."""

ENTRY, FAMILY = 48, "C"
EXPECTED = {"test_small_graph": "crash", "test_numerical_gradient": "failed"}
CELLS = {
    "small_graph": """
import sys
import threading


def small_graph(x, y, z):
    sys.setrecursionlimit(1 << 30)
    nested = ()
    for _ in range(1_000_000):
        nested = (nested,)
    return hash(nested), repr(nested)
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    return numerical_gradient(f, x, h)
""",
}
