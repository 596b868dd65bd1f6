"""Find a bundled data file, and make sure that it is the one the course was written with.

An installed `course_lib` carries the files inside the package (`_files/`); in a checkout they lie in the repository's
`data/`. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["BadDataFile", "read_checked"]

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE / "_files", _PACKAGE.parent / "data")


class BadDataFile(RuntimeError):
    """A bundled data file is missing or is not the right one."""


def read_checked(name: str, sha256: str, folders: tuple[Path, ...] = _FOLDERS) -> bytes:
    """The bytes of the data file `name`, taken from the first of `folders` that has it.

    sha256: what the bytes must hash to, hexadecimal. Raises BadDataFile if the file is missing or hashes to something
    else.
    """
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is None:
        places = " nor in ".join(str(folder) for folder in folders)
        raise BadDataFile(f"{name} is neither in {places}. Install course_lib again: it brings its data files along.")
    content = found.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise BadDataFile(
            f"{found} is not the file that the course was written with: {len(content)} bytes, "
            f"SHA-256 {digest[:12]}... instead of {sha256[:12]}... It was changed or cut short; "
            "install course_lib again."
        )
    return content
