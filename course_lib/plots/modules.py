"""Draw networks: the tree of modules that PyTorch registered, the shapes on the way through, the images in between.

Everything is read from the module or from what the notebook recorded, so a layer that was never registered is missing
in the picture, too. torch itself is not imported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from course_lib.plots.style import BLUE, GRAY, INK, VERMILLION, Canvas, canvas, frame_image, sheet, styled, times

ROW, INDENT, LETTER = 0.29, 0.26, 0.083
"""height of a line of the tree, shift of one level, width of a letter; in inches"""
PIXEL, LAYER = 0.052, 0.055
"""side of a pixel and shift between two drawn channels of a stack, in inches"""
DRAWN_CHANNELS = 8
"""more channels than this are not drawn one by one; the label says how many there are"""


@dataclass(frozen=True)
class Branch:
    """One module of a tree: one line of the figure."""

    name: str
    """the attribute that holds it; empty for the root"""
    path: str
    """as in `named_modules`; empty for the root"""
    kind: str
    """the class"""
    level: int
    holds: str
    """its own parameters and buffers with their shapes, or why they are not listed"""
    size: int
    """elements of all parameters in it and below"""
    frozen: bool
    """it has parameters, and none of them learns"""


@styled
def module_tree(net: Any, *, depth: int = 9) -> Canvas:
    """Draw the modules registered in `net`, a line for each: name, class, own parameters and buffers, size in total.

    depth: levels below the root to open. A module that stands in two places is drawn twice and says so.
    """
    branches = list(_branches(net, depth))
    name_at = 0.1
    kind_at = max(name_at + b.level * INDENT + LETTER * len(b.name) for b in branches) + 0.35
    holds_at = kind_at + LETTER * max(len(b.kind) for b in branches) + 0.3
    right = max(holds_at + 0.9 * LETTER * max(len(b.holds) for b in branches) + 1.1, 5.5)
    figure, axes = sheet(0, right, -ROW * (len(branches) + 1) - 0.15, 0)
    axes.text(right - 0.1, -0.17, "parameters", ha="right", va="center", fontsize=9, color=GRAY)
    heights = [-ROW * (line + 1) - 0.17 for line in range(len(branches))]
    for line, (branch, y) in enumerate(zip(branches, heights, strict=True)):
        ink = GRAY if branch.frozen else INK
        x = name_at + branch.level * INDENT
        if branch.level:
            parent = max(earlier for earlier in range(line) if branches[earlier].level == branch.level - 1)
            bend = x - 0.17
            axes.plot([bend, bend, x - 0.04], [heights[parent] - 0.11, y, y], color=GRAY, linewidth=1)
        name = branch.name or branch.kind
        axes.text(x, y, name, va="center", weight="bold", color=GRAY if branch.frozen else BLUE)
        if branch.name:
            axes.text(kind_at, y, branch.kind, va="center", color=ink)
        axes.text(holds_at, y, branch.holds, va="center", fontsize=9, color=ink)
        axes.text(right - 0.1, y, f"{branch.size:,}" if branch.size else "", ha="right", va="center", color=ink)
    figure.description = f"Tree of modules. {'; '.join(map(_spell, branches))}."
    return figure


def _branches(net: Any, depth: int) -> Iterator[Branch]:
    seen: dict[int, str] = {}

    def walk(module: Any, name: str, path: str, level: int) -> Iterator[Branch]:
        kind, size = type(module).__name__, sum(p.numel() for p in module.parameters())
        frozen = size > 0 and not any(p.requires_grad for p in module.parameters())
        if id(module) in seen:
            yield Branch(name, path, kind, level, f"the same module as {seen[id(module)]}", 0, frozen)
            return
        seen[id(module)] = path or kind
        # `_modules` and not `named_children()`, which leaves out a module that stands in two places.
        children = [(n, child) for n, child in module._modules.items() if child is not None]
        closed = level == depth and bool(children)
        holds = f"{sum(1 for _ in module.modules()) - 1} modules inside" if closed else _holdings(module)
        holds += " (frozen)" if frozen and (closed or not children) else ""
        yield Branch(name, path, kind, level, holds, size, frozen)
        for child_name, child in () if closed else children:
            yield from walk(child, child_name, f"{path}.{child_name}" if path else child_name, level + 1)

    return walk(net, "", "", 0)


def _holdings(module: Any) -> str:
    own = [f"{name} {tuple(p.shape)}" for name, p in module.named_parameters(recurse=False)]
    buffers = [name for name, _ in module.named_buffers(recurse=False)]
    return "; ".join(filter(None, [", ".join(own), f"buffers: {', '.join(buffers)}" if buffers else ""]))


def _spell(branch: Branch) -> str:
    called = f"{branch.path}: {branch.kind}" if branch.path else branch.kind
    size = f", {branch.size} parameters" if branch.size else ""
    return f"{called}{f', {branch.holds}' if branch.holds else ''}{size}"


@styled
def shape_flow(steps: Sequence[tuple[str, Sequence[int]]]) -> Canvas:
    """Draw what flows through a network: for each of `steps` its name and the shape of its result, without the batch.

    A shape of three axes (channels, height, width) is a stack of images to scale; one of a single axis is a bar whose
    length grows with the logarithm. Raises ValueError for any other number of axes.
    """
    if wrong := [(name, len(shape)) for name, shape in steps if len(shape) not in (1, 3)]:
        name, number = wrong[0]
        raise ValueError(f"shape_flow: {name} has {number} axes; give shapes of 1 or 3 axes, without the batch")
    boxes = [_box(shape) for _, shape in steps]
    widths = [
        max(width, LETTER * len(name), LETTER * len(times(shape)))
        for (width, _), (name, shape) in zip(boxes, steps, strict=True)
    ]
    gap, tallest = 0.3, max(height for _, height in boxes)
    figure, axes = sheet(0, sum(widths) + gap * len(widths) + 0.1, -tallest - 0.85, 0)
    middle, x = -0.4 - tallest / 2, gap / 2
    for (name, shape), (width, height), wide in zip(steps, boxes, widths, strict=True):
        center = x + wide / 2
        _stack(axes, shape, center - width / 2, middle - height / 2)
        axes.text(center, -0.17, name, ha="center", va="center", weight="bold", fontsize=9.5)
        axes.text(center, -0.62 - tallest, times(shape), ha="center", va="center", fontsize=9)
        if x > gap:
            arrow = {"arrowstyle": "-|>", "color": GRAY}
            axes.annotate("", (x - 0.06, middle), (x - gap + 0.06, middle), arrowprops=arrow)
        x += wide + gap
    words = [f"{name} {times(shape)}" for name, shape in steps]
    figure.description = f"Shapes through a network, from left to right: {', then '.join(words)}."
    return figure


def _stack(axes: Axes, shape: Sequence[int], left: float, bottom: float) -> None:
    """The channels of an image one behind the other, or a bar for a vector; `left` and `bottom` as `_box` measures."""
    if len(shape) == 1:
        axes.add_patch(Rectangle((left, bottom), *_box(shape), facecolor="#fbe9dd", edgecolor=VERMILLION))
        return
    width, height = shape[2] * PIXEL, shape[1] * PIXEL
    for behind in reversed(range(min(shape[0], DRAWN_CHANNELS))):
        corner = (left + behind * LAYER, bottom + behind * LAYER)
        axes.add_patch(Rectangle(corner, width, height, facecolor="#e3eff7", edgecolor=BLUE, linewidth=0.8))


def _box(shape: Sequence[int]) -> tuple[float, float]:
    """Width and height in inches."""
    if len(shape) == 1:
        return 0.16, 0.17 * math.log2(shape[0] + 1)
    depth = (min(shape[0], DRAWN_CHANNELS) - 1) * LAYER
    return shape[2] * PIXEL + depth, shape[1] * PIXEL + depth


@styled
def image_row(images: Mapping[str, ArrayLike], symmetric: bool = False) -> Canvas:
    """Small gray images side by side, each on its own scale: white at its least value, black at its largest.

    `images`: label -> `(height, width)`. `symmetric`: white at 0 in every image, red above and blue below.
    """
    arrays = {label: np.asarray(image, dtype=float) for label, image in images.items()}
    more_lines = max(label.count("\n") for label in arrays)
    tallest = max(array.shape[0] / array.shape[1] for array in arrays.values())
    height = 0.35 + 1.25 * min(1.0, tallest) + 0.25 * more_lines  # wide images need less
    figure, panels = canvas(min(9.0, 1.25 * len(arrays) + 0.2), height, panels=len(arrays))
    for axes, (label, array) in zip(panels, arrays.items(), strict=True):
        limit = float(np.abs(array).max(initial=0)) if symmetric else None
        axes.imshow(
            array,
            cmap="RdBu_r" if symmetric else "Greys",
            vmin=-limit if limit else None,
            vmax=limit or None,
            interpolation="nearest",
        )
        axes.set_title(label, fontsize=9.5, loc="center", pad=5)
        frame_image(axes)
    parts = [
        f"{' '.join(label.split())}, {array.shape[0]} by {array.shape[1]}, from {array.min():.3g} to {array.max():.3g}"
        for label, array in arrays.items()
    ]
    figure.description = f"{len(arrays)} images side by side: {'; '.join(parts)}."
    if symmetric:
        figure.description += " White is 0, red is positive, blue is negative."
    return figure
