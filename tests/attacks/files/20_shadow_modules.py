"""Files that Python or pytest would import in place of the installed ones."""

from __future__ import annotations

from pathlib import Path

ENTRY = 20
TITLE = "torch.py, numpy/, conftest.py and others beside the notebook"
EXPECTED = "graded"
FLAGS = ("shadow-module", "dropped-file")


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for name in ("torch.py", "numpy/__init__.py", "course_lib/checks/compare.py", "conftest.py", "sitecustomize.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise SystemExit")
    for name in ("usercustomize.py", "evil.pth", "json.py", "ipython_config.py", "PYTHONPATH"):
        (folder / name).write_text("import os")
