"""A notebook is executed once for all its tests."""

from tests.executed import executed, pytest_collection_modifyitems

__all__ = ["executed", "pytest_collection_modifyitems"]
