"""Leak a hidden number, eight bits at a time, through the status that the process ends with."""

ENTRY, FAMILY = 40, "B"
EXPECTED = {"test_small_graph": "crash"}
SILENT = ["status 171", "status 172", "status 173"]
CELLS = {
    "small_graph": """
import os


def small_graph(x, y, z):
    os._exit(171 + int(abs(float(x.flat[0])) * 10) % 3)
""",
}
