"""tempfile, files in the working folder and in HOME, a database, a pickle of one's own."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "test_small_graph",
        """
import os
import pickle
import sqlite3
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    np.save(f"{folder}/x.npy", np.arange(10))
    assert np.load(f"{folder}/x.npy").sum() == 45
Path("notes.txt").write_text("kept")
Path.home().joinpath(".mine").write_text("kept")
with sqlite3.connect("mine.db") as base:
    base.execute("create table t (x)")
assert pickle.loads(pickle.dumps({"a": [1, 2]})) == {"a": [1, 2]}
os.chdir(tempfile.mkdtemp())
""",
    )
]
