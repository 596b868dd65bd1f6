"""The small course of `tests/autograder/small_course.py`."""

from tests.autograder.small_course import assignment, course, module_run, run, students

__all__ = ["assignment", "course", "module_run", "run", "students"]
