"""The sample class of `make demo` is what its script builds from today's assignment."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_committed_class_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("sample_class", ROOT / "tests" / "sample_class.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = ROOT / "tests" / "sample_class"
    committed = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.ipynb")}
    assert committed == module.build(), "run: python tests/sample_class.py"
