"""Lectures are executed as all notebooks are."""

from tests.executed import executed, pytest_collection_modifyitems

__all__ = ["executed", "pytest_collection_modifyitems"]
