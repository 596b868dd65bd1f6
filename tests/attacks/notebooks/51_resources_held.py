"""Resources held at the end."""

from tests.attacks.corpus import variant

resources_held = variant(
    "Hold descriptors, mappings, semaphores and processors when the kernel ends.",
    small_graph="""
import ctypes
import mmap
import multiprocessing
import multiprocessing.shared_memory
import os

libc = ctypes.CDLL(None)
held = []
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
for descriptor in held[:50]:
    os.close(descriptor)
ids = [libc.shmget(0, 1 << 20, 0o1777) for _ in range(100)] + [libc.semget(0, 10, 0o1777) for _ in range(100)]
try:
    blocks = [multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 20) for _ in range(20)]
except OSError as error:
    print(type(error).__name__)
for descriptor in held[50:]:
    os.close(descriptor)

def small_graph(x, y, z):
    return 0.0, x, y, z
""",
    tier="full",
    unsafe=True,
)
