"""Fill /dev/shm and /tmp, which are memory too."""

ENTRY, FAMILY = 45, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "full"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import os


def fill(folder):
    written = 0
    try:
        for number in range(4000):
            with open(f"{folder}/fill-{os.getpid()}-{number}", "wb") as file:
                for _ in range(8):
                    written += file.write(bytes(1 << 20))
    except OSError as error:
        print(type(error).__name__)
    return written


total = sum(map(fill, ("/dev/shm", "/tmp", os.environ["HOME"], ".")))
print("STOLEN memory" if total > 64 << 20 else "bounded", total >> 20)


def small_graph(x, y, z):
    return 0.0, x, y, z
""",
}
