from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from autograder.report.sanitize import for_page, one_line, printed, visible, with_code

ACTING = {
    "color": "\x1b[31mred\x1b[0m",
    "window title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "clear screen": "\x1b[2J\x1b[H",
    "one-byte control sequence": "\x9b31m",
    "device control": "\x1bP1$r\x1b\\",
    "reset": "\x1bc",
    "unfinished": "\x1b]0;no end",
    "backspaces": "evil\b\b\b\bgood",
    "bell": "\x07",
    "override": "\u202egnp.exe",
    "isolate": "\u2066x\u2069",
    "zero width": "a\u200bb",
    "half a character": "\ud800",
    "nul": "a\x00b",
}


def is_harmless(text: str) -> bool:
    """An oracle of its own: nothing of Unicode's control, format and surrogate classes but newline and tab."""
    # Joiners shape letters of several scripts, and emoji; they hide and reorder nothing.
    joiners = "\u200c\u200d\u200e\u200f"
    return all(c in "\n\t" or c in joiners or unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") for c in text)


@pytest.mark.parametrize("name", ACTING)
def test_nothing_that_acts_on_a_terminal_is_left(name: str) -> None:
    text = visible(ACTING[name])
    assert is_harmless(text)
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff")
    text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_comes_in_only_harmless_text_comes_out(text: str) -> None:
    assert is_harmless(visible(text))
    assert is_harmless(one_line(text))
    assert "\n" not in one_line(text)
    assert is_harmless(printed(text))


@given(st.text(st.characters(categories=("L", "N", "P", "S"), max_codepoint=0x2FF)))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_names_in_other_scripts_stay_as_they_are() -> None:
    for name in ("Łukasz Żółć", "李小龍", "محمد", "Zoe\u0308", "नमस्ते", "👩🏽\u200d💻"):
        assert visible(name) == name


def test_accents_cannot_pile_up_over_other_lines() -> None:
    assert visible("a" + "\u0301" * 50) == "a" + "\u0301" * 3


def test_a_line_is_cut_to_its_length_and_says_so_and_a_newline_is_seen_but_does_not_break_it() -> None:
    assert one_line("x" * 500, 20) == "x" * 19 + "…"
    assert one_line("x" * 20, 20) == "x" * 20
    assert one_line("a\nb") == "a\N{RETURN SYMBOL}b"


def test_of_a_progress_bar_the_last_state_is_kept() -> None:
    assert printed("start\n 0%|   |\r 50%|#  |\r100%|###|\ndone\n") == "start\n100%|###|\ndone"
    assert printed("two\r\nlines\r\n") == "two\nlines"


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    rows = printed("\n".join(f"line {n}" for n in range(1000)), lines=10).split("\n")
    assert (rows[0], rows[5], rows[-1], len(rows)) == ("line 0", "… 990 lines left out …", "line 999", 11)
    assert len(printed("\n".join("x" * 100_000 for _ in range(40)))) < 10_000, "few but endless lines are cut too"


def test_backticks_become_code_and_nothing_else_becomes_markup() -> None:
    assert with_code("use `a < b` & <b>not</b> `<script>`") == (
        "use <code>a &lt; b</code> &amp; &lt;b&gt;not&lt;/b&gt; <code>&lt;script&gt;</code>"
    )
    assert with_code("a lone ` stays") == "a lone ` stays"


def test_every_string_of_a_page_is_made_visible_but_our_own_markup_and_numbers_pass() -> None:
    assert for_page("\x1b[31ma") == "a"
    assert for_page(Markup("<svg>\x1b</svg>")) == "<svg>\x1b</svg>"
    assert for_page(3) == 3
