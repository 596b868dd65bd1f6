"""The course's data sets: small, bundled, checked, and all of the same form."""

from course_lib.data.digits import ImageSplit, load_digits
from course_lib.data.files import BadDataFile

__all__ = ["BadDataFile", "ImageSplit", "load_digits"]
