"""The log as a text to read: what was copied, where the host waited, and what to change about it.

Every number is exact, also where single records were dropped.
"""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from course_lib.virtual_cuda.log.recorder import Recorder
from course_lib.virtual_cuda.log.records import Place, Step
from course_lib.virtual_cuda.log.sites import Site

Key = TypeVar("Key")
OFTEN = 10
"""times that a line may wait before it is worth a word"""
SMALL = 256
"""bytes: a copy of so little costs nothing but the wait"""
READS = {
    "item": "`.item()`",
    "tolist": "`.tolist()`",
    "print": "Printing a tensor",
    "copy to host": "Copying to the host",
    "equal": "`torch.equal`",
    "allclose": "`torch.allclose`",
    "nonzero": "`nonzero`",
    "boolean mask": "Indexing with a mask",
}
_VALUES = {"item", "tolist", "print", "copy to host"}
_SHAPES = {"nonzero", "boolean mask", "masked_select", "unique", "repeat_interleave", "bincount"}


def size(nbytes: float) -> str:
    """`3.9 KiB`; exact below a KiB."""
    for unit in ("B", "KiB", "MiB"):
        if abs(nbytes) < 1024:
            return f"{nbytes:.0f} B" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} GiB"


@dataclass(frozen=True)
class Report:
    """The sums of a log, or of a part of it."""

    counts: Mapping[Place, int]
    nbytes: Mapping[Place, int]
    launches: Mapping[str, int]
    """operator -> how often"""
    unchecked: Mapping[str, int]
    seconds: float
    steps: Sequence[Step]
    step_total: int
    memory: tuple[int, ...]
    sites: Mapping[str, Site]

    @classmethod
    def of(cls, log: Recorder, since: Report | None = None) -> Report:
        """What the log holds, less what it held when `since` was made."""
        launches: dict[str, int] = {}
        for operator, count in log.launches.items():
            name = operator._schema.name.rpartition("::")[2]
            launches[name] = launches.get(name, 0) + count
        steps = log.steps
        now = log.now()
        if since is None:
            counts, nbytes, unchecked = dict(log.counts), dict(log.nbytes), dict(log.unchecked)
            return cls(counts, nbytes, launches, unchecked, now, steps, steps.total, log.memory(), log.sites.by_name)
        new = steps.total - since.step_total
        return cls(
            _less(log.counts, since.counts),
            _less(log.nbytes, since.nbytes),
            _less(launches, since.launches),
            _less(log.unchecked, since.unchecked),
            now - since.seconds,
            steps[len(steps) - min(new, len(steps)) :],
            new,
            log.memory(),
            log.sites.by_name,
        )

    # -- as a table --------------------------------------------------------------------------------------------------

    def rows(self, kind: str) -> list[tuple[str, ...]]:
        """The lines of one table, `copy` or `sync`, the most frequent first."""
        found = sorted((p for p in self.counts if p.kind == kind), key=lambda p: (-self.counts[p], p.what, p.where))
        if kind == "copy":
            return [
                (
                    place.what,
                    place.where,
                    f"{self.counts[place]:,}",
                    size(self.nbytes.get(place, 0)),
                    "yes" if place.waits else "no",
                    self.code(place),
                )
                for place in found
            ]
        return [(place.what, place.where, f"{self.counts[place]:,}", self.code(place)) for place in found]

    def code(self, place: Place) -> str:
        """The text of the line, cut to a length that fits."""
        site = self.sites.get(place.where)
        text = site.code if site else ""
        return text if len(text) <= 60 else f"{text[:57]}..."

    def tables(self) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        """Title, heads and rows of each table that has rows."""
        copies = self.rows("copy")
        if copies:
            yield "Copies", ("from, to", "where", "times", "bytes", "host waits", "line"), copies
        syncs = self.rows("sync")
        if syncs:
            yield "The host waits for the device", ("for", "where", "times", "line"), syncs

    def sentences(self) -> list[str]:
        """Kernels, steps and memory."""
        total = sum(self.launches.values())
        if not total:
            found = ["Kernels: none."]
        else:
            most = sorted(self.launches.items(), key=lambda pair: -pair[1])
            named = ", ".join(f"{name} {count:,}" for name, count in most[:5])
            run = f"{total:,} operator was" if total == 1 else f"{total:,} operators were"
            found = [f"Kernels: {run} run by a device: {named}{', ...' if len(most) > 5 else ''}."]
        if self.step_total:
            found.append(self._by_step())
        if self.memory:
            names = [f"cuda:{i} " if len(self.memory) > 1 else "" for i in range(len(self.memory))]
            now = ", ".join(f"{name}{size(used)}" for name, used in zip(names, self.memory, strict=True))
            found.append(f"Memory in use now: {now}.")
        if self.unchecked:
            named = ", ".join(sorted(self.unchecked))
            found.append(f"On several devices, and no rule is known, so they were let through: {named}.")
        return found

    def _by_step(self) -> str:
        name = max({s.name for s in self.steps}, key=lambda n: sum(s.name == n for s in self.steps))
        steps = [s for s in self.steps if s.name == name]
        last = steps[-1]
        copies = sum(last.copies.values())
        peak = max((max(s.peak, default=0) for s in steps), default=0)
        text = (
            f"Steps: {last.number + 1:,} named {name!r}; the last has {count(copies, 'copy', 'copies')}, "
            f"{count(last.waits, 'wait')}, {count(last.launches, 'kernel')}"
        )
        return f"{text}; peak memory within a step {size(peak)}." if last.peak else f"{text}."

    # -- advice ------------------------------------------------------------------------------------------------------

    def advice(self) -> list[str]:
        """What to change, each with its lines; nothing where nothing is worth it."""
        alike: dict[Advice, dict[str, int]] = {}
        for place, times in sorted(self.counts.items(), key=lambda pair: -pair[1]):
            about = (
                _about_sync(place) if place.kind == "sync" else _about_copy(place, self.nbytes.get(place, 0) / times)
            )
            if about is not None and times >= OFTEN:
                lines = alike.setdefault(about, {})
                lines[place.where] = lines.get(place.where, 0) + times
        found = []
        for about, lines in alike.items():
            where = _listed(sorted(lines))
            found.append(f"{about.what} at {where} {about.does} {sum(lines.values()):,} times. {about.instead}")
        growth = memory_growth(self.steps)
        if growth:
            found.append(
                f"Memory in use grows by {size(growth)} in each step. Something keeps the graphs of earlier steps: a "
                "sum of losses, for example, where one of `loss.detach()` would do."
            )
        return found

    # -- as a whole --------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        parts = [f"{self.heading()}"]
        for title, heads, rows in self.tables():
            parts.append(f"{title}\n{aligned(heads, rows)}")
        parts.append("\n".join(self.sentences()))
        advice = self.advice()
        if advice:
            parts.append("Advice\n" + "\n".join(f"- {one}" for one in advice))
        return "\n\n".join(parts)

    def heading(self) -> str:
        """Copies, bytes and waits in one line."""
        copies = sum(n for p, n in self.counts.items() if p.kind == "copy")
        waits = sum(n for p, n in self.counts.items() if p.waits and not _counted_as_sync(p))
        moved = size(sum(self.nbytes.values()))
        if not copies and not waits:
            return f"In {self.seconds:.2f} s nothing was copied, and the host never waited for a device."
        of = f" of {moved} in all" if copies else ""
        waited = f"waited for a device {count(waits, 'time')}" if waits else "never waited for a device"
        return f"In {self.seconds:.2f} s: {count(copies, 'copy', 'copies')}{of}; the host {waited}."

    def html(self) -> str:
        """The same for a notebook: tables, no scripts."""
        parts = [f"<p><strong>{html.escape(self.heading())}</strong></p>"]
        for title, heads, rows in self.tables():
            body = "".join(f"<tr>{''.join(_cell(h, v) for h, v in zip(heads, row, strict=True))}</tr>" for row in rows)
            top = "".join(f'<th scope="col" style="text-align: left">{h}</th>' for h in heads)
            caption = f'<caption style="text-align: left; font-weight: bold">{title}</caption>'
            parts.append(f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")
        parts += [f"<p>{html.escape(one)}</p>" for one in self.sentences()]
        advice = self.advice()
        if advice:
            parts.append(f"<p><strong>Advice</strong></p><ul>{''.join(f'<li>{_marked(a)}</li>' for a in advice)}</ul>")
        return "".join(parts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html()


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 copy`, `2 copies`, `no waits`."""
    word = one if number == 1 else many or f"{one}s"
    return f"{number:,} {word}" if number else f"no {word}"


def memory_growth(steps: Sequence[Step]) -> int:
    """Bytes by which memory grows in each step, if it grows in every one; else 0. The first two may set things up."""
    found: dict[str, list[Step]] = {}
    for step in steps:
        found.setdefault(step.name, []).append(step)
    for same in found.values():
        settled = same[2:]
        used = [sum(s.memory) for s in settled]
        if len(used) >= 4 and all(b > a for a, b in itertools.pairwise(used)):
            return (used[-1] - used[0]) // max(settled[-1].number - settled[0].number, 1)
    return 0


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in columns; numbers to the right."""
    widths = [max(len(r[i]) for r in (heads, *rows)) for i in range(len(heads))]
    lines = []
    for row in (heads, *rows):
        cells = [
            text.rjust(width) if head in ("times", "bytes") else text.ljust(width)
            for head, text, width in zip(heads, row, widths, strict=True)
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


class Advice(NamedTuple):
    """A sentence in parts: `what` at the lines `does` so many times. `instead`."""

    what: str
    does: str
    instead: str


def _about_sync(place: Place) -> Advice | None:
    what = READS.get(place.what, f"`{place.what}`")
    waits = "makes the host wait"
    if place.what == "synchronize":
        return Advice(what, waits, "Timing needs that, training does not.")
    if place.what in _SHAPES:
        return Advice(what, waits, "The result's shape must be known first; `torch.where` or a product needs no wait.")
    if place.what in _VALUES:
        return Advice(what, waits, "Collect such values on the device and read them once.")
    return Advice(what, waits, "If the answer can stay on the device, nobody has to wait for it.")


def _about_copy(place: Place, each: float) -> Advice | None:
    if not place.waits or not place.what.startswith("cpu "):
        return None
    if place.non_blocking:
        return Advice(
            "The copy to the device",
            "holds the host up in spite of `non_blocking=True`,",
            "The host's memory is not pinned, so it is copied into a pinned buffer first: give the DataLoader "
            "`pin_memory=True`.",
        )
    if each <= SMALL:
        return Advice(
            "The copy of a few numbers to the device",
            "makes the host wait",
            "Make them on the device (`device=...`), or copy them once before the loop.",
        )
    return Advice(
        "The copy to the device",
        "makes the host wait",
        "With `pin_memory=True` in the DataLoader and `non_blocking=True` in the copy it goes on meanwhile; and what "
        "stays the same is better copied once, before the loop.",
    )


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more lines"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _counted_as_sync(place: Place) -> bool:
    """A copy to the host has a record of its own among the waits."""
    return place.kind == "copy" and not place.what.startswith("cpu ")


def _less(now: Mapping[Key, int], before: Mapping[Key, int]) -> dict[Key, int]:
    return {key: n - before.get(key, 0) for key, n in now.items() if n > before.get(key, 0)}


def _cell(head: str, value: str) -> str:
    align = "right" if head in ("times", "bytes") else "left"
    text = html.escape(value)
    return f'<td style="text-align: {align}">{f"<code>{text}</code>" if head == "line" and text else text}</td>'


def _marked(text: str) -> str:
    """Text in backquotes is code."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))
