"""What several processes do together: who holds which sums as a ring turns, and who works when in a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from course_lib.plots.style import FAINT, GREEN, INK, Canvas, canvas, styled

SHADES = ("#f4f4f4", "#d5e6f3", "#9cc7e3", "#5aa3d0", GREEN)
"""for the share of all contributions that a sum holds; the last is for all of them"""


@styled
def ring_steps(histories: Sequence[ArrayLike]) -> Canvas:
    """Who has contributed to each chunk in each process, a panel for each step.

    histories: one for each process, `(steps + 1, chunks)`; the bits of a number are the processes in that sum.
    """
    history = np.stack([np.asarray(h, dtype=int) for h in histories])  # process, step, chunk
    count, panels, chunks = history.shape
    figure, axes = canvas(1.55 * panels + 0.6, 2.3, panels=panels)
    for step, panel in enumerate(axes):
        for rank in range(count):
            for chunk in range(chunks):
                inside = [bit for bit in range(count) if history[rank, step, chunk] >> bit & 1]
                shade = SHADES[-1] if len(inside) == count else SHADES[round((len(inside) - 1) * 3 / (count - 1))]
                panel.add_patch(Rectangle((chunk, rank), 1, 1, facecolor=shade, edgecolor="white"))
                text = "all" if len(inside) == count else "".join(map(str, inside))
                ink = "white" if len(inside) == count else INK
                panel.text(chunk + 0.5, rank + 0.5, text, ha="center", va="center", fontsize=8, color=ink)
        panel.set(xlim=(0, chunks), ylim=(count, 0), aspect="equal", xlabel="chunk")
        panel.set_title("at the start" if step == 0 else f"after step {step - 1}", fontsize=10)
        panel.set_xticks(np.arange(chunks) + 0.5, [str(chunk) for chunk in range(chunks)])
        panel.set_yticks(np.arange(count) + 0.5, [f"process {rank}" for rank in range(count)] if step == 0 else [])
        panel.grid(visible=False)
        panel.tick_params(length=0)
        for side in ("left", "bottom"):
            panel.spines[side].set_visible(False)
    complete = [int((history[:, step] == 2**count - 1).sum()) for step in range(panels)]
    figure.description = (
        f"Which processes' numbers are in each of {chunks} chunks, in {count} processes, before the first step and "
        f"after each of {panels - 1}. Chunks that hold all contributions: {', '.join(map(str, complete))}."
    )
    return figure


@styled
def pipeline(stages: int, pieces: int) -> Canvas:
    """When each stage of a pipeline works on which piece of a batch, forward and then backward, one step each."""
    figure, (axes,) = canvas(8.4, 0.9 + 0.45 * stages)
    half = stages + pieces - 1
    for stage in range(stages):
        axes.add_patch(Rectangle((0, stage + 0.08), 2 * half, 0.84, facecolor=FAINT, edgecolor="none", zorder=1))
        for piece in range(pieces):
            places = ((stage + piece, "#9cc7e3", "F"), (half + stages - 1 - stage + piece, "#f2b98c", "B"))
            for start, color, letter in places:
                axes.add_patch(Rectangle((start, stage + 0.08), 1, 0.84, facecolor=color, edgecolor="white", zorder=2))
                label = f"{letter}{piece}"
                axes.text(start + 0.5, stage + 0.5, label, ha="center", va="center", fontsize=8.5, color=INK)
    axes.set(xlim=(0, 2 * half), ylim=(stages, 0), xlabel="time (F forward, B backward, gray idle)")
    axes.set_yticks(np.arange(stages) + 0.5, [f"stage {stage}" for stage in range(stages)])
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    figure.description = (
        f"Schedule of a pipeline of {stages} stages and {pieces} pieces of a batch over {2 * half} time steps: each "
        f"stage works for {2 * pieces} and is idle for {2 * (stages - 1)}."
    )
    return figure


@styled
def schedule(rows: Mapping[str, Sequence[tuple[float, float]]], *, names: Sequence[str], xlabel: str) -> Canvas:
    """What is done when: a row for each label, with a named bar from begin to end for each of its pairs, in order."""
    figure, (axes,) = canvas(8.4, 0.9 + 0.45 * len(rows))
    colors = ("#9cc7e3", "#f2b98c", "#a9d8b8", "#e3c4d8")
    for row, spans in enumerate(rows.values()):
        for k, ((begin, end), name) in enumerate(zip(spans, names, strict=True)):
            color = colors[k % len(colors)]
            place = (begin, row + 0.08)
            axes.add_patch(Rectangle(place, end - begin, 0.84, facecolor=color, edgecolor="white", zorder=2))
            axes.text((begin + end) / 2, row + 0.5, name, ha="center", va="center", fontsize=8.5, color=INK)
    last = max(end for spans in rows.values() for _, end in spans)
    axes.set(xlim=(0, last), ylim=(len(rows), 0), xlabel=xlabel)
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    ends = [f"{label}: from {spans[0][0]:g} to {max(end for _, end in spans):g}" for label, spans in rows.items()]
    figure.description = f"When {', '.join(names)} have their turns, {xlabel}. {'; '.join(ends)}."
    return figure
