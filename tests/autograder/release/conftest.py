"""The small course of `tests/autograder/small_course.py`."""

from tests.autograder.small_course import course

__all__ = ["course"]
