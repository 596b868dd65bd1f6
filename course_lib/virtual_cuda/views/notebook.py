"""`%load_ext course_lib.virtual_cuda` in a notebook, and `%%cuda_log` for what one cell did.

IPython hands itself over when it loads the extension, so nothing of it is imported here.
"""

from __future__ import annotations

import contextlib
import io
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.log.sites import cell_number
from course_lib.virtual_cuda.views.log import Log
from course_lib.virtual_cuda.views.report import Report

if TYPE_CHECKING:
    from course_lib.plots.style import Canvas

_loaded: Log | None = None


def load(ipython: Any, enable: Callable[[], Log]) -> None:
    """Switch virtual CUDA on (with a GPU present: watch that one instead), and add the cell magic."""
    global _loaded
    if _loaded is None:
        _loaded = enable()
    ipython.register_magic_function(Magic(ipython, _loaded), magic_kind="cell", magic_name="cuda_log")


def unload(ipython: Any, disable: Callable[[], None]) -> None:
    """Undo `load`."""
    global _loaded
    if _loaded is not None:
        _loaded = None
        disable()
    ipython.magics_manager.magics["cell"].pop("cuda_log", None)


class Magic:
    """`%%cuda_log`, the first line of a cell: run the cell, then show what it copied and where it waited.

    `%%cuda_log timeline` shows the figure as well, and records the times of kernels for it.
    """

    __name__ = "cuda_log"

    def __init__(self, ipython: Any, log: Log) -> None:
        self.ipython, self.log = ipython, log

    def __call__(self, line: str, cell: str) -> CellReport | None:
        """What the cell did. Raises what the cell raises."""
        wanted = line.strip()
        if wanted not in ("", "timeline"):
            print(f"%%cuda_log knows the word 'timeline', not {wanted!r}; the cell was not run.")
            return None
        before = Report.of(self.log)
        since = self.log.now()
        with self.log.tracing() if wanted else contextlib.nullcontext():
            self._run(cell)
        if wanted:
            from course_lib.virtual_cuda.views.timeline import timeline

            return CellReport(Report.of(self.log, before), timeline(self.log, since=since))
        return CellReport(Report.of(self.log, before))

    def _run(self, cell: str) -> None:
        """Run the cell, and fail if it fails, with one traceback: the outer one."""
        changed = Patches()
        for name in ("showtraceback", "showsyntaxerror"):
            changed.set(self.ipython, name, lambda *args, **kwargs: None)
        # IPython looks for the `;` that hides a value at the end of the outer cell, which is one call of this magic.
        changed.set(self.ipython.displayhook, "quiet", lambda: _ends_in_semicolon(self.ipython.transform_cell(cell)))
        # IPython counts on before a cell is done; what runs inside it has its number all the same.
        count, number = self.ipython.execution_count, cell_number(self.log.sites.here().path)
        self.ipython.execution_count = number or count
        try:
            # A comment stands for the magic's own line, so that the lines in the log are those of the cell.
            outcome = self.ipython.run_cell(cell if cell.startswith("%%") else f"# %%cuda_log\n{cell}")
        finally:
            changed.undo()
            self.ipython.execution_count = count
        outcome.raise_error()


def _ends_in_semicolon(source: str) -> bool:
    """Whether the last token that is no comment is `;`. (IPython has this too, but not in the version of Colab.)"""
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
    tokens = [one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type not in blank]
    return bool(tokens) and tokens[-1].string == ";"


@dataclass(frozen=True)
class CellReport:
    """The report of a cell, and the figure if it was asked for."""

    report: Report
    figure: Canvas | None = None

    def __repr__(self) -> str:
        return str(self.report) if self.figure is None else f"{self.report}\n\n{self.figure.description}"

    def _repr_html_(self) -> str:
        figure = "" if self.figure is None else self.figure._repr_mimebundle_()[0]["text/html"]
        return self.report.html() + figure
