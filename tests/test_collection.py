"""Collecting the tests imports no framework: each worker pays for collection before it runs its first test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COLLECT = """
import sys
import pytest
status = pytest.main(["tests", "--collect-only", "-qq", "-n", "0", "-p", "no:cacheprovider"])
assert status == 0, status
print("imported:", *sorted({"torch", "tensorflow", "keras", "jax", "lightning", "onnx"} & sys.modules.keys()))
"""


@pytest.mark.slow
def test_collection_imports_no_framework() -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run([sys.executable, "-c", COLLECT], cwd=ROOT, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "imported:"
