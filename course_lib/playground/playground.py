"""The playground as a notebook uses it: an experiment that shows itself, as a picture or with buttons.

board = Playground(data="spiral", hidden=(8, 8), rate=0.3)
board.run(400)      # epochs
board.picture()     # shows itself in a notebook
board.controls()    # the same board with buttons, in Jupyter and in Colab
"""

from __future__ import annotations

from typing import Any

from course_lib.playground.board import Board


class Playground(Board):
    """A board that can be looked at. matplotlib and ipywidgets are loaded when the first picture is wanted."""

    def picture(self, *, show_test: bool = False) -> Any:
        """The whole board as one image with a description: neurons, boundary and losses."""
        from course_lib.playground.picture import draw

        return draw(self, show_test=show_test).whole()

    def controls(self) -> Any:
        """The board as widgets, for Jupyter and Colab; without ipywidgets its picture, and a sentence that says so."""
        try:
            from course_lib.playground.controls import Controls
        except ImportError:
            print("ipywidgets is not installed, so here is the picture alone. To play: pip install ipywidgets")
            return self.picture()
        return Controls(self).panel
