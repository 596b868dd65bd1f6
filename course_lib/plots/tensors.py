"""Draw what a tensor is: a row of memory places, and a rule that says which place each entry reads.

Everything is read from the tensors: the storage they point at, their shapes, strides and offsets. Tensors that share a
storage stand under one and the same row; one that was copied has a row of its own. torch itself is not imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from course_lib.plots.style import GRAY, INK, SERIES_STYLES, Canvas, sheet, styled

T = TypeVar("T")

MOST_PLACES = 24
"""a longer row would not fit on a page"""
CELL, GAP = 0.36, 0.45
"""side of one entry, and distance between two tensors, in inches"""
HEADER, LETTER = 0.62, 0.075
"""height of the three lines above a tensor, and width of a letter in them, in inches"""
PLACE = "#6a6a6a"
"""of the small numbers: paler than a value, dark enough to read"""
PAGE = 8.6
"""width beyond which things stand below each other, in inches"""
BAR = 0.15
"""height of the line that says which places one tensor reads, in inches"""


@dataclass(frozen=True)
class View:
    """One tensor: how it reads its storage."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    color: str

    @property
    def places(self) -> NDArray[np.int64]:
        """For each entry the place in the storage that it reads; the shape is the tensor's."""
        places = np.full(self.shape, self.offset)
        for axis, (length, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            along = [length if other == axis else 1 for other in range(len(self.shape))]
            places = places + stride * np.arange(length).reshape(along)
        return places

    @property
    def lines(self) -> tuple[str, str, str]:
        return self.name, f"shape {self.shape}", f"strides {self.strides}, offset {self.offset}"

    @property
    def width(self) -> float:
        """In inches. A third axis is drawn as matrices side by side."""
        matrices = len(self.matrices)
        grids = matrices * self.matrix[1] * CELL + (matrices - 1) * CELL / 2
        return max(grids, LETTER * max(map(len, self.lines)))

    @property
    def matrix(self) -> tuple[int, int]:
        """Rows and columns of one drawn matrix; a vector is a row."""
        rows, columns = (1, 1, *self.shape)[-2:]
        return rows, columns

    @property
    def matrices(self) -> NDArray[np.int64]:
        """The places as `(matrices, rows, columns)`."""
        return self.places.reshape(math.prod(self.shape[:-2]), *self.matrix)


@dataclass(frozen=True)
class Memory:
    """A storage and the tensors that read it."""

    values: list[Any]
    kind: str
    """the dtype, without `torch.`"""
    device: str
    views: list[View]

    @property
    def title(self) -> str:
        return f"storage on {self.device}: {len(self.values)} {self.kind} elements"

    @property
    def rows(self) -> list[list[View]]:
        return _side_by_side(self.views, [view.width for view in self.views])

    @property
    def width(self) -> float:
        """In inches."""
        strip = CELL * len(self.values) + 0.08 + LETTER * max(len(view.name) for view in self.views)
        rows = (sum(view.width + GAP for view in row) - GAP for row in self.rows)
        return max(LETTER * len(self.title), strip, *rows)

    @property
    def height(self) -> float:
        """In inches."""
        grids = sum(HEADER + 0.3 + CELL * max(view.matrix[0] for view in row) for row in self.rows)
        return 0.55 + CELL + BAR * len(self.views) + grids


@styled
def storage(tensors: Mapping[str, Any]) -> Canvas:
    """Draw the storages behind `tensors` (label -> tensor of at most three axes) and how each tensor reads its own.

    The small number in an entry is the place that it reads. Raises ValueError for more than five tensors, for a storage
    of more than 24 elements, and for more than three axes.
    """
    memories = _memories(tensors)
    shelves = _side_by_side(memories, [memory.width for memory in memories])
    width = max(3.0, *(sum(memory.width + GAP for memory in shelf) - GAP for shelf in shelves)) + 0.1
    height = sum(max(memory.height for memory in shelf) for shelf in shelves)
    figure, axes = sheet(-0.1, width + 0.1, -height, 0)
    top = 0.0
    for shelf in shelves:
        left = 0.0
        for memory in shelf:
            _draw(axes, memory, left, top)
            left += memory.width + GAP
        top -= max(memory.height for memory in shelf)
    figure.description = " ".join(_describe(memory) for memory in memories)
    return figure


def _memories(tensors: Mapping[str, Any]) -> list[Memory]:
    """The tensors sorted by the storage that they read, in the order in which they were given."""
    if not 1 <= len(tensors) <= len(SERIES_STYLES):
        raise ValueError(f"storage: {len(tensors)} tensors; one figure tells between 1 and {len(SERIES_STYLES)} apart")
    found: dict[tuple[str, int, Any], Memory] = {}
    for look, (name, tensor) in zip(SERIES_STYLES, tensors.items(), strict=False):
        bytes_ = tensor.untyped_storage()
        length = bytes_.nbytes() // tensor.element_size()
        if length > MOST_PLACES or tensor.dim() > 3:
            raise ValueError(
                f"storage: {name} has {tensor.dim()} axes and a storage of {length} elements; "
                f"a figure holds three axes and {MOST_PLACES} elements. Draw a smaller tensor."
            )
        key = (str(tensor.device), bytes_.data_ptr(), tensor.dtype)
        if key not in found:
            values = tensor.detach().as_strided((length,), (1,), 0).tolist()
            found[key] = Memory(values, str(tensor.dtype).removeprefix("torch."), str(tensor.device), [])
        view = View(name, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), look.color)
        found[key].views.append(view)
    return list(found.values())


def _side_by_side(things: Sequence[T], widths: Sequence[float]) -> list[list[T]]:
    """The things in rows, as many in each as the page is wide."""
    rows: list[list[T]] = []
    used = PAGE
    for thing, width in zip(things, widths, strict=True):
        if used + GAP + width > PAGE:
            rows.append([])
            used = -GAP
        rows[-1].append(thing)
        used += GAP + width
    return rows


def _draw(axes: Axes, memory: Memory, left: float, top: float) -> None:
    """One storage as a row of places, a line for what each tensor reads, and the tensors below."""
    axes.text(left, top - 0.17, memory.title, va="center", fontsize=9.5, color=INK)
    y = top - 0.35 - CELL
    for place, value in enumerate(memory.values):
        _entry(axes, left + place * CELL, y, value, place, GRAY)
    for line, view in enumerate(memory.views, start=1):
        for place in np.unique(view.places):
            x = left + (place + 0.12) * CELL
            axes.plot([x, x + 0.76 * CELL], [y - BAR * line + 0.02] * 2, color=view.color, linewidth=3.2)
        end = left + len(memory.values) * CELL + 0.08
        axes.text(end, y - BAR * line + 0.02, view.name, va="center", fontsize=7.5, color=view.color)
    y -= BAR * len(memory.views) + 0.3
    for row in memory.rows:
        x = left
        for view in row:
            _draw_view(axes, memory, view, x, y)
            x += view.width + GAP
        y -= HEADER + 0.3 + CELL * max(view.matrix[0] for view in row)


def _draw_view(axes: Axes, memory: Memory, view: View, x: float, y: float) -> None:
    weights = ("bold", "normal", "normal")
    for line, (text, weight) in enumerate(zip(view.lines, weights, strict=True)):
        color = view.color if line == 0 else INK
        axes.text(x, y - 0.17 * line, text, va="center", fontsize=9 if line else 10, color=color, weight=weight)
    for number, matrix in enumerate(view.matrices):
        left = x + number * (view.matrix[1] + 0.5) * CELL
        for (row, column), place in np.ndenumerate(matrix):
            below = y - HEADER + 0.1 - (row + 1) * CELL
            _entry(axes, left + column * CELL, below, memory.values[place], int(place), view.color)


def _entry(axes: Axes, x: float, y: float, value: Any, place: int, color: str) -> None:
    """One cell: the value, and in its corner the place in the storage."""
    axes.add_patch(Rectangle((x, y), CELL, CELL, facecolor="white", edgecolor=color, linewidth=1.1))
    shown = f"{value:.3g}"
    size = 10 if len(shown) < 3 else 8 if len(shown) == 3 else 6.5
    axes.text(x + 0.55 * CELL, y + 0.36 * CELL, shown, ha="center", va="center", fontsize=size, color=INK)
    axes.text(x + 0.08 * CELL, y + 0.96 * CELL, str(place), ha="left", va="top", fontsize=6.5, color=PLACE)


def _describe(memory: Memory) -> str:
    values = " ".join(f"{value:.3g}" for value in memory.values)
    parts = [
        f"{view.name}: {view.lines[1]}, {view.lines[2]}, reads places {_spell(view.places)}" for view in memory.views
    ]
    return f"A storage of {len(memory.values)} {memory.kind} elements on {memory.device}, {values}. {'; '.join(parts)}."


def _spell(places: NDArray[np.int64]) -> str:
    """`0 1 2 / 3 4 5`: a stroke between rows, two between matrices."""
    if places.ndim <= 1:
        return " ".join(map(str, places.reshape(-1)))
    return (" / ", " // ")[places.ndim - 2].join(_spell(part) for part in places)
