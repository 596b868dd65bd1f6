"""From a template and values to one self-contained page, and from there whole onto the disk or not at all.

Every page is rendered under the same rules: autoescape for all that is printed, undefined names are errors,
and every string passes `sanitize.for_page` on its way. The base template forbids anything from outside and scripts by a
Content-Security-Policy, so that a slip in escaping would still run nothing. The class report alone has a script, which
that policy names by its digest.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.errors import CannotWrite
from autograder.report import words
from autograder.report.sanitize import for_page, one_line, with_code

STYLE_SHEET = Path(__file__).with_name("templates") / "style.css"

SCRIPT = STYLE_SHEET.with_name("class_report.js").read_text(encoding="utf-8")
SCRIPT_DIGEST = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()


def render(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`."""
    return _environment().get_template(template).render(**values)


def write_page(path: Path, page: str) -> Path:
    """Write `page` to `path`, so that a reader finds the old page or the whole new one; folders are made.

    Raises CannotWrite where the disk says no.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Always the same name: what a killed run left is written over, and not sent out with the page.
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_text(page, encoding="utf-8")
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(
            f"{path}: the page could not be written ({reason}). Free the space or choose another --out."
        ) from None
    return path


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("autograder.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=for_page,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(code=with_code, line=one_line, points=words.points)
    environment.globals.update(
        style=Markup(STYLE_SHEET.read_text(encoding="utf-8")),
        script=Markup(SCRIPT),
        script_digest=Markup(SCRIPT_DIGEST),
        plural=words.plural,
        VERDICT_STYLES=words.VERDICT_STYLES,
    )
    return environment
