"""Visible checks: what a student runs in the notebook, one module for each assignment.

They live here and not in the notebooks, so that a fix reaches students who opened theirs weeks ago. They give hints,
not points: the points come from hidden checks that run elsewhere.
"""

from course_lib.checks.outcome import CheckFailed

__all__ = ["CheckFailed"]
