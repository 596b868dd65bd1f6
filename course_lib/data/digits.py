"""Handwritten digits, 8 x 8 pixels: small enough for the repository, real enough that training on them counts."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np

from course_lib.data.files import read_checked

__all__ = ["ImageSplit", "load_digits"]

_SHA256 = "b2dab7b501728c22e9119ad76740b2e17c77a231e42d1e592380d90886f1a05e"
_TRAIN = 1500


class ImageSplit(NamedTuple):
    """Labeled images, split once and for all. Unpacks in the order of its fields."""

    x_train: np.ndarray
    """`(n, height, width)`, float32 from 0 (background) to 1 (ink)"""
    y_train: np.ndarray
    """`(n,)`, int64 class numbers"""
    x_test: np.ndarray
    """held out; as `x_train`"""
    y_test: np.ndarray
    """as `y_train`"""


def load_digits() -> ImageSplit:
    """The 1797 digits of the UCI test set: 1500 for training and 297 held out, 8 x 8 pixels, ten classes.

    The order is that of the original file and the held-out images are its last ones, so everybody has the same split.
    The arrays are fresh ones at every call. Raises BadDataFile if the file is missing or damaged. Source and license:
    data/README.md.
    """
    with np.load(io.BytesIO(read_checked("digits.npz", _SHA256)), allow_pickle=False) as file:
        images = file["images"].astype(np.float32) / 16
        labels = file["labels"].astype(np.int64)
    return ImageSplit(images[:_TRAIN], labels[:_TRAIN], images[_TRAIN:], labels[_TRAIN:])
