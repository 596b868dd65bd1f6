"""The login page of the platform, saved as the notebook."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "an HTML page"
EXPECTED = "rejected"
REASON = "not a notebook"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"<!DOCTYPE html><html><script>alert(1)</script></html>")
