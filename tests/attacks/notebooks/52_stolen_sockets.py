"""Remove the kernel's sockets from the private folder and put others in their place."""

ENTRY, FAMILY = 52, "C"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
import glob
import os
import socket

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
        print(type(error).__name__)


def small_graph(x, y, z):
    return 0.0, x, y, z
""",
}
