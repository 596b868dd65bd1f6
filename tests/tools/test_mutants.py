"""The slips that are planted in a reference: each once, and programs that can be run."""

from __future__ import annotations

import runpy
from pathlib import Path

SLIPS = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "mutants.py"))["slips"]


def test_a_function_has_every_kind_of_slip_once() -> None:
    found = list(SLIPS("def f(a, b=2):\n    if a > 0.5:\n        b = g(a, out=b)\n    return a + b"))
    assert len(found) == len(set(found))
    bodies = {text.partition("\n")[2] for text in found}
    kept = "    if a > 0.5:\n        b = g(a, out=b)\n    return {}"
    assert {kept.format(value) for value in ("a - b", "a", "b", "b + b", "a + a")} <= bodies
    assert {
        "    if a >= 0.5:\n        b = g(a, out=b)\n    return a + b",
        "    if a > 0.75:\n        b = g(a, out=b)\n    return a + b",
        "    if a > 0.5:\n        b = g(a)\n    return a + b",
        "    if a > 0.5:\n        b = a\n    return a + b",
        "    if a > 0.5:\n        pass\n    return a + b",
        "    b = g(a, out=b)\n    return a + b",
        "    pass\n    return a + b",
    } <= bodies
    for text in found:
        compile(text, "slip", "exec")
