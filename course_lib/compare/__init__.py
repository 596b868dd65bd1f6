"""Comparisons that say in words how a value is wrong, and how far training ended from where it should have.

The visible checks, the grader's hidden ones and `parity` all compare with these.
"""

from course_lib.compare.trajectory import compare_trajectory, distance, tolerance
from course_lib.compare.values import Difference, Tolerance, compare, compare_form, tolerance_for

__all__ = [
    "Difference",
    "Tolerance",
    "compare",
    "compare_form",
    "compare_trajectory",
    "distance",
    "tolerance",
    "tolerance_for",
]
