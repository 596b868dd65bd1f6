"""Processes and threads without end."""

from tests.attacks.corpus import variant

fork_bomb = variant(
    "Fork without end.",
    small_graph="""
import os

def small_graph(x, y, z):
    return 0.0

while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    expected="time small_graph",
    tier="limits",
    unsafe=True,
)

thread_bomb = variant(
    "Start threads without end, each of which starts more.",
    small_graph="""
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
    tier="limits",
    unsafe=True,
)
