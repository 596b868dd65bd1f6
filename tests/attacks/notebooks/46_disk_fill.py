"""Fill the disk: one large file, a million empty ones, a sparse one, a core dump."""

ENTRY, FAMILY = 46, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "full"
UNSAFE_FOR_NBGRADER = True
LIMITS = {"cell_s": 15.0, "notebook_s": 100.0, "memory_bytes": 1 << 30}
CELLS = {
    "small_graph": """
import os
import resource


def small_graph(x, y, z):
    return 0.0, x, y, z


def attempt(name, action):
    try:
        action()
        print("STOLEN", name)
    except (OSError, ValueError) as error:
        print(name, type(error).__name__)


def large():
    with open("large", "wb") as file:
        for _ in range(256):
            file.write(bytes(1 << 20))


def many():
    os.mkdir("many")
    for number in range(100_000):
        os.close(os.open(f"many/{number}", os.O_CREAT | os.O_WRONLY))


def sparse():
    with open("sparse", "wb") as file:
        file.truncate(1 << 40)


attempt("large", large)
if os.path.exists("large"):
    os.remove("large")
attempt("many", many)
attempt("sparse", sparse)
attempt("core", lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
""",
}
