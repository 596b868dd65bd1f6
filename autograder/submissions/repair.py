"""Turn the bytes of a stranger's notebook into cells: repaired where nothing is lost, else refused with a reason.

Everything that a hostile file could make expensive (size, depth, number of values, cells, code) is measured by
linear scans before the JSON parser or any recursion sees it. Outputs, attachments and metadata other than nbgrader's
are never looked at.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

from autograder.errors import StudentFault
from autograder.submissions.python_text import same_program

MAX_NOTEBOOK_BYTES = 64 << 20
"""a notebook with many figures has a few MiB"""
MAX_DEPTH = 200
"""nesting of JSON; a notebook with plotly figures reaches about 20"""
MAX_VALUES = 4_000_000
"""values in the JSON: lists of a million numbers in outputs are honest, more would only cost memory"""
MAX_CELLS = 2_000
MAX_CODE_CHARS = 512 << 10
"""code of one notebook, all cells together"""
MAX_TEXT_CHARS = 8 << 20
"""all cells together: a run keeps the text of every submission"""

CLAIMS = ("grade", "solution", "locked", "task", "points", "schema_version", "cell_type")
"""nbgrader metadata of a submission, compared with the instructor's only to tell what was changed"""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_AGAIN = (
    "Open it in Jupyter, save and hand it in again; if it does not open, copy your answers into a fresh copy of the "
    "assignment."
)


class Unreadable(StudentFault, ValueError):
    """The file is not a notebook that can be graded. The message is for the student: the reason, and what to do."""


@dataclass(frozen=True)
class StudentCell:
    """One cell as handed in. Everything but `kind` and `source` is a claim."""

    kind: str
    """`code`, `markdown` or `raw`"""
    source: str
    grade_id: str | None = None
    claims: tuple[tuple[str, str], ...] = ()
    """nbgrader metadata among `CLAIMS`, as (key, value in JSON, cut short)"""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudentNotebook:
    """The cells of one file, and what had to be repaired to read them."""

    cells: tuple[StudentCell, ...]
    repairs: tuple[str, ...] = ()
    """one phrase each, e.g. `was UTF-16`"""


def read_notebook(data: bytes) -> StudentNotebook:
    """The cells in `data`. Raises Unreadable, and nothing else, if they cannot be had without loss."""
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise Unreadable(
            f"The file has {len(data) >> 20} MiB; the limit is {MAX_NOTEBOOK_BYTES >> 20} MiB. "
            "Clear all outputs, save and hand in again."
        )
    repairs: list[str] = []
    text = _decode(data, repairs)
    _refuse_excess(text)
    document = _parse(text)
    cells = tuple(_read_cell(number, cell, repairs) for number, cell in enumerate(_cells_of(document, repairs), 1))
    code = sum(len(cell.source) for cell in cells if cell.kind == "code")
    if code > MAX_CODE_CHARS:
        raise Unreadable(
            f"The notebook holds {code:,} characters of code; the limit is {MAX_CODE_CHARS:,}. "
            "Take out what is no answer and hand it in again."
        )
    characters = sum(len(cell.source) for cell in cells)
    if characters > MAX_TEXT_CHARS:
        raise Unreadable(
            f"The cells hold {characters:,} characters of text; the limit is {MAX_TEXT_CHARS:,}. "
            "Insert pictures as files or attachments, not as text, and hand it in again."
        )
    return StudentNotebook(cells, tuple(dict.fromkeys(repairs)))


def _decode(data: bytes, repairs: list[str]) -> str:
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable(f"The file {'is empty' if not data else 'holds nothing but blanks'}. {_AGAIN}")
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    if encoding is None:
        encoding = json.detect_encoding(data[:4])
    # Bytes that are no text survive as lone surrogates; whether anything that counts was lost is seen later.
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    try:
        text = data.decode(encoding, errors)
    except UnicodeError as error:
        raise Unreadable(f"The file is not text ({encoding}): {getattr(error, 'reason', error)}. {_AGAIN}") from None
    if text.startswith("\ufeff"):
        repairs.append("began with a byte order mark")
    if encoding not in ("utf-8", "utf-8-sig"):
        repairs.append(f"was {encoding[:6].upper()}")
    if encoding == "utf-8" and _SURROGATE.search(text):
        repairs.append("held bytes that are not UTF-8")
    text = text.lstrip("\ufeff")
    if text.endswith("\x00"):
        repairs.append("ended in NUL bytes")
    return text.rstrip("\x00")


def _refuse_excess(text: str) -> None:
    """Measure depth and number of values without recursion, so that the parser meets neither in excess."""
    if text.count('"') > 4 * MAX_VALUES:
        raise Unreadable(
            f"The file holds more than {2 * MAX_VALUES:,} strings. Clear all outputs and hand it in again."
        )
    # Escapes first, then every second piece between quotes lies outside a string.
    bare = text.replace("\\\\", "").replace('\\"', "")
    outside = "".join(bare.split('"')[::2])
    values = outside.count(",") + outside.count("[") + outside.count("{")
    if values > MAX_VALUES:
        raise Unreadable(f"The file holds more than {MAX_VALUES:,} values. Clear all outputs and hand it in again.")
    depth = 0
    for bracket in re.finditer(r"[\[\]{}]", outside):
        depth += 1 if bracket[0] in "[{" else -1
        if depth <= 0:
            return  # the object is closed; the parser will refuse what follows
        if depth > MAX_DEPTH:
            raise Unreadable(f"The file is nested more than {MAX_DEPTH} levels deep, as no notebook is. {_AGAIN}")


def _parse(text: str) -> dict[str, Any]:
    try:
        # Raw line breaks inside strings are forbidden in JSON but say what they mean.
        document = json.loads(text, strict=False, parse_int=_as_number, parse_float=_as_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cut = " It seems to be cut off." if error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg else ""
        raise Unreadable(f"The file is not a notebook: {error.msg} at {where}.{cut} {_AGAIN}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"The file is not a notebook: {error}. {_AGAIN}") from None
    if not isinstance(document, dict):
        kind = type(document).__name__
        raise Unreadable(f"The file is not a notebook: its JSON is a {kind}, not an object. {_AGAIN}")
    return document


def _as_number(digits: str) -> float:
    """All numbers as short floats: none of a submission's is used, and huge ones would take quadratic time."""
    return float(digits[:400])


def _cells_of(document: dict[str, Any], repairs: list[str]) -> list[Any]:
    """The list of cells of nbformat 4, or of 2 and 3. What the file says of its version decides nothing."""
    cells = document.get("cells")
    if not isinstance(cells, list) and isinstance(document.get("worksheets"), list):
        repairs.append("was in notebook format 3")
        sheets = [sheet for sheet in document["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise Unreadable(f"The file is JSON but not a notebook: it has no list of cells. {_AGAIN}")
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells):,} cells; the limit is {MAX_CELLS:,}. Hand in fewer.")
    if not cells:
        raise Unreadable(f"The notebook has no cells. {_AGAIN}")
    if document.get("nbformat") not in (2, 3, 4):
        repairs.append("has an unknown format version")
    return cells


def _read_cell(number: int, cell: Any, repairs: list[str]) -> StudentCell:
    if not isinstance(cell, dict):
        raise Unreadable(f"Cell {number} is a {type(cell).__name__}, not a cell. {_AGAIN}")
    source = cell.get("source", cell.get("input"))
    if source is None:
        repairs.append("had cells without a source")
        source = ""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Unreadable(f"The source of cell {number} is a {type(source).__name__}, not text. {_AGAIN}")
    metadata = cell.get("metadata")
    if not isinstance(metadata, dict):
        repairs.append("had cells without metadata")
        metadata = {}
    kind = _kind(cell, repairs)
    claims = metadata.get("nbgrader")
    claims = claims if isinstance(claims, dict) else {}
    grade_id = claims.get("grade_id")
    return StudentCell(
        kind=kind,
        source=_sound(number, kind, source.replace("\r\n", "\n").replace("\r", "\n"), repairs),
        grade_id=grade_id if isinstance(grade_id, str) and grade_id else None,
        claims=tuple((key, json.dumps(claims[key])[:40]) for key in CLAIMS if key in claims),
        tags=tuple(tag for tag in _list(metadata.get("tags"))[:100] if isinstance(tag, str)),
    )


def _kind(cell: dict[str, Any], repairs: list[str]) -> str:
    kind = cell.get("cell_type")
    if kind in ("code", "markdown", "raw"):
        return str(kind)
    if kind in ("heading", "html"):  # nbformat 3 and 2
        return "markdown"
    repairs.append("had cells of unknown type")
    return "code" if "outputs" in cell or "execution_count" in cell else "raw"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sound(number: int, kind: str, source: str, repairs: list[str]) -> str:
    """`source` in characters that every later step can encode, if that loses nothing."""
    if not _SURROGATE.search(source):
        return source
    joined = _joined(source)
    if not _SURROGATE.search(joined):
        return joined
    visible = _SURROGATE.sub("\ufffd", joined)
    # In prose a mark stands where a character was. In code it may stand only where nothing depends on it: a comment.
    if kind != "code" or same_program(visible, _SURROGATE.sub("", joined)):
        repairs.append("held broken characters in comments or text")
        return visible
    line = joined[: _SURROGATE.search(joined).start()].count("\n") + 1  # type: ignore[union-attr]
    raise Unreadable(
        f"Cell {number} holds a broken character in line {line} (half of a character, or bytes that are not UTF-8). "
        "Type that line again, save and hand in again."
    )


def _joined(source: str) -> str:
    """Pairs of surrogates, which some editors write one by one, as the characters they mean."""
    return source.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") if source else source
