"""Wait for input, for a lock and for sleep: no computing time, only the clock."""

ENTRY, FAMILY = 41, "C"
EXPECTED = {"test_small_graph": "time", "test_numerical_gradient": "failed"}
CELLS = {
    "small_graph": """
import threading


def small_graph(x, y, z):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    return float(input("gradient? "))
""",
}
