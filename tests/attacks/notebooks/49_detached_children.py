from tests.attacks.corpus import variant

detached_children = variant(
    "Leave children behind: a double fork into a session of its own, nohup, and a thread that goes on.",
    with_wrong="""
import contextlib, os, signal, subprocess, threading, time
def detached():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 32):
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_IGN)
            while True:
                time.sleep(0.5)
        os._exit(0)
detached()
subprocess.Popen(["nohup", "sleep", "98765"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
subprocess.Popen("(sleep 98765 &) &", shell=True, start_new_session=True)
threading.Thread(target=lambda: [time.sleep(0.1) for _ in range(10**6)], daemon=False).start()""",
    tier="full",
    unsafe=True,
)
