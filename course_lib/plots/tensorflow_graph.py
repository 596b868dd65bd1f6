"""Draw a TensorFlow graph as it is stored: every node with its operation and its name, in a lane for each device.

Everything is read from the `GraphDef`, the list of nodes that TensorFlow itself runs, optimizes and ships, so a graph
that was never run can be drawn as well as what the runtime made of it. TensorFlow itself is not imported.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from course_lib.plots.style import BLUE, FAINT, GRAY, GREEN, INK, VERMILLION, Canvas, sheet, styled

DATA = ("Placeholder", "PlaceholderWithDefault", "Const", "VarHandleOp", "Variable", "VariableV2", "_Arg", "Arg")
"""operations that bring a value in: drawn as boxes with their content, like the inputs of every graph of the course"""
THROUGH = ("ReadVariableOp", "Identity", "_Retval", "NoOp", "VarIsInitializedOp")
"""operations that hand a value on, or wait for others: by default not drawn; arrows pass through them"""

CROSSING = ("_Send", "_Recv", "_HostSend", "_HostRecv")
"""operations that the runtime puts in where a tensor goes from one device to another"""

ROW, GAP, LETTER, HEIGHT = 0.7, 0.36, 0.078, 0.44
"""distance of rows, space between columns, width of a letter, height of a node; in inches"""
LONGEST = 18
"""letters of a name; of a longer one the end is shown"""


@dataclass(frozen=True)
class Node:
    """One node of a `GraphDef`."""

    name: str
    op: str
    inputs: tuple[str, ...]
    """names of the nodes whose results it takes, in the order of its arguments; one that is used twice stands twice"""
    after: tuple[str, ...]
    """names of the nodes that it only waits for: control inputs"""
    device: str
    """`CPU:2`, `ps task 0`; empty if nobody has placed it"""
    content: str
    """of data the one number, or the shape; of `_Send` and `_Recv` where to and where from"""


@dataclass
class Spot:
    """A place in the drawing: of a node, or of a long arrow on its way past a column."""

    lane: int
    column: int
    row: float = 0.0
    before: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


@styled
def tensorflow_graph(
    *graphs: Any, ends: Iterable[Any] = (), through: Sequence[str] = THROUGH, highlight: str = "gradients"
) -> Canvas:
    """Draw `graphs` from left to right: a `tf.Graph`, a `GraphDef`, or one `GraphDef` for each device.

    ends: tensors, operations or names; if given, only what they need is drawn. through: operations that are replaced by
    arrows. highlight: nodes whose name begins so are green. Raises ValueError if nothing is left to draw.
    """
    nodes = tensorflow_nodes(*graphs, ends=ends, through=through)
    if not nodes:
        raise ValueError("tensorflow_graph: the graph holds no node to draw; build something in it first")
    lanes = _lanes(nodes)
    edges = [(start, node.name) for node in nodes.values() for start in dict.fromkeys(node.inputs + node.after)]
    spots, ways = _place(nodes, edges, lanes)
    widths = _widths(nodes, spots)
    lefts = np.cumsum([0.15, *(width + GAP for width in widths)])
    margin = 0.95 if len(lanes) > 1 else 0.0
    top = ROW / 2 + 0.06 if len(lanes) > 1 else HEIGHT / 2 + 0.12
    bottom = max(spot.row for spot in spots.values()) * ROW + top
    figure, axes = sheet(-margin, lefts[-1] - GAP + 0.15, -bottom, top)
    _draw_lanes(axes, lanes, spots)
    sides = {}
    for key, spot in spots.items():
        left, wide = lefts[spot.column], widths[spot.column]
        own = _width(nodes[key]) if key in nodes else wide
        sides[key] = (left + (wide - own) / 2, left + (wide + own) / 2, -spot.row * ROW)
    for name, node in nodes.items():
        _draw_node(axes, node, *sides[name], highlight)
    for (start, end), way in ways.items():
        crosses, waits = nodes[start].device != nodes[end].device, start not in nodes[end].inputs
        _draw_edge(axes, [sides[key] for key in way], dashed=crosses or waits, color=VERMILLION if crosses else GRAY)
        if nodes[end].inputs.count(start) > 1:
            left, _, y = sides[end]
            above = sides[way[-2]][2] <= y  # on the side that the arrow does not come from
            x, y, side = left - GAP / 2, y + (0.03 if above else -0.03), "bottom" if above else "top"
            axes.text(x, y, "twice", fontsize=7.5, color=GRAY, ha="center", va=side)
    figure.description = _describe(nodes, lanes)
    return figure


def tensorflow_nodes(*graphs: Any, ends: Iterable[Any] = (), through: Sequence[str] = THROUGH) -> dict[str, Node]:
    """Name -> node, in the order of the graph. What a `_Send` sends, its `_Recv` takes. Arguments as for drawing."""
    nodes: dict[str, Node] = {}
    senders: dict[str, str] = {}
    receivers: dict[str, str] = {}
    for graph in graphs:
        definition = graph.as_graph_def(add_shapes=True) if hasattr(graph, "as_graph_def") else graph
        for proto in definition.node:
            if proto.op in CROSSING:
                ends_at = senders if proto.op.endswith("Send") else receivers
                ends_at[proto.attr["tensor_name"].s.decode()] = proto.name
            nodes[proto.name] = _node(proto)
    for key, name in receivers.items():
        if key in senders:
            nodes[name] = _with_inputs(nodes[name], (senders[key],), nodes[name].after)
    if wanted := [getattr(end, "op", end) for end in ends]:
        nodes = _needed(nodes, [getattr(end, "name", end) for end in wanted])
    return _without(nodes, through)


def _node(proto: Any) -> Node:
    inputs = tuple(name.split(":")[0] for name in proto.input if not name.startswith("^"))
    after = tuple(name[1:] for name in proto.input if name.startswith("^"))
    return Node(proto.name, proto.op, inputs, after, _device(proto.device), _content(proto))


def _with_inputs(node: Node, inputs: tuple[str, ...], after: tuple[str, ...]) -> Node:
    return Node(node.name, node.op, inputs, after, node.device, node.content)


def _device(path: str) -> str:
    """`/job:localhost/replica:0/task:0/device:CPU:2` -> `CPU:2`; of another machine its job and task come first."""
    kind = re.search(r"device:(\w+:\d+)", path) or re.search(r"/([cg]pu:\d+)", path)
    job, task = re.search(r"job:(\w+)", path), re.search(r"task:(\d+)", path)
    place = [job[1], f"task {task[1]}" if task else ""] if job and job[1] != "localhost" else []
    return " ".join(filter(None, [*place, kind[1].upper() if kind else ""]))


def _content(proto: Any) -> str:
    """The value of a constant of one number; else the shape, as far as the graph knows it; else where to or from."""
    if proto.op in CROSSING:
        word, key = ("to", "recv_device") if proto.op.endswith("Send") else ("from", "send_device")
        return f"{word} {_device(proto.attr[key].s.decode())}"
    if proto.op == "Const":
        tensor = proto.attr["value"].tensor
        shape = [axis.size for axis in tensor.tensor_shape.dim]
        number = _number(tensor) if all(size == 1 for size in shape) else None
        return _shape(shape) if number is None else f"{number:.4g}"
    for key in ("shape", "_output_shapes"):
        if key in proto.attr:
            found = proto.attr[key].shape if key == "shape" else next(iter(proto.attr[key].list.shape), None)
            if found is not None and not found.unknown_rank:
                return _shape([axis.size for axis in found.dim])
    return ""


def _number(tensor: Any) -> float | None:
    for values in (tensor.float_val, tensor.double_val, tensor.int_val, tensor.int64_val):
        if len(values):
            return float(values[0])
    dtype = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}.get(tensor.dtype)  # the numbers of DataType in types.proto
    return float(np.frombuffer(tensor.tensor_content, dtype)[0]) if dtype and tensor.tensor_content else None


def _shape(sizes: Sequence[int]) -> str:
    """As Python writes a tuple; `?` for a size that is not known before the graph runs."""
    inside = ", ".join("?" if size < 0 else str(size) for size in sizes)
    return f"({inside},)" if len(sizes) == 1 else f"({inside})"


def _needed(nodes: Mapping[str, Node], wanted: list[str]) -> dict[str, Node]:
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in nodes:
            raise ValueError(f"tensorflow_graph: {name!r} is no node of this graph")
        if name not in found:
            found.add(name)
            wanted += [*nodes[name].inputs, *nodes[name].after]
    return {name: node for name, node in nodes.items() if name in found}


def _without(nodes: Mapping[str, Node], through: Sequence[str]) -> dict[str, Node]:
    """Leave out the operations `through`; whoever took their result takes what they took."""

    def sources(name: str) -> tuple[str, ...]:
        node = nodes[name]
        return tuple(s for i in node.inputs for s in sources(i)) if node.op in through else (name,)

    def waits(name: str) -> tuple[str, ...]:
        node = nodes[name]
        if node.op not in through:
            return (name,)
        return tuple(s for i in (*node.inputs, *node.after) for s in waits(i))

    kept = {}
    for name, node in nodes.items():
        if node.op in through:
            continue
        inputs = tuple(s for i in node.inputs for s in sources(i))
        after = {s: None for i in node.after for s in waits(i)}
        passed = [i for i in node.inputs if nodes[i].op in through]
        after |= {s: None for i in passed for a in nodes[i].after for s in waits(a)}
        kept[name] = _with_inputs(node, inputs, tuple(a for a in after if a not in inputs))
    return kept


def _lanes(nodes: Mapping[str, Node]) -> list[str]:
    """The devices, in order; one nameless lane if there are fewer than two."""
    devices = sorted({node.device for node in nodes.values()})
    return devices if len(devices) > 1 else [""]


def _place(
    nodes: Mapping[str, Node], edges: list[tuple[str, str]], lanes: list[str]
) -> tuple[dict[str, Spot], dict[tuple[str, str], list[str]]]:
    """A spot for every node, and for every edge the spots on its way."""
    column = _columns(nodes, edges)
    spots = {
        name: Spot(lanes.index(node.device) if len(lanes) > 1 else 0, column[name]) for name, node in nodes.items()
    }
    ways: dict[tuple[str, str], list[str]] = {}
    for start, end in edges:
        way = [start]
        for passed in range(column[start] + 1, column[end]):
            key = f"{start} > {end} @ {passed}"
            spots[key] = Spot(spots[start].lane, passed)
            way.append(key)
        way.append(end)
        ways[start, end] = way
        for one, other in itertools.pairwise(way):
            spots[one].behind.append(other)
            spots[other].before.append(one)
    _rows(spots, len(lanes))
    return spots, ways


def _columns(nodes: Mapping[str, Node], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Operations after all they need; what needs nothing stands just before its first use. Loops run one way only."""
    needs: dict[str, list[str]] = defaultdict(list)
    uses: dict[str, list[str]] = defaultdict(list)
    for start, end in edges:
        if nodes[start].op != "NextIteration":
            needs[end].append(start)
            uses[start].append(end)
    column: dict[str, int] = {}
    waiting = list(nodes)
    while waiting:
        later = []
        for name in waiting:
            if all(need in column for need in needs[name]):
                column[name] = 1 + max((column[need] for need in needs[name]), default=-1)
            else:
                later.append(name)
        if len(later) == len(waiting):
            raise ValueError("tensorflow_graph: the nodes wait for each other in a circle")
        waiting = later
    for name in nodes:
        if not needs[name] and uses[name]:
            column[name] = min(column[use] for use in uses[name]) - 1
    first = min(column.values())
    return {name: number - first for name, number in column.items()}


def _rows(spots: dict[str, Spot], lanes: int) -> None:
    """Rows near those of the neighbors, in turn from the left and from the right; lanes one below the other."""
    members: dict[tuple[int, int], list[str]] = defaultdict(list)
    for key, spot in spots.items():
        members[spot.lane, spot.column].append(key)
    for keys in members.values():
        for row, key in enumerate(keys):
            spots[key].row = float(row)
    columns = sorted({column for _, column in members})
    for sweep in range(24):
        forwards = sweep % 2 == 0
        for column in columns if forwards else columns[::-1]:
            for lane in range(lanes):
                _align_column(spots, members.get((lane, column), []), forwards, together=sweep >= 12)
    top = 0.0
    for lane in range(lanes):
        inside = {key: spot for key, spot in spots.items() if spot.lane == lane}
        _pack_lane(inside)
        for spot in inside.values():
            spot.row += top
        top = max(spot.row for spot in inside.values()) + 1.25


def _pack_lane(spots: dict[str, Spot]) -> None:
    """Move the unconnected parts of a lane up, as far as those further left allow, and let the lane begin at 0."""
    done: list[Spot] = []
    for part in sorted(_parts(spots), key=lambda part: min(spot.column for spot in part)):
        columns = {spot.column for spot in part}
        above = [spot.row + 1 for spot in done if spot.column in columns]
        shift = max(above, default=0.0) - min(spot.row for spot in part)
        for spot in part:
            spot.row += shift
        done += part


def _parts(spots: dict[str, Spot]) -> list[list[Spot]]:
    parts, left = [], dict(spots)
    while left:
        waiting, part = [next(iter(left))], []
        while waiting:
            spot = left.pop(waiting.pop(), None)
            if spot:
                part.append(spot)
                waiting += spot.before + spot.behind
        parts.append(part)
    return parts


def _align_column(spots: dict[str, Spot], keys: list[str], forwards: bool, together: bool) -> None:
    """Move the spots of one column to the mean of their neighbors, in that order, at least a row apart."""
    lane = {spots[key].lane for key in keys}

    def mean(key: str) -> float:
        sides = [spots[key].before, spots[key].behind] if forwards else [spots[key].behind, spots[key].before]
        chosen = [*sides[0], *sides[1]] if together else sides[0] or sides[1]
        rows = [spots[other].row for other in chosen if spots[other].lane in lane]
        return float(np.mean(rows)) if rows else spots[key].row

    wanted = {key: mean(key) for key in keys}
    order = sorted(keys, key=lambda key: (wanted[key], spots[key].row))
    groups: list[list[float]] = []
    for key in order:
        groups.append([wanted[key]])
        while len(groups) > 1 and _first(groups[-1]) < _first(groups[-2]) + len(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    rows = [_first(group) + index for group in groups for index in range(len(group))]
    for key, row in zip(order, rows, strict=True):
        spots[key].row = row


def _first(group: list[float]) -> float:
    return sum(group) / len(group) - (len(group) - 1) / 2


def _widths(nodes: Mapping[str, Node], spots: Mapping[str, Spot]) -> list[float]:
    """Of the columns: as wide as its widest node."""
    widths = [0.2] * (1 + max(spot.column for spot in spots.values()))
    for name, node in nodes.items():
        column = spots[name].column
        widths[column] = max(widths[column], _width(node))
    return widths


def _width(node: Node) -> float:
    first, second = _lines(node)
    return max(0.7, max(len(first), 0.82 * len(second)) * LETTER + 0.2)


def _lines(node: Node) -> tuple[str, str]:
    """What stands in a node: for data its name and content, for an operation its kind and name."""
    if node.op in CROSSING:
        return node.op, node.content
    if len(node.name) <= LONGEST:
        name = node.name
    else:
        _, _, within = node.name[-LONGEST + 1 :].partition("/")
        name = "…" + (within or node.name[-LONGEST + 1 :])
    return (name, node.content) if node.op in DATA else (node.op, name)


def _draw_node(axes: Axes, node: Node, left: float, right: float, y: float, highlight: str) -> None:
    """A box for data, a pill for an operation."""
    first, second = _lines(node)
    face, edge = ("#e3eff7", BLUE) if node.op in DATA else ("white", INK)
    if node.op in CROSSING:
        face, edge = "#fbe9dd", VERMILLION
    elif highlight and node.name.startswith(highlight):
        face, edge = "#e2f3ed", GREEN
    style = "square,pad=0" if node.op in DATA else f"round,pad=0,rounding_size={HEIGHT / 2}"
    box = FancyBboxPatch((left, y - HEIGHT / 2), right - left, HEIGHT, boxstyle=style, zorder=3)
    box.set(facecolor=face, edgecolor=edge, linewidth=1.3)
    axes.add_patch(box)
    middle, shift = (left + right) / 2, 0.085 if second else 0.0
    axes.text(middle, y + shift, first, ha="center", va="center", fontsize=9, fontweight="bold", zorder=4)
    axes.text(middle, y - 0.1, second, ha="center", va="center", fontsize=8, color="#555555", zorder=4)


def _draw_edge(axes: Axes, stations: list[tuple[float, float, float]], *, dashed: bool, color: str) -> None:
    """A smooth arrow from the right side of the first to the left side of the last; flat past the columns between.

    stations: left, right and height of each.
    """
    stops = [point for left, right, y in stations for point in ((left, y), (right, y))][1:-1]
    vertices, codes = [stops[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in itertools.pairwise(stops):
        bend = (x1 - x0) / 2
        vertices += [(x0 + bend, y0), (x1 - bend, y1), (x1, y1)]
        codes += [Path.CURVE4] * 3
    arrow = FancyArrowPatch(path=Path(vertices, codes), arrowstyle="-|>", mutation_scale=9, zorder=2)
    arrow.set(color=color, linewidth=1.2, linestyle=(0, (3, 2)) if dashed else "-")
    axes.add_patch(arrow)


def _draw_lanes(axes: Axes, lanes: list[str], spots: Mapping[str, Spot]) -> None:
    if len(lanes) == 1:
        return
    left, right = axes.get_xlim()
    for index, lane in enumerate(lanes):
        rows = [spot.row for spot in spots.values() if spot.lane == index]
        top, bottom = (-min(rows) + 0.5) * ROW, (-max(rows) - 0.5) * ROW
        band = Rectangle((left + 0.06, bottom), right - left - 0.12, top - bottom, zorder=0)
        band.set(facecolor="#f7f7f7", edgecolor=FAINT)
        axes.add_patch(band)
        axes.text(left + 0.16, top - 0.17, lane or "not placed", fontsize=9.5, fontweight="bold", va="center", zorder=5)


def _describe(nodes: Mapping[str, Node], lanes: list[str]) -> str:
    """The graph in words: one clause for each node, device by device."""
    parts = []
    for lane in lanes:
        clauses = [_clause(node) for node in nodes.values() if len(lanes) == 1 or node.device == lane]
        where = f"On {lane}: " if lane else "Not placed: " if len(lanes) > 1 else ""
        parts.append(where + "; ".join(clauses) + ".")
    noun = "node" if len(nodes) == 1 else "nodes"
    devices = f" in {len(lanes)} lanes, one for each device" if len(lanes) > 1 else ""
    return f"TensorFlow graph of {len(nodes)} {noun}{devices}, from left to right. {' '.join(parts)}"


def _clause(node: Node) -> str:
    if node.op in DATA:
        return f"{node.name} is {node.op} {node.content}".strip()
    if node.op in CROSSING:
        return f"{node.op} of {' and '.join(node.inputs)} {node.content}"
    of = f" of {' and '.join(node.inputs)}" if node.inputs else ""
    after = f" after {' and '.join(node.after)}" if node.after else ""
    return f"{node.name} is {node.op}{of}{after}"
