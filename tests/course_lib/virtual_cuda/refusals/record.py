"""Run the whole table on a real GPU and store what it said, for this version of torch.

    python -m tests.course_lib.virtual_cuda.refusals.record [--out FILE] [--virtual]

The file goes to `records/torch-VERSION.json` beside this module, and from then on it, not the table, is what the tests
hold virtual CUDA to for that version. Rows where the two differ are printed: correct them. A row that needs more
devices than there are is stored as skipped. `--virtual` runs on virtual CUDA instead, to try the recorder itself; such
a file says so and is never used as a source.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.refusals.cases import Outcome
from tests.course_lib.virtual_cuda.refusals.table import CASES

RECORDS = Path(__file__).with_name("records")
VIRTUAL = "virtual"


@dataclass(frozen=True)
class Record:
    """What one machine said."""

    torch: str
    """version, without the build's suffix"""
    build: str
    """version of torch and of CUDA"""
    device: str
    """the GPU's name, or `virtual`"""
    devices: int
    """how many there were"""
    python: str
    outcomes: dict[str, Outcome | None]
    """by the row's name; None: it needs more devices than there were"""

    def disagreements(self) -> list[str]:
        """Rows whose expectation in the table is not what was said."""
        wrong = []
        for case in CASES:
            outcome = self.outcomes.get(case.name)
            trouble = case.expect.explain(outcome) if outcome is not None else ""
            if trouble:
                wrong.append(f"{case.name}: {trouble}\n    (expected because of {case.source})")
        return wrong

    def write(self, path: Path) -> None:
        """Store it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def read(path: Path) -> Record:
        """Read what `write` has stored."""
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        stored["outcomes"] = {
            name: None if said is None else Outcome(**{**said, "classes": tuple(said["classes"])})
            for name, said in stored["outcomes"].items()
        }
        return Record(**stored)


def version() -> str:
    """The installed torch's, without the build's suffix."""
    return str(torch.__version__).partition("+")[0]


def place() -> Path:
    """Where the record for the installed torch is kept."""
    return RECORDS / f"torch-{version()}.json"


def obstacle() -> str:
    """What is missing here for a record, or nothing. C++, which virtual CUDA does not reach, has the last word."""
    if virtual_cuda.is_enabled():
        return "Virtual CUDA is on, and what it says is no source: start a process without it."
    if torch.version.cuda is None:
        return f"torch {torch.__version__} was built without CUDA: install a build for CUDA, on a machine with a GPU."
    if not torch.cuda.is_available():
        return "No GPU here: this needs a machine with an NVIDIA GPU and its driver (two GPUs for all rows)."
    if not torch._C.TensorBase.is_cuda.__get__(torch.ones(1, device="cuda")):  # type: ignore[attr-defined]
        return "Something plays a GPU here: a tensor on 'cuda' is on the CPU."
    return ""


def record(device: str, devices: int) -> Record:
    """Run every row here. Raises RuntimeError if a row has left the GPU unusable: what follows would mean nothing."""
    outcomes: dict[str, Outcome | None] = {}
    for case in CASES:
        if case.devices > devices:
            outcomes[case.name] = None
            continue
        outcomes[case.name] = case.run()
        try:
            torch.ones(1, device="cuda").item()
        except RuntimeError as error:
            raise RuntimeError(f"{case.name} has left the device unusable; run it last, or not at all") from error
    build = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
    return Record(version(), build, device, devices, platform.python_version(), outcomes)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 1 if a row differs from the table, 2 if nothing can be recorded here."""
    parser = argparse.ArgumentParser(description="Record what a real GPU says to each row of the table of refusals.")
    parser.add_argument("--out", type=Path, help="file to write; otherwise records/torch-VERSION.json")
    parser.add_argument("--virtual", action="store_true", help="try the recorder on virtual CUDA")
    chosen = parser.parse_args(arguments)
    if not chosen.virtual and (missing := obstacle()):
        print(f"{missing} Nothing was recorded. (--virtual --out FILE tries the recorder itself.)", file=sys.stderr)
        return 2
    if chosen.virtual and chosen.out is None:
        parser.error("--virtual needs --out: what virtual CUDA says is no source")
    session: Any = (
        virtual_cuda.session(devices=2, quiet=True, force=True) if chosen.virtual else contextlib.nullcontext()
    )
    with session, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = record(VIRTUAL if chosen.virtual else torch.cuda.get_device_name(), torch.cuda.device_count())
    path = chosen.out or place()
    found.write(path)
    skipped = sum(outcome is None for outcome in found.outcomes.values())
    wrong = found.disagreements()
    print(f"{len(found.outcomes)} rows on {found.device} ({found.build}): {skipped} skipped, {len(wrong)} surprising")
    print(*wrong, sep="\n")
    print(f"Written to {path}")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
