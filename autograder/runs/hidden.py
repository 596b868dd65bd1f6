"""What students' code must not see of this machine: the run, the assignment, the submissions, the home folder."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from autograder.kernels.preload import public_folders
from autograder.sandbox import default_read
from autograder.sandbox.view import SYSTEM


def hidden_places(*given: Path) -> list[Path]:
    """`given` and the home folder, and a file out of each place, for every kernel to try to open."""
    places = [place.resolve() for place in given]
    home = Path(os.path.expanduser("~"))  # stays "~" for a user whom no list names, as in some containers
    if home.is_absolute() and home.parent != home and not any(home.is_relative_to(system) for system in SYSTEM):
        places.append(home.resolve())
    shown = default_read() + public_folders()
    return [*places, *filter(None, (_file_in(place, shown) for place in places))]


def _file_in(place: Path, shown: Sequence[Path]) -> Path | None:
    """A plain file that lies in a folder, if need be deeper, but not in what is shown of it."""
    for parent, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if Path(parent, name) not in shown)
        for path in (Path(parent, name) for name in sorted(names)):
            with contextlib.suppress(OSError):  # others work in a home folder: gone since it was listed
                if stat.S_ISREG(path.lstat().st_mode) and not any(path.is_relative_to(p) for p in shown):
                    return path
    return None
