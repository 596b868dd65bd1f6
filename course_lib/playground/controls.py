"""Buttons and sliders for a board, in Jupyter and in Colab. The only part that needs ipywidgets (7 or 8).

There is no thread and no loop here. A `Play` widget ticks in the browser; each tick is one message, for which the
kernel trains a slice of at most SLICE_S seconds and sends a picture. Between two ticks the kernel is free, for other
buttons and for other cells. If it cannot keep up, the ticks are made to come more slowly.

A picture knows nothing of clicks. So a grid of transparent buttons lies over it, one on each unit's map; its tracks are
parts of the picture's width and height, and stay in place where a narrow window makes the picture smaller.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets

from course_lib.playground.board import MOST_LAYERS, MOST_UNITS, Board
from course_lib.playground.data import PATTERNS
from course_lib.playground.network import ACTIVATIONS, PENALTIES, STARTS
from course_lib.playground.picture import (
    HEIGHT,
    NETWORK_WIDTH,
    OUTPUT_WIDTH,
    SIGNS,
    UNIT,
    View,
    draw,
    places,
    unit_name,
)  # fmt: skip

SLICE_S = 0.05
"""training between two pictures; they take about as long again"""
TICK_MS, SLOWEST_TICK_MS = 100, 1000
EPOCHS_PER_PICTURE = (1, 5, 20)
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
STRENGTHS = (0.0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
BATCHES = (1, 2, 5, 10, 20, 50, 100, 400)


class Controls:
    """`panel` is the widget to show; the others are its parts."""

    def __init__(self, board: Board, show_test: bool = False) -> None:
        """The widgets start with the board's own settings and change that very board."""
        self.board = board
        self.unit: tuple[int, int] | None = None
        """the one that is looked at; the whole network where there is none"""
        self.unit_buttons: dict[tuple[int, int], Any] = {}
        self._quiet = False
        self._make_player()
        self._make_choices()
        self.network_image, self.output_image = (
            ipywidgets.Image(format="png", layout={"object_fit": "contain", "margin": "0", "min_width": "0"})
            for _ in range(2)
        )
        self.network_image.layout.grid_area = ON_TOP["grid_area"]
        self.network_image.layout.width = "100%"
        self.output_image.layout.flex, self.output_image.layout.max_width = _share(OUTPUT_WIDTH)
        self.panel = self._arrange()
        self.look_at(None)
        self._place_buttons()
        self.test_points.value = show_test
        self.redraw()

    # Making

    def _make_player(self) -> None:
        self.play = ipywidgets.Play(value=0, min=0, max=10**9, interval=TICK_MS, layout={"width": "auto"})
        self.play.show_repeat = False
        self.step = ipywidgets.Button(description="Step", tooltip="train for one epoch", layout={"width": "70px"})
        self.reset = ipywidgets.Button(
            description="Reset", tooltip="back to the first weights", layout={"width": "70px"}
        )
        self.speed = _dropdown("epochs per picture", EPOCHS_PER_PICTURE, 5, width="190px")
        self.test_points, self.discretize = (
            ipywidgets.Checkbox(value=False, description=label, indent=False, layout={"width": "150px"})
            for label in ("show test points", "discretize output")
        )
        self.status, self.state = ipywidgets.HTML(), ipywidgets.HTML()
        self.play.observe(self._on_tick, "value")
        self.step.on_click(lambda _: self._on_step())
        self.reset.on_click(lambda _: self._on_reset())
        for box in (self.test_points, self.discretize):
            box.observe(lambda _: self.redraw(), "value")

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
            "lr": _dropdown("learning rate", RATES, chosen.lr),
            "activation": _dropdown("activation", ACTIVATIONS, chosen.activation),
            "penalty": _dropdown("regularization", PENALTIES, chosen.penalty),
            "strength": _dropdown("penalty strength", STRENGTHS, chosen.strength),
            "start": _dropdown("initialization", STARTS, chosen.start),
            "seed": ipywidgets.BoundedIntText(
                value=chosen.seed, min=0, max=10**6, description="seed", style=NARROW, layout={"width": "170px"}
            ),
        }  # fmt: skip
        self.new_data = ipywidgets.Button(
            description="New data", tooltip="other points of the same kind, the same first weights",
            layout={"width": "90px"},
        )  # fmt: skip
        self.new_data.on_click(lambda _: self._on_new_data())
        for name, widget in self.choices.items():
            widget.observe(lambda change, name=name: self._change(**{name: change["new"]}), "value")
        self.choices["strength"].disabled = chosen.penalty == "none"
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
        self.over = ipywidgets.GridBox(layout=ON_TOP)
        self.network = ipywidgets.GridBox([self.network_image, self.over], layout={"min_width": "0"})
        self.network.layout.flex, self.network.layout.max_width = _share(NETWORK_WIDTH)
        self.edits = ipywidgets.Box(layout={"flex_flow": "row wrap", "align_items": "center"})
        rows = [
            [choose["data"], choose["noise"], choose["share"], choose["batch"]],
            [choose["seed"], self.new_data, self.test_points, self.discretize],
            [ipywidgets.HTML("<b>features</b>", layout={"width": "70px"}), *self.features.values()],
            [self.layers, self.unit_row, choose["activation"], choose["start"]],
            [choose["lr"], choose["penalty"], choose["strength"]],
            [self.play, self.step, self.reset, self.speed, self.status],
            [self.network, self.output_image],
            [self.edits],
            [self.state],
        ]
        return ipywidgets.VBox([_wrapping(row) for row in rows])

    def _show_units(self) -> None:
        self.unit_row.children = self.units[: self.layers.value]

    # Answering

    def redraw(self) -> None:
        """Show the board as it is now."""
        frame = draw(self.board, View(self.test_points.value, self.discretize.value, self.unit))
        self.network_image.value = frame.network.png()
        self.output_image.value = frame.output.png()
        self.status.value = f"<span>{html.escape(self.board.summary())}</span>"
        link = f"href='{html.escape(self.board.link())}' target='_blank' rel='noopener'"
        self.state.value = (
            f"<code>{html.escape(self.board.code())}</code> &nbsp; "
            f"<a {link} style='text-decoration: underline'>these settings in the TensorFlow Playground</a>"
        )
        self._fill_edits()

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

    def _on_new_data(self) -> None:
        chosen = self.board.settings
        before = chosen.seed if chosen.data_seed is None else chosen.data_seed
        self._change(data_seed=before + 1)

    def _change(self, **changes: Any) -> None:
        before = self.board.settings
        self.board.change(**changes)
        self.choices["strength"].disabled = self.board.settings.penalty == "none"
        after = self.board.settings
        if (before.features, before.hidden) != (after.features, after.hidden):
            self.look_at(None)
            self._place_buttons()
        self.redraw()

    # Looking at one unit

    def look_at(self, unit: tuple[int, int] | None) -> None:
        """Make the large map that of `unit`, and offer its weights and bias for editing; None: the whole network."""
        self.unit = unit
        if unit is None:
            self.edits.children = [ipywidgets.HTML("<i>Click a unit for its large map and its weights.</i>")]
            return
        back = ipywidgets.Button(description="Whole network", layout={"width": "120px"})
        back.on_click(lambda _: self._on_unit(None))
        children = [ipywidgets.HTML(f"<b>{unit_name(self.board, unit)}</b>&nbsp;"), back]
        if unit[0] > 0:
            weights, _ = self.board.parameters_of(unit)
            sources = [unit_name(self.board, (unit[0] - 1, place)) for place in range(1, len(weights) + 1)]
            labels = [f"from {source.partition(', ')[2] or source}" for source in sources]
            for source, label in ((None, "bias"), *enumerate(labels, start=1)):
                field = ipywidgets.FloatText(
                    step=0.1, description=label, layout={"width": "165px"}, style={"description_width": "85px"}
                )
                field.observe(lambda change, source=source: self._on_edit(source, change["new"]), "value")
                children.append(field)
        self.edits.children = children

    def _fill_edits(self) -> None:
        """Show the unit's weights as they are now."""
        if self.unit is None or self.unit[0] == 0:
            return
        weights, bias = self.board.parameters_of(self.unit)
        with self._silent():
            for field, value in zip(self.edits.children[2:], [float(bias), *weights.tolist()], strict=True):
                field.value = round(value, 3)

    def _on_unit(self, unit: tuple[int, int] | None) -> None:
        self.look_at(None if unit == self.unit else unit)
        self.redraw()

    def _on_edit(self, source: int | None, value: float) -> None:
        if not self._quiet and self.unit is not None:
            self.board.edit(self.unit, source, value)
            self.redraw()

    def _place_buttons(self) -> None:
        """A transparent button on each map of the picture."""
        for old in self.unit_buttons.values():
            old.close()
        self.unit_buttons.clear()
        columns = places(self.board)
        boxes = []
        for layer, column in enumerate(columns):
            buttons = [self._unit_button((layer, place)) for place in range(1, len(column) + 1)]
            rows = _tracks([y for _, y in column], HEIGHT)
            at = f"1 / {2 * layer + 2} / auto / auto"
            layout = {**FILLING, "grid_template_rows": rows, "grid_template_columns": "100%", "grid_area": at}
            boxes.append(ipywidgets.GridBox(buttons, layout=layout))
        self.over.layout.grid_template_columns = _tracks([column[0][0] for column in columns], NETWORK_WIDTH)
        self.over.layout.grid_template_rows = "100%"
        self.over.children = boxes

    def _unit_button(self, unit: tuple[int, int]) -> Any:
        # `grid_area` and not `grid_row`: the widgets' own style clears an area that is not set, and the row with it.
        button = ipywidgets.Button(
            tooltip=f"{unit_name(self.board, unit)}: its map and its weights",
            style={"button_color": "transparent"},
            layout={**FILLING, "grid_area": f"{2 * unit[1]} / 1 / auto / auto"},
        )
        button.on_click(lambda _: self._on_unit(unit))
        self.unit_buttons[unit] = button
        return button

    @contextmanager
    def _silent(self) -> Iterator[None]:
        """What is set here is not taken for the reader's wish."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _on_features(self, change: Any) -> None:
        if self._quiet:
            return
        names = tuple(name for name, toggle in self.features.items() if toggle.value)
        if names:
            self._change(features=names)
            return
        # The last one stays: a network without inputs learns nothing.
        with self._silent():
            change["owner"].value = True

    def _on_hidden(self, _: Any) -> None:
        self._show_units()
        self._change(hidden=tuple(widget.value for widget in self.units[: self.layers.value]))


NARROW = {"description_width": "90px"}
FILLING = {"width": "100%", "height": "100%", "margin": "0", "padding": "0", "min_width": "0", "min_height": "0"}
ON_TOP = {"grid_area": "1 / 1 / 2 / 2", "width": "100%", "height": "0", "min_height": "100%", "overflow": "hidden"}
"""in the same cell of a grid as what lies below, and as high as that, whatever its own contents would need"""


def _share(width: int) -> tuple[str, str]:
    """Flex and greatest width of a picture: down to three quarters of their width the two stay side by side."""
    return f"{width} 1 {0.75 * width:.0f}px", f"{width}px"


def _tracks(starts: Sequence[float], length: float) -> str:
    """Rows or columns of a grid, in parts of its length: a gap and a unit in turn, and what is left."""
    sizes, end = [], 0.0
    for start in starts:
        sizes += [start - end, float(UNIT)]
        end = start + UNIT
    return " ".join(f"minmax(0, {size:.1f}fr)" for size in [*sizes, length - end])


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
