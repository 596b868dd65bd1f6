"""Take locks, ports and names that the next student or the grader would want."""

ENTRY, FAMILY = 52, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "full"
CELLS = {
    "small_graph": """
import fcntl
import os
import socket
import sys

held = []
for port in (8888, 8080, *range(49152, 49400)):
    try:
        taken = socket.socket()
        taken.bind(("0.0.0.0", port))
        taken.listen()
        held.append(taken)
    except OSError:
        pass
for path in (sys.modules["course_lib"].__file__, sys.modules["numpy"].__file__, os.__file__):
    try:
        file = open(path)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(open(path, "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        print(type(error).__name__)
    held.append(file)
for name in (".lock", "gradebook.db", "nbgrader.lock"):
    fcntl.flock(open(f"/tmp/{name}", "w"), fcntl.LOCK_EX)


def small_graph(x, y, z):
    return 0.0, x, y, z
""",
}
