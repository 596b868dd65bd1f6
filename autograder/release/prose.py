"""Make a stranger's markdown safe to open in nbgrader's pages, which turn it into HTML and filter nothing.

What a page would make of the text is not guessed at: the text is rendered by the very renderer that nbgrader uses, and
the result is searched for anything that a browser obeys. If there is such a thing, the reader gets the text itself.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from autograder.submissions.document import without_tags

_ACTIVE_TAGS = frozenset(
    {"script", "iframe", "object", "embed", "svg", "form", "input", "button", "base", "meta", "link", "style", "video"}
)
_SCHEMES = frozenset({"http", "https", "mailto", "attachment"})
_SUSPECT = re.compile(r"[<&\\]|\]\s*[(\[:]")
"""Without one of these a text has no tag, no entity, no command of a formula and no link: nothing to look at."""


def harmless(markdown: str) -> str:
    """`markdown` as it may be stored in a notebook: as it is where it renders to passive HTML, else as a code block."""
    text = without_tags(markdown)
    if not _SUSPECT.search(text) or _passive(text):
        return text
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(longest + 1, 3)
    block = f"{fence}text\n{text}\n{fence}"
    return block if _passive(block) else "(This text is not shown here: a browser might run it.)"


def _passive(markdown: str) -> bool:
    """Whether the page that a grader opens shows `markdown` and does nothing else."""
    from nbconvert.filters import markdown2html

    try:
        seen = _Search()
        seen.feed(markdown2html(markdown))
        seen.close()
    except Exception:  # a text that breaks the renderer or the parser would break the page
        return False
    return not seen.active


class _Search(HTMLParser):
    """Looks through HTML for tags and attributes that a browser runs or that lead out of the page's site."""

    def __init__(self) -> None:
        super().__init__()
        self.active = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.active |= tag in _ACTIVE_TAGS or any(_obeyed(name, value or "") for name, value in attrs)


def _obeyed(name: str, value: str) -> bool:
    if name.startswith("on") or name in ("srcdoc", "formaction"):
        return True
    if name not in ("href", "src", "action", "data", "poster", "background"):
        return False
    # Browsers skip blanks and control characters in a scheme.
    address = "".join(c for c in value if c > " " and c != "\x7f").lower()
    scheme = re.match(r"([^/?#:]*):", address)
    picture = re.match(r"data:image/(png|jpeg|gif);", address) and name == "src"
    return scheme is not None and scheme[1] not in _SCHEMES and not picture
