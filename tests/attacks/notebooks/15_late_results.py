"""What is written when the interpreter ends."""

from tests.attacks.corpus import variant

late_results = variant(
    "Write results when the interpreter ends: atexit, finalisers, exception hooks, threads that outlive the call.",
    small_graph="""
import atexit
import json
import sys
import threading
import time
import weakref

def write(*args):
    for name in ("results.json", "../results.json", "/tmp/results.json", "gradebook.db"):
        try:
            with open(name, "w") as file:
                json.dump({"score": 20, "state": "passed"}, file)
        except OSError:
            pass

class Last:
    def __del__(self):
        write()

def small_graph(x, y, z):
    return 0.0, x, y, z

atexit.register(write)
weakref.finalize(small_graph, write)
last = Last()
sys.excepthook = threading.excepthook = sys.unraisablehook = write
threading.Thread(target=lambda: [(time.sleep(0.2), write()) for _ in range(50)], daemon=True).start()
""",
)
