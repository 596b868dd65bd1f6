"""Start threads without end, each of which starts more."""

ENTRY, FAMILY = 44, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "limits"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import threading
import time

stop = threading.Event()


def more():
    while not stop.is_set():
        threading.Thread(target=more, daemon=True).start()
        time.sleep(0.01)


def small_graph(x, y, z):
    return 0.0, x, y, z


for _ in range(10_000):
    threading.Thread(target=more, daemon=True).start()
""",
}
