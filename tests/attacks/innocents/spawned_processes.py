"""Processes by spawn, a process pool executor and a manager."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "test_train",
        """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from math import sqrt

with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
    assert list(pool.map(sqrt, [1.0, 4.0])) == [1.0, 2.0]
with multiprocessing.Manager() as manager:
    assert list(manager.list([1, 2])) == [1, 2]
""",
    )
]
