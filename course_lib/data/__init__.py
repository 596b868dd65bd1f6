"""The course's data sets: small, bundled, checked, and all of the same form."""

from course_lib.data.digits import ImageSplit, load_digits
from course_lib.data.files import BadDataFile
from course_lib.data.photos import PHOTO_CLASSES, photo_records

__all__ = ["PHOTO_CLASSES", "BadDataFile", "ImageSplit", "load_digits", "photo_records"]
