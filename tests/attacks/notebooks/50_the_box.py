"""Against the box and whoever is outside."""

from tests.attacks.corpus import variant

break_the_box = variant(
    "Ask the kernel for what would undo the box: mounts, namespaces, users, tracing, the supervisor's death signal.",
    with_wrong="""
import ctypes, os, resource, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, action):
    try:
        if action() == 0:
            print("STOLEN", name)
    except (OSError, ValueError) as error:
        print(name, type(error).__name__)
attempt("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
attempt("umount", lambda: libc.umount2(b"/tmp", 2))
attempt("user namespace", lambda: libc.unshare(0x10000000))
attempt("mount namespace", lambda: libc.unshare(0x20000))
attempt("chroot", lambda: libc.chroot(b"/tmp"))
attempt("root", lambda: os.setuid(0) or 0)
attempt("groups", lambda: os.setgroups([0]) or 0)
attempt("ptrace", lambda: libc.ptrace(0, 0, 0, 0))
attempt("bpf", lambda: libc.syscall(321, 0, 0, 0))
attempt("io_uring", lambda: libc.syscall(425, 1, ctypes.create_string_buffer(120)) < 0)
attempt("keys", lambda: libc.syscall(250, 0, -3, 1) < 0)
attempt("limits", lambda: resource.setrlimit(resource.RLIMIT_NPROC, (10**6, 10**6)) or 0)
attempt("remount", lambda: subprocess.run(["mount", "-o", "remount,rw", "/"], capture_output=True).returncode)
attempt("sudo", lambda: subprocess.run(["su", "-c", "id"], capture_output=True).returncode)
attempt("write to /proc", lambda: open("/proc/sys/kernel/hostname", "w").write("x") and 0)
attempt("write to python", lambda: open(os.__file__, "a").write(" ") and 0)
libc.prctl(1, 0)  # no death signal any more: the box must not need it""",
    tier="full",
    unsafe=True,
)

kill_the_grader = variant(
    "Kill, trace and slow down everything that can be reached: the grader, the zygote, other students' kernels.",
    with_wrong="""
import contextlib, ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
me = os.getpid()
own = {int(name) for name in os.listdir("/proc/self/task")}  # a thread's number reaches its process
for pid in [-1, 0, os.getppid(), *range(2, 60_000)]:
    if pid == 0 or pid in own:
        continue
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        if pid > 0:
            print("STOLEN kill of", pid)
    if 0 < pid < 5000 and libc.ptrace(16, pid, 0, 0) == 0:
        print("STOLEN trace of", pid)
    if 0 < pid < 5000:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(pid, {0})
            print("STOLEN affinity of", pid)
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) != me:
        print("STOLEN sight of process", name)""",
    tier="full",
    unsafe=True,
)
