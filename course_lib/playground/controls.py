"""Buttons and sliders for a board, in Jupyter and in Colab. The only part that needs ipywidgets (7 or 8).

There is no thread and no loop here. A `Play` widget ticks in the browser; each tick is one message, for which the
kernel trains a slice of at most SLICE_S seconds and sends a picture. Between two ticks the kernel is free, for other
buttons and for other cells. If it cannot keep up, the ticks are made to come more slowly.
"""

from __future__ import annotations

import html
import time
from typing import Any

import ipywidgets

from course_lib.playground.board import MOST_LAYERS, MOST_UNITS, Board
from course_lib.playground.data import PATTERNS
from course_lib.playground.network import ACTIVATIONS, PENALTIES, STARTS
from course_lib.playground.picture import NETWORK_WIDTH, OUTPUT_WIDTH, SIGNS, draw

SLICE_S = 0.05
"""training between two pictures; they take about as long again"""
TICK_MS, SLOWEST_TICK_MS = 100, 1000
EPOCHS_PER_PICTURE = (1, 5, 20)
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PENALTY_RATES = (0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
BATCHES = (1, 2, 5, 10, 20, 50, 100, 400)


class Controls:
    """`panel` is the widget to show; the others are its parts."""

    def __init__(self, board: Board) -> None:
        """The widgets start with the board's own settings and change that very board."""
        self.board = board
        self.show_test = False
        self._quiet = False
        self._make_player()
        self._make_choices()
        self.network_image, self.output_image = (
            ipywidgets.Image(format="png", layout={"width": f"{width}px", "max_width": "100%", "object_fit": "contain"})
            for width in (NETWORK_WIDTH, OUTPUT_WIDTH)
        )
        self.panel = self._arrange()
        self.redraw()

    # Making

    def _make_player(self) -> None:
        self.play = ipywidgets.Play(value=0, min=0, max=10**9, interval=TICK_MS, layout={"width": "auto"})
        self.play.show_repeat = False
        self.step = ipywidgets.Button(description="Step", tooltip="train for one epoch", layout={"width": "70px"})
        self.reset = ipywidgets.Button(
            description="Reset", tooltip="back to the first weights", layout={"width": "70px"}
        )
        self.speed = _dropdown("epochs a picture", EPOCHS_PER_PICTURE, 1, width="190px")
        self.test_points = ipywidgets.Checkbox(
            value=False, description="show test points", indent=False, layout={"width": "150px"}
        )
        self.status = ipywidgets.HTML()
        self.play.observe(self._on_tick, "value")
        self.step.on_click(lambda _: self._on_step())
        self.reset.on_click(lambda _: self._on_reset())
        self.test_points.observe(self._on_test_points, "value")

    def _make_choices(self) -> None:
        chosen = self.board.settings
        self.choices: dict[str, Any] = {
            "data": _dropdown("data", PATTERNS, chosen.data),
            "noise": ipywidgets.FloatSlider(
                value=chosen.noise, min=0, max=0.5, step=0.05, readout_format=".2f", description="noise",
                continuous_update=False, style=NARROW, layout={"width": "250px"},
            ),
            "share": ipywidgets.FloatSlider(
                value=chosen.share, min=0.1, max=0.9, step=0.1, readout_format=".0%", description="for training",
                continuous_update=False, style=NARROW, layout={"width": "250px"},
            ),
            "batch": _dropdown("batch size", BATCHES, chosen.batch),
            "rate": _dropdown("learning rate", RATES, chosen.rate),
            "activation": _dropdown("activation", ACTIVATIONS, chosen.activation),
            "penalty": _dropdown("regularization", PENALTIES, chosen.penalty),
            "penalty_rate": _dropdown("its rate", PENALTY_RATES, chosen.penalty_rate),
            "start": _dropdown("first weights", STARTS, chosen.start),
        }  # fmt: skip
        for name, widget in self.choices.items():
            widget.observe(lambda change, name=name: self._change(**{name: change["new"]}), "value")
        self.choices["penalty_rate"].disabled = chosen.penalty == "none"
        self.features = {
            name: ipywidgets.ToggleButton(value=name in chosen.features, description=sign, layout={"width": "72px"})
            for name, sign in SIGNS.items()
        }
        for toggle in self.features.values():
            toggle.observe(self._on_features, "value")
        self.layers = _dropdown("hidden layers", range(MOST_LAYERS + 1), len(chosen.hidden))
        units = (*chosen.hidden, *[4] * MOST_LAYERS)[:MOST_LAYERS]
        self.units = [
            _dropdown(f"units in {layer}", range(1, MOST_UNITS + 1), count, width="140px")
            for layer, count in enumerate(units, start=1)
        ]
        for widget in (self.layers, *self.units):
            widget.observe(self._on_hidden, "value")

    def _arrange(self) -> Any:
        choose = self.choices
        self.unit_row = ipywidgets.Box(layout={"flex_flow": "row wrap"})
        self._show_units()
        rows = [
            [choose["data"], choose["noise"], choose["share"], choose["batch"]],
            [ipywidgets.HTML("<b>features</b>", layout={"width": "70px"}), *self.features.values()],
            [self.layers, self.unit_row, choose["activation"], choose["start"]],
            [choose["rate"], choose["penalty"], choose["penalty_rate"]],
            [self.play, self.step, self.reset, self.speed, self.test_points, self.status],
            [self.network_image, self.output_image],
        ]
        return ipywidgets.VBox([_wrapping(row) for row in rows])

    def _show_units(self) -> None:
        self.unit_row.children = self.units[: self.layers.value]

    # Answering

    def redraw(self) -> None:
        """Show the board as it is now."""
        frame = draw(self.board, show_test=self.show_test)
        self.network_image.value = frame.network.png()
        self.output_image.value = frame.output.png()
        self.status.value = f"<span>{html.escape(self.board.summary())}</span>"

    def _on_tick(self, change: Any) -> None:
        if change["new"] == 0:  # the player's stop button
            self._on_reset()
            return
        started = time.perf_counter()
        self.board.run(self.speed.value, seconds=SLICE_S)
        self.redraw()
        took_ms = 1000 * (time.perf_counter() - started)
        wanted = round(min(max(TICK_MS, 1.3 * took_ms), SLOWEST_TICK_MS))
        if not 0.7 < wanted / self.play.interval < 1.4:
            self.play.interval = wanted

    def _on_step(self) -> None:
        self.board.step()
        self.redraw()

    def _on_reset(self) -> None:
        self.board.reset()
        self.redraw()

    def _on_test_points(self, change: Any) -> None:
        self.show_test = change["new"]
        self.redraw()

    def _change(self, **changes: Any) -> None:
        self.board.change(**changes)
        self.choices["penalty_rate"].disabled = self.board.settings.penalty == "none"
        self.redraw()

    def _on_features(self, change: Any) -> None:
        if self._quiet:
            return
        names = tuple(name for name, toggle in self.features.items() if toggle.value)
        if names:
            self._change(features=names)
            return
        # The last one stays: a network without inputs learns nothing.
        self._quiet = True
        change["owner"].value = True
        self._quiet = False

    def _on_hidden(self, _: Any) -> None:
        self._show_units()
        self._change(hidden=tuple(widget.value for widget in self.units[: self.layers.value]))


NARROW = {"description_width": "90px"}


def _dropdown(label: str, values: Any, value: Any, width: str = "210px") -> Any:
    """A list to choose from; a value of the board's that is not in it is added."""
    options = list(values)
    if value not in options:
        options = sorted([*options, value])
    # As text and value, so that Colab's older widgets show 0.0001 as written.
    return ipywidgets.Dropdown(
        options=[(f"{option:g}" if isinstance(option, float) else str(option), option) for option in options],
        value=value, description=label, layout={"width": width},
        style=NARROW if width == "210px" else {"description_width": "initial"},
    )  # fmt: skip


def _wrapping(children: list[Any]) -> Any:
    """A row that goes on below where the window is too narrow for it."""
    return ipywidgets.Box(children, layout={"flex_flow": "row wrap", "align_items": "center"})
