"""The digits are those of the source, in the promised form, and the same for everybody."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from course_lib.data import load_digits

DATA = Path(__file__).resolve().parents[3] / "data"


def test_the_form_is_the_promised_one() -> None:
    digits = load_digits()
    assert digits.x_train.shape == (1500, 8, 8) and digits.x_test.shape == (297, 8, 8)
    assert digits.y_train.shape == (1500,) and digits.y_test.shape == (297,)
    assert digits.x_train.dtype == digits.x_test.dtype == np.float32
    assert digits.y_train.dtype == digits.y_test.dtype == np.int64
    x_train, y_train, x_test, y_test = digits
    assert x_train is digits.x_train and y_train is digits.y_train
    assert x_test is digits.x_test and y_test is digits.y_test


def test_pixels_fill_the_range_from_0_to_1_in_sixteenths() -> None:
    digits = load_digits()
    for images in (digits.x_train, digits.x_test):
        assert images.min() == 0 and images.max() == 1
        np.testing.assert_array_equal(images * 16, np.round(images * 16))


def test_the_classes_are_as_frequent_as_the_source_says() -> None:
    """The counts of the test set in the description at UCI."""
    digits = load_digits()
    counts = np.bincount(np.concatenate([digits.y_train, digits.y_test]))
    assert counts.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(digits.y_test).min() >= 25


def test_images_and_labels_belong_together() -> None:
    """The nearest training image has the right label for most held-out ones: shuffled labels would give one in ten."""
    digits = load_digits()
    train, test = digits.x_train.reshape(-1, 64), digits.x_test.reshape(-1, 64)
    distances = (test**2).sum(1)[:, None] - 2 * test @ train.T + (train**2).sum(1)
    right = np.mean(digits.y_train[distances.argmin(axis=1)] == digits.y_test)
    assert right > 0.9
    assert distances.min() > 1e-3, "no held-out image is among those for training"


def test_every_call_gives_arrays_of_its_own() -> None:
    first = load_digits()
    first.x_train[:] = 7
    first.y_test[:] = 7
    second = load_digits()
    assert second.x_train.max() == 1 and second.y_test.min() == 0


def test_the_readme_names_the_file_that_is_there() -> None:
    content = (DATA / "digits.npz").read_bytes()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() in re.findall(r"`([0-9a-f]{64})`", readme)
    assert f"{len(content):,} bytes".replace(",", " ") in readme
    assert "CC BY 4.0" in readme
