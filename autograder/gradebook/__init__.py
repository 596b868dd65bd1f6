"""To and from nbgrader and the learning platforms: the gradebook, exports."""

from autograder.gradebook.exports import export
from autograder.gradebook.nbgrader_db import write_gradebook

__all__ = ["export", "write_gradebook"]
