"""subprocess, threads, a pool of processes and a thread pool, in cells and in calls."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "numerical_gradient": """
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def numerical_gradient(f, x, h=1e-5):
    gradient = np.zeros(x.shape)

    def one(index):
        step = np.zeros(x.shape)
        step[index] = h
        gradient[index] = (f(x + step) - f(x - step)) / (2 * h)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, np.ndindex(x.shape)))
    return gradient
""",
}
EXTRA = [
    (
        "test_numerical_gradient",
        """
import multiprocessing
import subprocess
import sys
import threading


def square(number):
    return number * number


print(subprocess.run([sys.executable, "-c", "print('child')"], capture_output=True, text=True, check=True).stdout)
with multiprocessing.Pool(2) as pool:
    assert pool.map(square, range(10)) == [n * n for n in range(10)]
threads = [threading.Thread(target=square, args=(n,)) for n in range(10)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""",
    )
]
