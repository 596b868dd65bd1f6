"""Where in a program something happened: the innermost line that is the program's own, not a library's.

Someone who reads `train.py:12` goes there and changes it; a line of torch's helps nobody. In a notebook the place is a
cell and a line in it, and the line's text is kept with it, because cells get edited.
"""

from __future__ import annotations

import linecache
import re
import sys
import sysconfig
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_LIBRARIES = (str(Path(__file__).parents[2]), *(sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib")))
_PACKAGES = re.compile(r"[/\\](site|dist)-packages[/\\]")
_GENERATED = ("<frozen ", "<eval_with_key>", "<__array_function__", "<decorator-gen", "<@beartype")
_OLD_CELL = re.compile(r"<ipython-input-(\d+)-")
_CELL_FILE = re.compile(r"[/\\]ipykernel_\d+[/\\]\w+\.py$|[/\\]ipython-input-[\w-]+\.py$")


class Site(NamedTuple):
    """One line of the program."""

    name: str
    """`train.py:12`; in a notebook `cell [3], line 2`; `unknown` if no Python of the program is running"""
    path: str
    line: int
    code: str
    """the text of the line; empty if it cannot be read any more"""


UNKNOWN = Site("unknown", "", 0, "")


class Sites:
    """The places met so far. Files of the same name in different folders get different names."""

    def __init__(self) -> None:
        self._owner: dict[str, str] = {}
        self._known: dict[tuple[str, int, int | None], Site] = {}
        self.by_name: dict[str, Site] = {}

    def here(self) -> Site:
        """The place that is now running, of the calling thread."""
        frame: FrameType | None = sys._getframe(1)
        fallback = None
        while frame is not None:
            path = frame.f_code.co_filename
            kind = _KINDS.get(path)
            if kind is None:
                kind = _KINDS[path] = _kind(path)
            if kind == _PROGRAM:
                return self._site(path, frame.f_lineno)
            # A library's own thread, torch's pinning one for example, has no line of the program below it.
            if kind == _LIBRARY:
                fallback = path, frame.f_lineno
            frame = frame.f_back
        return self._site(*fallback) if fallback else UNKNOWN

    def _site(self, path: str, line: int) -> Site:
        cell = cell_number(path)
        key = path, line, cell
        site = self._known.get(key)
        if site is None:
            place = f"{self._file(path)}:{line}" if cell is None else f"cell{f' [{cell}]' if cell else ''}, line {line}"
            site = self._known[key] = Site(place, path, line, linecache.getline(path, line).strip())
            self.by_name[place] = site
        return site

    def _file(self, path: str) -> str:
        """The last part of the path, and as many before it as it takes to tell it from other files."""
        parts = Path(path).parts
        for length in range(1, len(parts)):
            name = "/".join(parts[-length:])
            if self._owner.setdefault(name, path) == path:
                return name
        return path


_PROGRAM, _LIBRARY, _OURS = 1, 2, 3
_KINDS: dict[str, int] = {}


def _kind(path: str) -> int:
    if path.startswith(_LIBRARIES[0]):
        return _OURS
    if path.startswith(_GENERATED):
        return _OURS
    return _LIBRARY if _PACKAGES.search(path) or path.startswith(_LIBRARIES[1:]) else _PROGRAM


def cell_number(path: str) -> int | None:
    """The number of the notebook cell that was compiled under this file name; 0 if unknown, None if it is no cell."""
    old = _OLD_CELL.match(path)
    if old:
        return int(old[1])
    if not _CELL_FILE.search(path):
        return None
    # Asked for only in a process that has IPython: nothing is imported.
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda path: None)(path)
    number = re.search(r"\d+", name[1]) if name else None
    return int(number[0]) if number else 0
