"""A data file is the right one or it is refused, in words that say what to do."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from course_lib.data import BadDataFile
from course_lib.data.files import read_checked

CONTENT = b"0123456789"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def test_the_first_folder_that_has_the_file_is_used(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "ten.bin").write_bytes(CONTENT)
    folders = (tmp_path / "package", tmp_path / "repository")
    with pytest.raises(BadDataFile) as failure:
        read_checked("nine.bin", DIGEST, folders)
    assert all(str(folder) in str(failure.value) for folder in folders), "where it was looked for"
    assert read_checked("ten.bin", DIGEST, folders) == CONTENT

    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "ten.bin").write_bytes(b"other")
    with pytest.raises(BadDataFile):
        read_checked("ten.bin", DIGEST, folders)


@pytest.mark.parametrize("damage", [b"", CONTENT[:5], b"012345678X", CONTENT + b"\n"])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "ten.bin").write_bytes(damage)
    with pytest.raises(BadDataFile, match=r"ten\.bin is not the file .* install course_lib again"):
        read_checked("ten.bin", DIGEST, (tmp_path,))
