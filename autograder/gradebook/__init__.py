"""To and from nbgrader and the learning platforms: the gradebook, exports."""

from autograder.gradebook.exports import export, tell_matches
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.gradebook.roster import read_roster

__all__ = ["export", "read_roster", "tell_matches", "write_gradebook"]
