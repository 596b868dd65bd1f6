"""The photographs are records of CIFAR-10's form, the same for everybody, and what the README says they are."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib.data import PHOTO_CLASSES, photo_records, photos

DATA = Path(__file__).resolve().parents[3] / "data"


def test_the_form_is_that_of_cifar_10() -> None:
    records = photo_records()
    assert records.shape == (40, 3073) and records.dtype == np.uint8 and records.flags.writeable
    assert np.bincount(records[:, 0]).tolist() == [8] * len(PHOTO_CLASSES)


def test_the_colors_are_where_the_format_puts_them() -> None:
    """A retina is red, an evening sky blue, and deep space dark."""
    records = photo_records()
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    means = {name: images[records[:, 0] == label].mean(axis=(0, 1, 2)) for label, name in enumerate(PHOTO_CLASSES)}
    red, green, blue = means["retina"]
    assert red > 1.5 * green > blue
    red, green, blue = means["rocket"]
    assert blue > green > red
    assert means["galaxies"].max() < 40


def test_neighboring_pixels_are_alike_and_distant_ones_are_not() -> None:
    """Had rows and columns or the planes been mixed up, this would fail."""
    planes = photo_records()[:, 1:].reshape(-1, 3, 32, 32).astype(float)
    planes = planes[photo_records()[:, 0] != PHOTO_CLASSES.index("galaxies")]
    down, across = np.abs(np.diff(planes, axis=2)).mean(), np.abs(np.diff(planes, axis=3)).mean()
    anywhere = np.abs(planes - planes[:, :, ::-1, ::-1]).mean()
    assert max(down, across) < anywhere / 2


def test_every_call_gives_an_array_of_its_own() -> None:
    photo_records()[:] = 0
    assert photo_records().max() > 200


def test_the_readme_names_the_file_that_is_there() -> None:
    content = (DATA / "photos.bin").read_bytes()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() in re.findall(r"`([0-9a-f]{64})`", readme)
    assert f"{len(content):,} bytes".replace(",", " ") in readme
    assert photos._SHA256 in readme


@pytest.mark.parametrize("name", PHOTO_CLASSES)
def test_the_readme_gives_each_photograph_its_maker_and_license(name: str) -> None:
    section = (DATA / "README.md").read_text(encoding="utf-8").partition("## photos.bin")[2]
    [row] = [line for line in section.splitlines() if line.strip().startswith(f"| {name} ")]
    assert "CC0" in row or "public domain" in row
