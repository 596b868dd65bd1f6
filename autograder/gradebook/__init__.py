"""To and from nbgrader and the learning platforms: releases, the gradebook, exports."""

from autograder.gradebook.exports import export
from autograder.gradebook.leaks import Leak
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.gradebook.release import (
    check_published,
    check_release,
    publish,
    release,
    verify_published,
    verify_release,
)

__all__ = [
    "Leak",
    "check_published",
    "check_release",
    "export",
    "publish",
    "release",
    "verify_published",
    "verify_release",
    "write_gradebook",
]
