"""A mistake has a name only if all checks of its part agree with it, those that passed too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SCALE = "def scale(x, by):\n    y = x * by\n    return y"
FAULTS = """
FAULTS = [
    Fault("adds", "scale", {"x * by": "x + by"}, "You add."),
    # Fits as "absolute" does where x is negative, and is contradicted where it is not.
    Fault("turned", "scale", {"x * by": "-x * by"}, "You turn the sign.", pairs=False),
    Fault("absolute", "scale", {"x * by": "np.abs(x) * by"}, "You lose the sign."),
    Fault("nothing", "scale", {"x * by": "x * 0"}, "Nothing is left."),
    Fault("by-two", "scale", {"return y": "return 2 * y"}, "Twice."),
    Fault("pair", "scale", {"return y": "return [x, by]"}, "You return what you got."),
    Fault("refused", "scale", raises="ValueError: no", words="It is refused."),
]
"""
CHECK = """
@pytest.mark.cell("test_scale")
def test_{name}(student, reference, draw, expect):
    x, by = {x}, {by}
    expect.close(student.scale(x, by), reference.scale(x, by))
"""
CHECKS = "".join(
    CHECK.format(name=name, x=x, by=by)
    for name, x, by in (
        ("positive", "draw.uniform(4, 1.0, 2.0)", "3.0"),
        ("negative", "-draw.uniform(4, 1.0, 2.0)", "3.0"),
        ("small", "draw.uniform(4, 1.0, 2.0)", "0.5"),
    )
)


def scale(body: str) -> dict[str, str]:
    return {"scale": f"def scale(x, by):\n    {body}"}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return by + x", ["adds"] * 3),
        ("return by * abs(x)", [None, "absolute", None]),  # two checks pass, as they would for that mistake
        # One check is explained. But with that mistake another would fail, which passes; or a third does not agree.
        ("return by * abs(x) if by > 1 and x[0] < 0 else x + by if by > 1 else x * by", [None] * 3),
        ("return x + by if x[0] > 0 else x * by", [None] * 3),
        ("return x + by if by > 1 and x[0] > 0 else x * 7", [None] * 3),
        # In most of what failed it agrees, and what else failed fails with it as well: there a spelling may decide.
        ("return x + by if by > 1 else x * 7", ["adds", "adds", None]),
        # Zeros agree with much, unless some check passes.
        ("return 0 * x", [None] * 3),
        # Two mistakes together, where no single one fits.
        ("return 2 * abs(x) * by", ["by-two", "by-two+absolute", "by-two"]),
        # An answer of another form, with parts of different shapes.
        ("return [x, by]", ["pair"] * 3),
        # What is known by its exception stands for itself.
        ("raise ValueError('no')", ["refused"] * 3),
    ],
)
def test_a_name_agrees_with_every_check_or_is_not_said(
    judged: Callable[..., Any], body: str, names: list[str | None]
) -> None:
    results = judged({"scale": SCALE}, CHECKS, FAULTS).results(scale(body)).values()
    assert [result.fault for result in results] == names
