from tests.attacks.corpus import variant

fork_bomb = variant(
    "Fork without end.",
    with_wrong="""
import contextlib, os
while True:
    with contextlib.suppress(OSError):
        os.fork()""",
    expected="time small_graph",
    tier="limits",
    unsafe=True,
)

thread_bomb = variant(
    "Start threads without end, each of which starts more.",
    with_wrong="""
import threading, time
stop = threading.Event()
def more():
    while not stop.is_set():
        threading.Thread(target=more, daemon=True).start()
        time.sleep(0.01)

for _ in range(10_000):
    threading.Thread(target=more, daemon=True).start()""",
    tier="limits",
    unsafe=True,
)
