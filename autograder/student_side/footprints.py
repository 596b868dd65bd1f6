"""What the student's code did to the libraries that its work is recorded with, and which forbidden ones it loaded.

Two things are laid before the first cell. A snapshot of the functions and classes of these libraries shows later what
was replaced. And forbidden libraries that the warm process had loaded are taken out of sight: whoever imports one gets
it, by whatever name, in whatever thread and in whatever fork of this process, and is noted.

It is noted beside the student's code, which could undo all of this: a reason to look, never a verdict.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import mmap
import os
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

WATCHED = ("torch", "torch.nn.functional", "torch.autograd", "torch.cuda", "numpy", "numpy.linalg", "numpy.random")
CLASSES = (
    "torch.Tensor",
    "torch.nn.Module",
    "torch.optim.Optimizer",
    "torch.optim.SGD",
    "torch.optim.Adam",
    "torch.utils.data.DataLoader",
    "numpy.random.Generator",
)
OURS = ("autograder", "course_lib")
"""all of whose loaded modules are watched, with their classes"""
MOST_NAMES = 20
TRACING = ("sys.setprofile", "sys.settrace")


class Footprints:
    """Lays the snapshot and the trap; `found` says what has happened since."""

    def __init__(self, forbidden: Iterable[str] = ()) -> None:
        self.notes: dict[str, dict[str, None]] = {"patched": {}, "traced": {}}
        self._before = dict(_snapshot())
        self._trap = _Trap(sorted({name for name in forbidden if "." not in name}))
        sys.meta_path.insert(0, self._trap)
        sys.addaudithook(self._note_tracing)

    def found(self) -> dict[str, list[str]]:
        """By kind: the functions that were replaced, the calls that trace a program, the libraries that were loaded."""
        for place, now in _snapshot():
            # Of a module that was loaded since, what is not a library's own has been put there.
            before = self._before.get(place) or {n: None for n, v in now.items() if _is_foreign(v)}
            replaced = (
                n for n, value in before.items() if now.get(n) is not value and not _is_own(place, n, now.get(n))
            )
            self.notes["patched"].update(dict.fromkeys(f"{place}.{name}" for name in replaced))
        found = {**self.notes, "loaded": self._trap.noted()}
        return {kind: list(names)[:MOST_NAMES] for kind, names in found.items() if names}

    def _note_tracing(self, event: str, args: Sequence[Any]) -> None:
        if event in TRACING and _is_students(sys._getframe(1)):
            self.notes["traced"][event] = None


class _Trap(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives forbidden libraries back when they are imported, and notes them if student code asked."""

    def __init__(self, forbidden: Sequence[str]) -> None:
        self.forbidden = forbidden
        # Shared with the processes that are forked from this one: what they load is noted here, too.
        self._notes = mmap.mmap(-1, len(forbidden) + 1)
        self.loaded = {n: m for n, m in list(sys.modules.items()) if n.partition(".")[0] in forbidden}
        self.specs = {name: getattr(module, "__spec__", None) for name, module in self.loaded.items()}
        for name in self.loaded:
            del sys.modules[name]

    def noted(self) -> list[str]:
        return [name for place, name in enumerate(self.forbidden) if self._notes[place]]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        library = fullname.partition(".")[0]
        if library not in self.forbidden:
            return None
        if _works_for_student(sys._getframe(1)):
            self._notes[self.forbidden.index(library)] = 1
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in self.loaded else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self.loaded[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__spec__.name if module.__spec__ else module.__name__
        module.__spec__ = self.specs[name]
        # Whole, and not before: its modules know each other, and of one that stood there already the import system
        # would ask the loader that it had first.
        library = name.partition(".")[0]
        sys.modules.update({n: m for n, m in self.loaded.items() if n.partition(".")[0] == library})


def _is_own(place: str, name: str, value: Any) -> bool:
    """Whether a library exchanged this function or class itself, as torch does at an optimizer's first step."""
    code = getattr(value, "__code__", None)
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    installed = code is None or code.co_filename.startswith(_INSTALLED)
    named = isinstance(value, type) or getattr(value, "__name__", "") == name
    return home == place.partition(".")[0] and named and installed


def _is_foreign(value: Any) -> bool:
    """Whether a function or class was written in a cell."""
    value = inspect.unwrap(value) if callable(value) else value
    code = getattr(value, "__code__", None)
    return getattr(value, "__module__", "") == "__main__" or "ipykernel" in getattr(code, "co_filename", "")


def _is_students(frame: types.FrameType) -> bool:
    return not frame.f_code.co_filename.startswith(_INSTALLED)


def _works_for_student(frame: types.FrameType | None) -> bool:
    """Whether student code is anywhere in a stack: `np.vectorize(__import__)(["torch"])` imports from within NumPy.

    So it is where Python's own files are all that is in it, as in `Thread(target=__import__, args=("torch",))`.
    """
    only_python = True
    while frame:
        if _is_students(frame):
            return True
        file = frame.f_code.co_filename
        only_python = only_python and file.startswith(_PYTHON) and "site-packages" not in file
        frame = frame.f_back
    return only_python


_PYTHON = (os.path.dirname(os.__file__) + os.sep, "<frozen")
_INSTALLED = tuple({str(p) for p in sys.path if p} | {sys.prefix, sys.base_prefix, "<frozen", "<probe"})


def _snapshot() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place -> its functions and classes by name. What a library adds to itself later is nobody's trick."""
    for name in WATCHED:
        if name in sys.modules:
            yield name, _callables(vars(sys.modules[name]))
    for name in CLASSES:
        module, _, attribute = name.rpartition(".")
        if module in sys.modules:
            yield name, _of_class(getattr(sys.modules[module], attribute))
    for name, loaded in list(sys.modules.items()):
        if name.partition(".")[0] in OURS and isinstance(loaded, types.ModuleType):
            members = _callables(vars(loaded))
            yield name, members
            own = {n: v for n, v in members.items() if isinstance(v, type) and v.__module__ == name}
            for attribute, kind in own.items():
                yield f"{name}.{attribute}", _callables(vars(kind))


def _of_class(kind: type) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        members.update(vars(base))
    return _callables(members)


def _callables(members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        n: v for n, v in list(members.items()) if callable(v) or isinstance(v, (property, staticmethod, classmethod))
    }
