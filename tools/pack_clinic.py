"""Pack the scripts of a9 with their faults into `data/clinic.xz`; to be run after a change to a script or a fault.

python tools/pack_clinic.py
"""

from __future__ import annotations

import hashlib
import importlib
import json
import lzma
import re
from pathlib import Path

from autograder.assignment import load_assignment
from autograder.judge.faults import modules_of

ROOT = Path(__file__).resolve().parents[1]
PACKED = ROOT / "data" / "clinic.xz"
READER = ROOT / "course_lib" / "checks" / "clinic.py"


def scripts() -> dict[str, dict[str, list[str]]]:
    """script -> number of faults -> all copies, from the reference cells and `faults.py`."""
    assignment = load_assignment("a9_debugging_clinic", ROOT)
    healthy = {c.grade_id: c.source for c in assignment.notebooks[0].cells}
    with modules_of(assignment.folder):
        faults = importlib.import_module("faults")
    return {
        str(script): {
            str(many): [
                faults.plant(script, healthy[f"script_{script}"], *copy) for copy in faults.copies(script, many)
            ]
            for many in (1, 2, 3)
        }
        for script in faults.POOLS
    }


def main() -> None:
    packed = lzma.compress(json.dumps(scripts()).encode(), preset=9 | lzma.PRESET_EXTREME)
    PACKED.write_bytes(packed)
    text = READER.read_text(encoding="utf-8")
    digest = hashlib.sha256(packed).hexdigest()
    READER.write_text(re.sub(r'_SHA256 = "\w*"', f'_SHA256 = "{digest}"', text), encoding="utf-8")
    print(f"{PACKED.name}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
