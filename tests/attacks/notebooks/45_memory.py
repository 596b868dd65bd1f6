from tests.attacks.corpus import variant

memory_at_once = variant(
    "Take all memory at once.",
    small_graph="import numpy as np\ndef small_graph(x, y, z): return np.ones(1 << 29)",
    # Where memory is watched, a request far beyond the limit is refused: a MemoryError, as on anybody's machine.
    expected="memory|failed small_graph",
    tier="limits",
    unsafe=True,
)

memory_by_steps = variant(
    "Take all memory by small steps.",
    numerical_gradient="""
def numerical_gradient(f, x, h=1e-5):
    held = []
    while True:
        held.append(bytearray(b"x") * (1 << 20))""",
    expected="memory numerical_gradient",
    tier="limits",
    unsafe=True,
)

memory_in_children = variant(
    "Spread the memory over many children, each below the limit.",
    small_graph="""
import os, time
def small_graph(x, y, z):
    for _ in range(12):
        if os.fork() == 0:
            held = bytearray(b"x") * (100 << 20)
            time.sleep(60)
            os._exit(len(held) % 2)
    time.sleep(60)""",
    expected="memory small_graph",
    tier="full",
    unsafe=True,
)

shared_memory = variant(
    "Fill /dev/shm and /tmp, which are memory too.",
    with_wrong="""
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
print("STOLEN memory" if total > 64 << 20 else "bounded", total >> 20)""",
    tier="full",
    unsafe=True,
)
