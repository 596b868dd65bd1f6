"""Optional parts of libraries are hidden while these are imported, and there again afterwards."""

import importlib
import json
import sys

import pytest

from autograder.imports import without


def test_what_is_hidden_cannot_be_imported_within_and_can_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)  # matplotlib has it
    with pytest.raises(RuntimeError), without("antigravity", "colorsys"):
        with pytest.raises(ImportError):
            importlib.import_module("colorsys")
        raise RuntimeError
    assert importlib.import_module("colorsys").rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    assert "antigravity" not in sys.modules


def test_what_was_imported_before_stays() -> None:
    with without("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json
