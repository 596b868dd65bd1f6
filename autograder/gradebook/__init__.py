"""To and from nbgrader and the learning platforms: the gradebook, exports."""

from autograder.gradebook.exports import export, read_run
from autograder.gradebook.marks import with_marks
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.gradebook.returning import pack_feedback
from autograder.gradebook.roster import read_roster
from autograder.gradebook.settings import Course, read_course

__all__ = [
    "Course",
    "export",
    "pack_feedback",
    "read_course",
    "read_roster",
    "read_run",
    "with_marks",
    "write_gradebook",
]
