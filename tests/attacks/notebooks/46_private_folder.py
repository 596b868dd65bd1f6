"""Fill the one folder that both sides see, where the kernel's sockets lie, instead of the working folder."""

ENTRY, FAMILY = 46, "C"
EXPECTED = {"test_small_graph": "failed"}
TIER = "full"
CELLS = {
    "small_graph": """
import os
from pathlib import Path

import numpy as np


def small_graph(x, y, z):
    return 0.0, x, y, z


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
(place / "folder").mkdir(exist_ok=True)
""",
}
