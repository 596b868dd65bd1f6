"""What a boxed program inherits besides files: environment variables, descriptors, and caches of folder names.

The environment is built up from nothing. A filter that takes things out would have to know every tool that keeps a
token in a variable.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.sandbox import syscalls
from autograder.sandbox.view import View

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_INITIAL_BLOCK = (49, 50)
"""places of env_start and env_end in /proc/self/stat, counted from zero"""


def clean(view: View, extra: Mapping[str, str]) -> dict[str, str]:
    """The variables of a box: folders in the private folder, one language, and `extra`."""
    return {
        "PATH": f"{Path(sys.prefix) / 'bin'}:{_SYSTEM_PATH}",
        "HOME": str(view.home),
        "TMPDIR": str(view.tmp),
        "USER": "student",
        "LOGNAME": "student",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "MPLCONFIGDIR": str(view.home / ".matplotlib"),
        "IPYTHONDIR": str(view.home / ".ipython"),
        **extra,
    }


def replace(variables: Mapping[str, str]) -> None:
    """Make `variables` the whole environment, wipe the block the process was started with, forget cached folders."""
    os.environ.clear()
    os.environ.update(variables)
    _wipe_initial_block()
    tempfile.tempdir = None
    matplotlib = sys.modules.get("matplotlib")
    for name in ("get_configdir", "get_cachedir"):
        _forget(getattr(matplotlib, name, None))


def _forget(cached: object) -> None:
    """Matplotlib remembers its folders in a closure, with a variable `called`, and offers no way to clear it."""
    names = getattr(getattr(cached, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(cached, "__closure__", None) or (), strict=False):
        if name == "called":
            cell.cell_contents = False


def _wipe_initial_block() -> None:
    """/proc/self/environ shows the strings that exec left on the stack, whatever was unset since."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = (int(fields[place - 2]) for place in _INITIAL_BLOCK)
        if 0 < start < end:
            ctypes.memset(start, 0, end - start)


def detach(keep: Iterable[int]) -> None:
    """Leave the session, stand on empty streams, and close every descriptor that is not in `keep`."""
    keep = set(keep)
    with contextlib.suppress(PermissionError):  # already the leader of a session
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        if stream not in keep and nothing != stream:
            os.dup2(nothing, stream)
    syscalls.close_all_but([0, 1, 2, *keep])
