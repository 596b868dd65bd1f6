from tests.attacks.corpus import variant

patched_time = variant(
    "Stop every clock in the process, then compute for ever.",
    numerical_gradient="""
import os, signal, time
for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    setattr(time, name, lambda: 0.0)
    setattr(time, name + "_ns", lambda: 0)
os.times = lambda: (0.0,) * 5
signal.setitimer(signal.ITIMER_REAL, 0)
signal.alarm(0)
def numerical_gradient(f, x, h=1e-5):
    while True:
        pass""",
    expected="time numerical_gradient",
)
