"""What the documents name is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_test_that_a_document_names_exists() -> None:
    named = {
        name
        for path in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"`(test_\w{15,})`", path.read_text(encoding="utf-8"))
    }
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    there = {name for text in texts for name in re.findall(r"^ *(?:async )?def (test_\w+)", text, re.MULTILINE)}
    assert named and named <= there, sorted(named - there)
