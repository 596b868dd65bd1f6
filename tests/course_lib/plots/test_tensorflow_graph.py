"""A TensorFlow graph is drawn with every node that counts, in its place, in the lane of its device, and in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from course_lib.plots import tensorflow_graph
from course_lib.plots.tensorflow_graph import tensorflow_nodes


def _node(name: str, op: str, inputs: Sequence[str] = (), device: str = "", **attr: Any) -> SimpleNamespace:
    """What a `NodeDef` looks like to who reads it."""
    return SimpleNamespace(name=name, op=op, input=list(inputs), device=device, attr=attr)


def _graph(*nodes: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(node=list(nodes))


def _sizes(*sizes: int) -> SimpleNamespace:
    return SimpleNamespace(dim=[SimpleNamespace(size=size) for size in sizes], unknown_rank=False)


def _const(name: str, value: Any, **fields: Any) -> SimpleNamespace:
    array = np.asarray(value, dtype=np.float32)
    empty: dict[str, Any] = {"float_val": [], "double_val": [], "int_val": [], "int64_val": [], "tensor_content": b""}
    tensor = SimpleNamespace(**empty | {"dtype": 1, "tensor_shape": _sizes(*array.shape)} | fields)
    return _node(name, "Const", value=SimpleNamespace(tensor=tensor))


def _text(value: str) -> SimpleNamespace:
    return SimpleNamespace(s=value.encode())


DIAMOND = _graph(
    _node("x", "Placeholder", shape=SimpleNamespace(shape=_sizes(-1, 3))),
    _const("two", 2.0, float_val=[2.0]),
    _node("double", "Mul", ["x", "two:0"]),
    _node("square", "Square", ["double"]),
    _node("both", "AddV2", ["double", "square"]),
    _node("aside", "Exp", ["x"]),
)


def test_each_node_is_said_in_words_with_what_it_takes() -> None:
    figure = tensorflow_graph(DIAMOND)
    assert figure.description == (
        "TensorFlow graph of 6 nodes, from left to right. x is Placeholder (?, 3); two is Const 2; "
        "double is Mul of x and two; square is Square of double; both is AddV2 of double and square; aside is Exp of x."
    )
    assert len(figure.png()) > 5000


def test_only_what_the_ends_need_is_drawn() -> None:
    assert list(tensorflow_nodes(DIAMOND, ends=["square"])) == ["x", "two", "double", "square"]
    tensor = SimpleNamespace(op=SimpleNamespace(name="aside"), name="aside:0")
    assert list(tensorflow_nodes(DIAMOND, ends=[tensor])) == ["x", "aside"]
    with pytest.raises(ValueError, match="'nobody' is no node"):
        tensorflow_nodes(DIAMOND, ends=["nobody"])
    with pytest.raises(ValueError, match="no node to draw"):
        tensorflow_graph(_graph())


@pytest.mark.parametrize(("fields", "content"), [
    ({"float_val": [0.5]}, "0.5"), ({"tensor_content": np.float32(7).tobytes()}, "7"),
    ({"dtype": 9, "tensor_content": np.int64(-3).tobytes()}, "-3"), ({"dtype": 7}, "()"),  # the last is a string
    ({"tensor_shape": _sizes(2, 3)}, "(2, 3)"), ({"tensor_shape": _sizes(4)}, "(4,)"),
])  # fmt: skip
def test_a_constant_shows_its_one_number_or_its_shape(fields: dict[str, Any], content: str) -> None:
    assert tensorflow_nodes(_graph(_const("c", 0.0, **fields)))["c"].content == content


def test_arrows_pass_through_operations_that_only_hand_on() -> None:
    graph = _graph(
        _node("w", "VarHandleOp"), _node("init", "NoOp", ["^w"]), _node("read", "ReadVariableOp", ["w", "^init"]),
        _node("same", "Identity", ["read"]), _node("y", "Neg", ["same"]),
        _node("late", "Neg", ["y", "^init", "^same"]),
    )  # fmt: skip
    nodes = tensorflow_nodes(graph)
    assert {name: (node.inputs, node.after) for name, node in nodes.items()} == {
        "w": ((), ()), "y": (("w",), ()), "late": (("y",), ("w",))
    }  # fmt: skip
    assert list(nodes) == ["w", "y", "late"]
    assert "late is Neg of y after w" in tensorflow_graph(graph).description
    assert "same" in tensorflow_nodes(graph, through=())


def test_what_is_sent_is_received_and_every_device_has_a_lane() -> None:
    zero, two = ("/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:2")
    ends = {"tensor_name": _text("edge_1"), "send_device": _text(zero), "recv_device": _text(two)}
    here = _graph(_node("x", "_Arg", device=zero), _node("x/out", "_Send", ["x"], zero, **ends))
    there = _graph(_node("x/in", "_Recv", [], two, **ends), _node("y", "Exp", ["x/in"], two))
    figure = tensorflow_graph(here, there)
    assert figure.description == (
        "TensorFlow graph of 4 nodes in 2 lanes, one for each device, from left to right. "
        "On CPU:0: x is _Arg; _Send of x to GPU:2. On GPU:2: _Recv of x/out from CPU:0; y is Exp of x/in."
    )
    written = [text.get_text() for text in figure.axes[0].texts]
    assert {"CPU:0", "GPU:2", "to GPU:2", "from CPU:0"} <= set(written)
    variable = _node("w", "VarHandleOp", device="/job:ps/task:1")
    graph = _graph(variable, _node("y", "Neg", ["w"], "/job:worker"), _node("z", "Neg", ["y"]))
    description = tensorflow_graph(graph).description
    assert "On ps task 1: w" in description and "On worker: y" in description and "Not placed: z" in description


def test_nodes_do_not_cover_each_other_and_every_use_has_an_arrow() -> None:
    axes = tensorflow_graph(DIAMOND).axes[0]
    boxes = [patch.get_bbox() for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches) == 6
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_a_long_name_shows_its_end_and_a_tensor_used_twice_says_so() -> None:
    graph = _graph(_node("x", "Placeholder"), _node("scope/of/some/length/product", "Mul", ["x", "x"]))
    written = [text.get_text() for text in tensorflow_graph(graph).axes[0].texts]
    assert "twice" in written and any(word.startswith("…") and word.endswith("/product") for word in written)


def test_the_word_twice_stands_free_between_the_nodes_and_off_the_arrow() -> None:
    level = _graph(_node("x", "Placeholder"), _node("a", "Neg", ["x"]), _node("b", "Mul", ["a", "a"]))
    falling = _graph(*level.node, _node("c", "Exp", ["x"]), _node("d", "AddV2", ["b", "c"]))
    rising = _graph(level.node[0], _node("c", "Exp", ["x"]), *level.node[1:], _node("d", "AddV2", ["c", "b"]))
    for graph in (level, falling, rising):
        figure = tensorflow_graph(graph)
        figure.canvas.draw()
        axes = figure.axes[0]
        [word] = [text.get_window_extent() for text in axes.texts if text.get_text() == "twice"]
        for patch in axes.patches:
            if isinstance(patch, FancyBboxPatch):
                assert not patch.get_window_extent().overlaps(word)
            elif isinstance(patch, FancyArrowPatch):
                lines = patch.get_path().to_polygons(axes.transData, closed_only=False)
                assert not any(Path(line).intersects_bbox(word, filled=False) for line in lines)


def test_nodes_that_wait_for_each_other_are_refused_but_a_loop_is_drawn() -> None:
    with pytest.raises(ValueError, match="in a circle"):
        tensorflow_graph(_graph(_node("a", "Neg", ["b"]), _node("b", "Neg", ["a"])))
    begin, again = _node("start", "Enter"), _node("next", "NextIteration", ["merge"])
    loop = _graph(begin, _node("merge", "Merge", ["start", "next"]), again)
    assert "merge is Merge of start and next" in tensorflow_graph(loop).description
