"""To and from nbgrader and the learning platforms: the gradebook, exports."""

from autograder.gradebook.exports import export
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.gradebook.roster import read_roster
from autograder.gradebook.settings import Course, read_course

__all__ = ["Course", "export", "read_course", "read_roster", "write_gradebook"]
