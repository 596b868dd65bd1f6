"""Write forged results into every open descriptor, now and later from a thread."""

ENTRY, FAMILY = 25, "A"
# What the descriptors lead to is this kernel's own: it may end by it.
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
import json
import os
import threading
import time


def small_graph(x, y, z):
    return 0.0, x, y, z


LINES = b"".join(json.dumps(line).encode() + b"\\n" for line in ({"ready": True}, {"exited": {"code": 0}}, {"score": 20, "report": {}}))


def write():
    for name in os.listdir("/proc/self/fd"):
        try:
            link = os.readlink(f"/proc/self/fd/{name}")
            if link.startswith(("pipe:", "/tmp", "/var")) or link == "/dev/null":
                os.write(int(name), LINES)
            if link.startswith(("/tmp/agz", "/var/tmp/agz")) or "journal" in link:
                print("STOLEN descriptor", link)
        except OSError:
            pass


write()
threading.Thread(target=lambda: [(time.sleep(0.1), write()) for _ in range(20)], daemon=True).start()
""",
}
