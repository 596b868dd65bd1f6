"""Collecting the tests imports no framework: each worker pays for collection before it runs its first test."""

from __future__ import annotations


def test_collection_imports_no_framework(imported_by_collection: set[str]) -> None:
    assert imported_by_collection == set()
