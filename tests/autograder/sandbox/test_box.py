"""What a box is, seen from inside and outside."""

from __future__ import annotations

from typing import Any

from autograder.sandbox import Tier


def test_a_program_in_a_box_stands_in_its_working_folder_as_an_ordinary_user(boxed: Any) -> None:
    def look() -> dict[str, Any]:
        import os
        import pathlib

        status = pathlib.Path("/proc/self/status").read_text()
        return {
            "uid": os.getuid(),
            "pid": os.getpid(),
            "cwd": os.getcwd(),
            "home": os.environ["HOME"],
            "caps": [line.split()[1] for line in status.splitlines() if line.startswith("Cap")],
            "environ": dict(os.environ),
            "root": sorted(os.listdir("/")),
            "fds": sorted(os.listdir("/proc/self/fd")),
        }

    seen = boxed(look)
    assert seen.tier is Tier.FULL
    assert seen.result["cwd"] == f"{seen.private}/work"
    assert seen.result["uid"] != 0
    assert set(seen.result["caps"]) == {"0" * 16}
