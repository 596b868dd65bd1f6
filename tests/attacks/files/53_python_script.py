"""The exported script instead of the notebook, under its name."""

from __future__ import annotations

from pathlib import Path

ENTRY = 53
TITLE = "a script called .ipynb"
EXPECTED = "rejected"
REASON = "not a notebook"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(b"# coding: utf-8\n# In[1]:\nimport numpy as np\n")
