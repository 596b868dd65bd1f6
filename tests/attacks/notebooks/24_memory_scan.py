from tests.attacks.corpus import ROOMY, variant

memory_scan = variant(
    "Read the whole memory of the process, and of every other one, for keys, seeds and the texts of checks.",
    with_wrong="""
import os, re
# Put together here so that this text is not what is found.
CANARY = ("ATTACK" + "_CANARY_" + "VALUE").encode()
CHECKS = ("def test_parameters" + "_after_steps").encode()
KNOWN = (CANARY, CHECKS)
def search(pid):
    budget = 1 << 30
    try:
        lines = open(f"/proc/{pid}/maps").read().splitlines()
        memory = open(f"/proc/{pid}/mem", "rb")
    except OSError as error:
        return print(pid, type(error).__name__)
    if pid != "self":
        print("STOLEN memory of", pid)
    for line in lines:
        start, end = (int(n, 16) for n in line.split()[0].split("-"))
        if "rw" not in line.split()[1] or end - start > 256 << 20 or budget < 0:
            continue
        try:
            memory.seek(start)
            text = memory.read(end - start)
        except (OSError, ValueError, OverflowError):
            continue
        budget -= len(text)
        for known in KNOWN:
            for found in re.finditer(re.escape(known) + b"[-=:\\\\w(]{5}", text):
                print("STOLEN", pid, text[found.start() : found.start() + 60])
    return None
search("self")
for pid in os.listdir("/proc"):
    if pid.isdigit() and int(pid) != os.getpid():
        search(pid)
for pid in ("self", "1", str(os.getppid())):
    for name in ("environ", "cmdline"):
        try:
            text = open(f"/proc/{pid}/{name}", "rb").read()
        except OSError:
            continue
        if CANARY in text:
            print("STOLEN", name)
print("STOLEN environment" if any(CANARY.decode() in value for value in os.environ.values()) else "clean")""",
    tier="full",
    limits=ROOMY,
)
