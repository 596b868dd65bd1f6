"""Can I hand this notebook in? The questions that grading would raise, answered on the student's own machine.

Compared with the notebook as it was handed out: are all graded cells there, once each, and worked on? By itself: can
Python read it, was it run from top to bottom, does it lean on anything that grading does not have? A notebook is read
as the JSON that it is, and nothing in it is executed.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib.student.findings import Finding, Level

LARGE_BYTES, TOO_LARGE_BYTES = 2_000_000, 20_000_000
RAISES = "raise NotImplementedError()"
"""the line that nbgrader leaves where a solution was"""
SETUP = "course_lib"
"""a cell that installs the course's own helpers names them; it is the one install that belongs in a notebook"""
ABSOLUTE_PATH = re.compile(r"""["'](/content/|/home/|/Users/|/root/|/mnt/|/tmp/|[A-Za-z]:[\\/])[^"'\n]*["']""")
INSTALLS = re.compile(r"^\s*[%!]\s*(pip3?|conda|mamba|apt(-get)?)\b", re.MULTILINE)
MAGIC_LINE = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?{1,2})$", re.MULTILINE)
MAGIC_VALUE = re.compile(r"=[ \t]*[%!].*$", re.MULTILINE)
"""what IPython understands and Python does not: a line, the right side of an assignment"""

Cell = Mapping[str, Any]
"""one cell of a notebook, as JSON"""


def inspect(path: Path, release: Path | None = None) -> list[Finding]:
    """Whether `path` is fit to hand in. `release`: the notebook as handed out; by default it is found by name."""
    content = _read(path)
    if isinstance(content, Finding):
        return [content]
    cells: list[Cell] = content["cells"]
    release = release or find_release(path)
    handed_out = _read(release) if release else None
    if isinstance(handed_out, Finding):
        return [handed_out]
    findings = [Finding(Level.OK, "notebook", f"valid, {len(cells)} cells"), _size(path)]
    findings.append(_doubled(cells))
    if handed_out is None:
        text = f"no release notebook found for {path.name!r}, so nothing is compared with it. Name it: --release PATH"
        findings.append(Finding(Level.LOOK, "release", text))
    else:
        findings += _against_release(cells, handed_out["cells"])
    own = [cell for cell in cells if handed_out is None or _source(cell) not in set(map(_source, handed_out["cells"]))]
    findings += [_syntax(own), _installs(own), _paths(own), _order(cells), _outputs(cells)]
    return findings


def find_release(path: Path, roots: Sequence[Path] | None = None) -> Path | None:
    """The release notebook whose name `path` begins with: `a1_numpy_backprop (1).ipynb` is one of a1_numpy_backprop.

    Looked for under `notebooks/release/` of the repository, of the working folder and of the folders above `path`.
    """
    above = [Path(__file__).resolve().parents[2], Path.cwd(), *path.resolve().parents]
    for root in roots if roots is not None else above:
        names = [found for found in root.glob("notebooks/release/*/*.ipynb") if path.stem.startswith(found.stem)]
        if names:
            return max(names, key=lambda found: len(found.stem))
    return None


def _read(path: Path) -> dict[str, Any] | Finding:
    """The notebook's JSON with its list of cells, or why there is none."""

    def stop(text: str) -> Finding:
        return Finding(Level.STOP, "notebook", f"{path}: {text}")

    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return stop("no such file. Check the name, and the folder you are in.")
    except OSError as error:
        return stop(f"cannot be read ({error.strerror}).")
    except (UnicodeDecodeError, ValueError, RecursionError):
        return stop("not a notebook (no valid JSON). Download it again as .ipynb (Colab: File > Download).")
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return stop("JSON, but not a notebook of format 4. Open and save it in Jupyter or Colab.")
    if not cells:
        return stop("a notebook without cells. This is not the one you worked in.")
    return {**content, "cells": cells}


def _source(cell: Cell) -> str:
    source = cell.get("source", "")
    return ("".join(map(str, source)) if isinstance(source, list) else str(source)).strip()


def _nbgrader(cell: Cell) -> Mapping[str, Any]:
    metadata = cell.get("metadata")
    found = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _grade_id(cell: Cell) -> str:
    return str(_nbgrader(cell).get("grade_id", ""))


def _label(cell: Cell, cells: Sequence[Cell]) -> str:
    """How a finding names a cell: by grade_id where it has one, else by its place, counted from 1 as a reader would."""
    place = next((number for number, other in enumerate(cells, start=1) if other is cell), 0)
    return _grade_id(cell) or f"cell {place}"


def _some(names: Sequence[str], most: int = 5) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _size(path: Path) -> Finding:
    size = path.stat().st_size
    text = f"{size / 1e6:.1f} MB"
    if size > TOO_LARGE_BYTES:
        return Finding(Level.STOP, "size", f"{text}: too large to hand in. Clear all outputs and save again.")
    if size > LARGE_BYTES:
        return Finding(Level.LOOK, "size", f"{text}: large. Print less, or clear the outputs before handing in.")
    return Finding(Level.OK, "size", text)


def _doubled(cells: Sequence[Cell]) -> Finding:
    counts = Counter(filter(None, map(_grade_id, cells)))
    doubled = [name for name, count in counts.items() if count > 1]
    if doubled:
        text = f"doubled: {_some(doubled)}. A copied cell keeps its mark: delete the copy that you do not want graded."
        return Finding(Level.STOP, "grade cells", text)
    return Finding(Level.OK, "grade cells", f"{len(counts)}, none doubled")


def _against_release(cells: Sequence[Cell], handed_out: Sequence[Cell]) -> Iterator[Finding]:
    """What is gone, what is as it was handed out, and what was changed that cannot matter."""
    mine = {_grade_id(cell): cell for cell in cells}
    wanted = {_grade_id(cell): cell for cell in handed_out if _grade_id(cell)}
    graded = {
        name: cell for name, cell in wanted.items() if _nbgrader(cell).get("grade") or _nbgrader(cell).get("solution")
    }
    missing = [name for name in graded if name not in mine]
    if missing and len(missing) == len(graded):
        text = "none is left. Is this the right notebook? Work in the file that was handed out, not in a new one."
        yield Finding(Level.STOP, "missing", text)
        return
    if missing:
        text = f"{_some(missing)}. Copy the cell back from the release notebook; do not paste into a new cell."
        yield Finding(Level.STOP, "missing", text)
    else:
        yield Finding(Level.OK, "missing", "no grade cell is missing")
    solutions = [name for name in graded if _nbgrader(graded[name]).get("solution") and name in mine]
    untouched = [name for name in solutions if _untouched(mine[name], graded[name])]
    if untouched and len(untouched) == len(solutions):
        yield Finding(
            Level.STOP, "untouched", "every exercise is as it was handed out. Is this the right file? Was it saved?"
        )
    elif untouched:
        yield Finding(Level.LOOK, "untouched", f"{_some(untouched)}: as handed out, so no points there.")
    else:
        yield Finding(Level.OK, "untouched", "every exercise was worked on")
    locked = [name for name, cell in wanted.items() if name in mine and name not in solutions]
    changed = [name for name in locked if _source(mine[name]) != _source(wanted[name])]
    if changed:
        text = f"{_some(changed)}: changed. Grading uses the original, so write your own code in cells of your own."
        yield Finding(Level.LOOK, "locked", text)


def _untouched(cell: Cell, stub: Cell) -> bool:
    """As handed out, or with the line still in it that a stub raises with: the student's answer would raise, too."""
    left = {line.strip() for line in _source(cell).splitlines()}
    return _source(cell) == _source(stub) or (RAISES in _source(stub) and RAISES in left)


def _code(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.get("cell_type") == "code" and _source(cell)]


def _syntax(cells: Sequence[Cell]) -> Finding:
    broken = []
    for cell in _code(cells):
        line = _unreadable_line(_source(cell))
        if line is not None:
            broken.append(f"{_label(cell, cells)} (line {line})")
    if broken:
        return Finding(
            Level.STOP, "syntax", f"{_some(broken)}: Python cannot read this, so none of the cell runs. Mend it."
        )
    return Finding(Level.OK, "syntax", "every cell of yours can be read")


def _unreadable_line(source: str) -> int | None:
    """The line at which Python gives up on a cell, or None. IPython's own lines are left out of account."""
    if source.startswith("%%"):
        return None  # a magic takes the cell as a whole; it need not be Python
    # As it stands first: `% b` at the start of a line is also the second half of a long division.
    for text in (source, MAGIC_VALUE.sub("= None", MAGIC_LINE.sub(r"\1pass", source))):
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
        else:
            return None
    return line


def _installs(cells: Sequence[Cell]) -> Finding:
    found = [
        _label(cell, cells) for cell in _code(cells) if INSTALLS.search(_source(cell)) and SETUP not in _source(cell)
    ]
    if found:
        return Finding(
            Level.LOOK, "installs", f"{_some(found)}: installs something. Grading has no network; do without it."
        )
    return Finding(Level.OK, "installs", "nothing is installed by your cells")


def _paths(cells: Sequence[Cell]) -> Finding:
    found = [match.group() for cell in _code(cells) if (match := ABSOLUTE_PATH.search(_source(cell)))]
    if found:
        return Finding(Level.LOOK, "paths", f"{_some(found)}: exists on your machine only. Use a relative path.")
    return Finding(Level.OK, "paths", "no path of your machine")


def _order(cells: Sequence[Cell]) -> Finding:
    """Grading runs the cells from top to bottom; only a notebook that was run so shows the student what will happen."""
    code = _code(cells)
    counts = [cell.get("execution_count") for cell in code]
    again = "Restart and run all, then save."
    if not any(counts):
        return Finding(Level.LOOK, "order", f"no cell was run. {again}")
    unrun = [_label(cell, cells) for cell, count in zip(code, counts, strict=True) if not count]
    ran = [(cell, count) for cell, count in zip(code, counts, strict=True) if isinstance(count, int) and count]
    late = [_label(cell, cells) for (_, a), (cell, b) in itertools.pairwise(ran) if b <= a]
    if late:
        return Finding(Level.LOOK, "order", f"{_some(late)}: run before the cell above. Grading goes top down. {again}")
    if unrun:
        return Finding(Level.LOOK, "order", f"not run: {_some(unrun)}. {again}")
    return Finding(Level.OK, "order", "run from top to bottom")


def _outputs(cells: Sequence[Cell]) -> Finding:
    failed = []
    for cell in _code(cells):
        outputs = cell.get("outputs")
        errors = (
            [o for o in outputs if isinstance(o, dict) and o.get("output_type") == "error"]
            if isinstance(outputs, list)
            else []
        )
        if errors:
            failed.append(f"{_label(cell, cells)} ({errors[0].get('ename', 'error')})")
    if failed:
        return Finding(
            Level.LOOK, "outputs", f"ended in an error: {_some(failed)}. Read the last line of each; mend what you can."
        )
    return Finding(Level.OK, "outputs", "no cell ended in an error")
