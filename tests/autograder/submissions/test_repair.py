"""Limits count what a parser would meet, and nothing inside strings."""

from __future__ import annotations

import json

import pytest

from autograder.submissions.repair import MAX_DEPTH, Unreadable, read_notebook


def notebook(source: str, **more: object) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": source}], **more}).encode()


@pytest.mark.parametrize("source", ["[" * 5000, '"' * 5001 + "[" * 300, "\\" * 4999 + "[" * 300, '\\"{' * 900])
def test_brackets_quotes_and_backslashes_in_code_are_not_structure(source: str) -> None:
    assert read_notebook(notebook(source)).cells[0].source == source


def test_nesting_up_to_the_limit_is_read_and_beyond_is_not() -> None:
    def nested(depth: int) -> bytes:
        return notebook("x", outputs="PLACE").replace(b'"PLACE"', b"[" * depth + b"]" * depth)

    assert read_notebook(nested(MAX_DEPTH - 1)).cells
    with pytest.raises(Unreadable, match="nested"):
        read_notebook(nested(MAX_DEPTH))


def test_line_breaks_inside_strings_are_understood() -> None:
    assert read_notebook(notebook("a = 1\nb = 2").replace(b"\\n", b"\n")).cells[0].source == "a = 1\nb = 2"


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b"1e999999", b"-0", b"9" * 10_000, b"1" * 5000 + b".5"])
def test_odd_numbers_are_read(value: bytes) -> None:
    assert read_notebook(notebook("x", number="PLACE").replace(b'"PLACE"', value)).cells
