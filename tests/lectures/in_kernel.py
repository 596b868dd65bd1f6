"""Sent to a lecture's kernel after its last cell: what facts and checks may use, and how all are asked in one request.

Facts, checks and shorthand see the names of the lecture, some modules, `raised`, `printed_by`, `unwarned`, `lecture`.
"""

import contextlib
import io
import itertools
import json
import linecache
import warnings
from pathlib import Path
from types import SimpleNamespace


def raised(function):
    """The error of a call, as a traceback's last line gives it; empty if there is none."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def printed_by(function):
    """What a call prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        function()
    return said.getvalue()


def unwarned(function):
    """The result of a call, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


class Lecture:
    """The notebook as it was executed. `cells`: its code cells, with source, tags, text, html, kinds and figures."""

    def __init__(self, names, path, prose, cells):
        self.names, self.path, self.prose = names, Path(path), prose
        self.cells = [SimpleNamespace(**cell) for cell in cells]

    def cell(self, *pieces):
        """The one code cell that contains all `pieces`."""
        [cell] = [c for c in self.cells if all(piece in c.source + "\n" for piece in pieces)]
        return cell

    def printed(self, *pieces):
        """What that cell printed and showed, as text."""
        return self.cell(*pieces).text

    def code(self, tag):
        """The sources of the cells with this tag, in order."""
        return [cell.source for cell in self.cells if tag in cell.tags]

    def other(self, name):
        """The text of another lecture's cells."""
        cells = json.loads(self.path.with_name(f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells)

    def changed(self, old, new, *pieces):
        """What the cells with these pieces print once `old` is `new`, and a copy of all names after them."""
        names, sources = dict(self.names), [self.cell(piece).source.replace(old, new) for piece in pieces]
        return printed_by(lambda: [exec(source, names) for source in sources]), names

    def run_again(self, first, leave_out="\0"):
        """Run the cells again from the last back to the one that starts with `first`; the errors."""
        sources = [cell.source for cell in self.cells]
        start = next(place for place, source in enumerate(sources) if source.startswith(first))
        again = [source for source in reversed(sources[start:]) if leave_out not in source]
        assert len(again) > 30
        results = []
        printed_by(lambda: results.extend(map(self.names["get_ipython"]().run_cell, again)))
        return [repr(r.error_in_exec or r.error_before_exec) for r in results if not r.success]


def ask(names, expressions):
    """What is wrong with each expression that is not true: it raises, or is something else than True."""
    wrong = {}
    for said, expression in expressions.items():
        try:
            value = eval(compile(f"({expression})", f"<{said[:40]}>", "eval"), names)
            value = value.tolist() if hasattr(value, "tolist") else value
        except Exception as error:
            wrong[said] = f"raises {type(error).__name__}: {error}"[:400]
        else:
            if value is not True:
                wrong[said] = f"is {value!r}"[:400]
    return wrong


_number = itertools.count()


def replies(names, tries):
    """What a check prints, for each pair of an answer and the check; an error as its name and message."""
    return [_reply(names, answer, check) for answer, check in tries]


def _reply(names, answer, check):
    def executed():
        try:
            for source in (answer, check):
                # Known to `inspect.getsource`, as the text of a cell is.
                file = f"<answer {next(_number)}>"
                linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
                exec(compile(source, file, "exec"), names)
        except Exception as error:
            print(type(error).__name__, error)

    return printed_by(executed)
