"""Small color photographs, byte for byte in the layout of CIFAR-10's binary files: what reads these reads those."""

from __future__ import annotations

import numpy as np

from course_lib.data.files import read_checked

__all__ = ["PHOTO_CLASSES", "photo_records"]

_SHA256 = "b1dff73098117330ed61afeb2deaad9c5830c629610073a6721a8653437f4211"
_RECORD = 1 + 3 * 32 * 32

PHOTO_CLASSES = ("cat", "coffee", "galaxies", "retina", "rocket")
"""what the labels 0 to 4 stand for"""


def photo_records() -> np.ndarray:
    """40 records of 3073 bytes each, `(40, 3073)` uint8: a label, then the red, green and blue plane of 32 x 32 pixels.

    Eight crops of each of five photographs, mixed: enough to look at, too few and too alike to train on. The array is
    a fresh one at every call. Raises BadDataFile if the file is missing or damaged. Sources and licenses:
    data/README.md.
    """
    content = read_checked("photos.bin", _SHA256)
    return np.frombuffer(content, np.uint8).reshape(-1, _RECORD).copy()
