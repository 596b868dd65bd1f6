"""Lateness and names come from the platform, never from the file."""

import json

from tests.attacks.handed_in import folder


@folder("timestamp.txt, student and checksums forged")
def forged_receipt(folder, honest):
    notebook = json.loads(honest)
    notebook["metadata"] |= {"student": "alice", "timestamp": "1999-01-01", "authors": [{"name": "alice"}]}
    for cell in notebook["cells"]:
        cell["metadata"].get("nbgrader", {})["checksum"] = "0" * 32
    (folder / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
    (folder / "timestamp.txt").write_text("not a date")
    (folder / "student_id.txt").write_text("alice")
