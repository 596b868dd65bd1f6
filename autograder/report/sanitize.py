"""Text that a stranger wrote, made safe to show: in a page, on a terminal.

A submission can put anything into its names, its output and its errors: HTML, ANSI escapes that repaint a
terminal, characters that turn the reading direction round, halves of a character that no file can hold.
Pages escape HTML themselves (Jinja's autoescape is never switched off); what is done here comes before that
and is the same for every reader: nothing is interpreted, nothing is silently lost, everything can be seen.
"""

from __future__ import annotations

import re
from typing import Any

import nh3
from markupsafe import Markup, escape

LINE_CHARS = 2000
"""a longer line is cut: one endless line would make a page as heavy as a flood of short ones"""

# Whole escape sequences (CSI, OSC, DCS and the two-character ones): they carry no text of their own.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# C1 controls, marks that reorder or hide text, and lone surrogates, which cannot be written as UTF-8.
_UNSEEN = re.compile("[\x80-\x9f\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
# More than three accents on one letter climb over the lines around it.
_ACCENT = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"({_ACCENT}{{3}}){_ACCENT}+")
_BACKTICKS = re.compile(r"`([^`\n]+)`")


def visible(text: str) -> str:
    """`text` with nothing in it that acts: escape sequences gone, other control characters as their pictures.

    Newlines and tabs stay.
    """
    text = _CONTROLS.sub(_picture, _ESCAPES.sub("", text))
    return _STACKED.sub(r"\1", _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text))


def one_line(text: str, most: int = 200) -> str:
    """`text` on one line of at most `most` characters: for names, table cells and terminals."""
    text = visible(text[: 4 * most]).replace("\n", "\N{RETURN SYMBOL}").replace("\t", " ")
    return text if len(text) <= most else text[: most - 1] + "…"


def printed(text: str, lines: int = 40, chars: int = 8000) -> str:
    """What a cell printed, as a terminal would have left it, cut in the middle: its first and last lines tell most.

    A carriage return goes back to the start of its line, so of a progress bar only the last state is kept.
    """
    rows = [_as_left(row) for row in text.replace("\r\n", "\n").split("\n")]
    while rows and not rows[-1].strip():
        rows.pop()
    kept = _cut_middle(rows, lines)
    while sum(map(len, kept)) > chars and lines > 2:
        lines = max(2, lines // 2)
        kept = _cut_middle(rows, lines)
    return "\n".join(kept)


def for_page(value: Any) -> Any:
    """Jinja's `finalize`: every string that a template prints passes here, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def with_code(text: str) -> Markup:
    """A sentence as HTML, with what stands between backticks set as code. Nothing else in it becomes markup.

    For our own words, which may quote a student's: nh3 holds the result to `code` and `br`, whatever the text was.
    """
    marked = _BACKTICKS.sub(r"<code>\1</code>", str(escape(visible(text)))).replace("\n", "<br>")
    return Markup(nh3.clean(marked, tags={"br", "code"}, attributes={}))


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else chr(0x2400 + code)


def _as_left(row: str) -> str:
    """One line after all its carriage returns."""
    states = [state for state in row.split("\r") if state] or [""]
    line = visible(states[-1][: 2 * LINE_CHARS])
    return line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + "…"


def _cut_middle(rows: list[str], most: int) -> list[str]:
    if len(rows) <= most:
        return rows
    head = most // 2
    tail = most - head
    return [*rows[:head], f"… {len(rows) - most} lines left out …", *rows[len(rows) - tail :]]
