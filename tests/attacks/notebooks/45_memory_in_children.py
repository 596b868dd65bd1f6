"""Spread the memory over many children, each below the limit."""

ENTRY, FAMILY = 45, "C"
EXPECTED = {"test_small_graph": "memory"}
TIER = "full"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import os
import time


def small_graph(x, y, z):
    for _ in range(12):
        if os.fork() == 0:
            held = bytearray(b"x") * (100 << 20)
            time.sleep(60)
            os._exit(len(held) % 2)
    time.sleep(60)
""",
}
