"""What students open: built from the instructor's sources, and refused if it holds what they must not see."""

from autograder.release.address import set_repository
from autograder.release.build import (
    check_published,
    check_release,
    publish,
    release,
    verify_published,
    verify_release,
)
from autograder.release.gradescope_zip import write_gradescope_zip
from autograder.release.leaks import Leak

__all__ = [
    "Leak",
    "check_published",
    "check_release",
    "publish",
    "release",
    "set_repository",
    "verify_published",
    "verify_release",
    "write_gradescope_zip",
]
