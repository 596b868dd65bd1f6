"""The playground as a notebook uses it: an experiment that shows itself, as a picture or with buttons.

board = Playground(data="spiral", hidden=(8, 8), lr=0.3)
board.run(400)      # epochs
board.picture()     # shows itself in a notebook
board.picture(unit=(1, 3))          # looks at the third unit of the first hidden layer
board.edit((1, 3), source=2, value=0.5)     # and sets its second weight
board.code()        # the line that makes this board anew
board.controls()    # the same board with buttons, in Jupyter and in Colab
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from course_lib.playground.board import Board


def side_by_side(boards: Mapping[str, Board], *, show_test: bool = False) -> Any:
    """The output maps of several boards (label -> board) in one picture, each with its boundary and its test loss."""
    from course_lib.playground import picture

    return picture.side_by_side(boards, show_test=show_test)


class Playground(Board):
    """A board that can be looked at. matplotlib and ipywidgets are loaded when the first picture is wanted."""

    def picture(self, *, show_test: bool = False, discretize: bool = False, unit: tuple[int, int] | None = None) -> Any:
        """The whole board as one image with a description: neurons, boundary and losses.

        show_test: the test points too, as outlines. discretize: two colors only. unit: whose map is the large one, with
        its weights and its bias in numbers: layer (0: features, 1: first hidden layer) and place in it, from 1.
        """
        from course_lib.playground.picture import View, draw

        return draw(self, View(show_test, discretize, unit)).whole()

    def controls(self, *, show_test: bool = False) -> Any:
        """The board as widgets, for Jupyter and Colab; without ipywidgets its picture, and a sentence that says so.

        show_test: as in `picture`, to begin with.
        """
        try:
            from course_lib.playground.controls import Controls
        except ImportError:
            print("ipywidgets is not installed, so here is the picture alone. To play: pip install ipywidgets")
            return self.picture(show_test=show_test)
        return Controls(self, show_test).panel
