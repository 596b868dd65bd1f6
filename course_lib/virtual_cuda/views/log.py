"""The log as programs and notebooks get it: what was recorded, with ways to look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.virtual_cuda.log.recorder import Recorder
from course_lib.virtual_cuda.views.report import Report

if TYPE_CHECKING:
    from course_lib.plots.style import Canvas


class Log(Recorder):
    """What happened in one session. CellReport as its summary, in a notebook as tables."""

    def summary(self) -> str:
        """A table to read: where the program copies and waits, how often, and what to do about it."""
        return str(Report.of(self))

    def timeline(self, last: int | None = None, *, labels: bool = True) -> Canvas:
        """A figure: what host, copies and devices do at the same time. `last`: only that many steps, from the end.

        `labels=False`: without the lines where the host waits, and the bytes beside the copies.
        """
        from course_lib.virtual_cuda.views.timeline import timeline  # needs matplotlib

        return timeline(self, last, labels=labels)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return Report.of(self).html()
