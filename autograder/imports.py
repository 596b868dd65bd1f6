"""Import libraries without optional parts of theirs that take long and that nothing here uses."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Within, importing these fails as if they were not installed, unless they were imported before; later it works.

    What is imported within and gets on without them leaves them alone for good.
    """
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
