from tests.attacks.corpus import variant

resources_held = variant(
    "Hold descriptors, mappings, semaphores and processors when the kernel ends.",
    with_wrong="""
import contextlib, ctypes, mmap, multiprocessing, multiprocessing.shared_memory, os
libc = ctypes.CDLL(None)
held = []
with contextlib.suppress(OSError):
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
for descriptor in held[:50]:
    os.close(descriptor)
ids = [libc.shmget(0, 1 << 20, 0o1777) for _ in range(100)] + [libc.semget(0, 10, 0o1777) for _ in range(100)]
try:
    blocks = [multiprocessing.shared_memory.SharedMemory(create=True, size=1 << 20) for _ in range(20)]
except OSError as error:
    print(type(error).__name__)
for descriptor in held[50:]:
    os.close(descriptor)""",
    tier="full",
    unsafe=True,
)
