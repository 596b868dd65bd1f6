from __future__ import annotations

import re

import pytest

from autograder.report.pages import STYLE_SHEET

CSS = STYLE_SHEET.read_text(encoding="utf-8")
SCHEMES = dict(zip(("light", "dark", "print"), re.findall(r":root \{(.*?)\}", CSS, re.DOTALL), strict=True))
TEXT = ("ink", "muted", "link", "passed", "partial", "failed", "limit", "absent", "open")


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2, of `#rgb` or `#rrggbb`."""
    digits = color.removeprefix("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_oracle_knows_black_on_white() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ground", ["paper", "card", "well"])
@pytest.mark.parametrize("text", TEXT)
def test_text_stands_out_from_its_ground(scheme: str, ground: str, text: str) -> None:
    colors = dict(re.findall(r"--([a-z]+): (#[0-9a-f]+)", SCHEMES[scheme]))
    assert contrast(colors[text], colors[ground]) >= 4.5


def test_the_style_sheet_fetches_nothing_and_cannot_end_its_element() -> None:
    assert not re.search(r"url\(|@import|</", CSS)
