"""What the course's notebooks import. Light: torch and TensorFlow are imported where they are used.

`import course_lib` loads nothing else. A submodule is loaded when it is first named, so that
`course_lib.plots` pays for matplotlib and a notebook without figures does not.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import `course_lib.NAME` on first use; afterwards Python finds it as an ordinary attribute."""
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
