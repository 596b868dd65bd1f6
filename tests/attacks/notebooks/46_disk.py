from tests.attacks.corpus import ROOMY, variant

disk_fill = variant(
    "Fill the disk: one large file, a million empty ones, a sparse one, a core dump.",
    with_wrong="""
import os, resource
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
attempt("core", lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))""",
    tier="full",
    limits=ROOMY,
    unsafe=True,
)

private_folder = variant(
    "Fill the one folder that both sides see, where the kernel's sockets lie, instead of the working folder.",
    with_wrong="""
import os
from pathlib import Path
import numpy as np
written = 0
place = Path(os.environ["HOME"]).parent
for number in range(16):
    try:
        with open(place / f"fill-{number}", "wb") as file:
            for _ in range(8):
                written += file.write(bytes(1 << 20))
    except OSError as error:
        print(type(error).__name__, error)
        break
print("STOLEN disk" if written > 64 << 20 else "bounded", written >> 20)
(place / "folder").mkdir(exist_ok=True)""",
    tier="full",
)
