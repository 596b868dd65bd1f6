"""From a submission that was read to its record: `grade` is the story, `items` how a verdict becomes points."""

from autograder.grading.in_kernel import why_reference_fails
from autograder.grading.items import allowance_s, could_not_grade, item_of, max_score, overall, rejection, unmarked

__all__ = [
    "allowance_s",
    "could_not_grade",
    "item_of",
    "max_score",
    "overall",
    "rejection",
    "unmarked",
    "why_reference_fails",
]
