"""The small course of `tests/autograder/small_course.py`."""

from tests.autograder.small_course import assignment, course, students

__all__ = ["assignment", "course", "students"]
