"""Saved by a Jupyter of the future."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 55
TITLE = "nbformat 4.99"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    notebook["nbformat_minor"] = 99
    notebook["future"] = {"cells": 1}
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
