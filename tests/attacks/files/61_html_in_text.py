"""Markdown takes HTML, and formgrader shows what it is given."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 61
TITLE = "scripts in text, raw cells, outputs and metadata"
EXPECTED = "graded"
SMUGGLED = ("<script",)


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)><iframe srcdoc='x'></iframe>"
    for kind in ("markdown", "raw"):
        notebook["cells"].append({"cell_type": kind, "metadata": {"format": "text/html"}, "source": evil})
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": evil, "application/javascript": evil},
    }
    notebook["cells"].append({"cell_type": "code", "metadata": {"title": evil}, "outputs": [output], "source": "1"})
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
