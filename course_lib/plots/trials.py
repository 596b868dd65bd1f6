"""Which test catches which mistake: a row for each version of a program, a column for each test."""

from __future__ import annotations

from collections.abc import Mapping

from course_lib.plots.style import BLUE, FAINT, VERMILLION, Canvas, sheet, styled

CELL, LETTER = 0.36, 0.083
"""height of a row and width of a letter, in inches"""


@styled
def verdicts(passed: Mapping[str, Mapping[str, bool]]) -> Canvas:
    """Draw `passed`: version -> test -> whether it passes. A ring for a pass, a cross for a failure.

    Every row must have the same tests. Their names stand on top, a word a line. Raises ValueError otherwise.
    """
    rows = list(passed)
    if not rows or any(list(row) != list(passed[rows[0]]) for row in passed.values()):
        raise ValueError("verdicts: give at least one version, and the same tests in the same order to each")
    tests = list(passed[rows[0]])
    titles = [name.replace(" ", "\n") for name in tests]
    wide = max(0.62, LETTER * max(len(word) for title in titles for word in title.split("\n")) + 0.1)
    head = 0.17 * max(title.count("\n") + 1 for title in titles) + 0.15
    side = LETTER * max(map(len, rows)) + 0.35
    width, height = side + wide * len(tests) + 0.1, head + CELL * len(rows) + 0.1
    figure, axes = sheet(0, width, -height, 0)
    for column, title in enumerate(titles):
        x = side + wide * (column + 0.5)
        axes.text(x, -head + 0.05, title, ha="center", va="bottom", fontsize=9, linespacing=1.1)
    for line, row in enumerate(rows):
        y = -head - CELL * (line + 0.5)
        axes.plot([0.1, width - 0.1], [y + CELL / 2] * 2, color=FAINT, linewidth=0.8)
        axes.text(0.15, y, row, va="center", fontsize=9.5)
        for column, test in enumerate(tests):
            x = side + wide * (column + 0.5)
            if passed[row][test]:
                axes.plot([x], [y], marker="o", markersize=7, fillstyle="none", color=BLUE, markeredgewidth=1.2)
            else:
                axes.plot([x], [y], marker="X", markersize=9, color=VERMILLION, markeredgewidth=0)
    said = []
    for row in rows:
        failed = [test for test in tests if not passed[row][test]]
        said.append(f"{row}: {'fails ' + ', '.join(failed) if failed else 'passes all'}")
    figure.description = f"{len(rows)} versions, {len(tests)} tests. {'; '.join(said)}."
    return figure
