"""They run in the box, or not at all; reading them runs nothing."""

from __future__ import annotations

import json
from pathlib import Path

ENTRY = 63
TITLE = "shell commands and magics in added cells"
EXPECTED = "graded"


def build(folder: Path, honest: bytes) -> None:
    """Write what mallory hands in."""
    notebook = json.loads(honest)
    lines = (
        "!touch ../../../escaped",
        "%%bash\ntouch ../../../escaped",
        "%run escaped.py",
        "%cd /",
        "%reset -f",
        "%load x",
    )
    lines += (
        "%%writefile ../../../escaped\nx",
        "%pip install evil",
        "%autoreload 2",
        "files = !ls",
        "?help",
        "%%html\n<b>",
    )
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": line} for line in lines]
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
