"""Draw a graph that a tracer recorded: a list of nodes, each with an operation, the indices of its inputs and a value.

The list is put into the form of TensorFlow's `GraphDef` and drawn like the graphs of the frameworks.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib.plots.exported import Definition, Proto
from course_lib.plots.style import Canvas
from course_lib.plots.tensorflow_graph import tensorflow_graph


def traced_graph(graph: Sequence[Any]) -> Canvas:
    """Draw the nodes of `graph`, each with `op`, `inputs` (indices of earlier nodes) and `value`; all show their index.

    Constants show their number, or their shape; nodes that nobody uses are drawn, too. Raises ValueError if there is
    no operation.
    """
    if not any(node.inputs for node in graph):
        raise ValueError("traced_graph: there is no operation to draw")
    names = [f"{node.op if node.op in ('input', 'constant') else 'node'} {index}" for index, node in enumerate(graph)]
    nodes = [_proto(index, node, names) for index, node in enumerate(graph)]
    figure = tensorflow_graph(Definition(nodes), through=(), highlight="")
    figure.description = figure.description.replace("TensorFlow graph", "Traced graph", 1)
    return figure


def _proto(index: int, node: Any, names: Sequence[str]) -> Proto:
    name = names[index]
    if node.op == "constant":
        value = np.asarray(node.value, dtype=float)
        if value.size == 1:
            numbers = {"float_val": [value.item()], "double_val": [], "int_val": [], "int64_val": []}
            tensor = SimpleNamespace(tensor_shape=SimpleNamespace(dim=[]), **numbers)
            return Proto(name, "Const", attr={"value": SimpleNamespace(tensor=tensor)})
        axes = [SimpleNamespace(size=size) for size in value.shape]
        shape = SimpleNamespace(unknown_rank=False, dim=axes)
        return Proto(name, "Variable", attr={"shape": SimpleNamespace(shape=shape)})
    op = "Placeholder" if node.op == "input" else node.op
    return Proto(name, op, tuple(names[i] for i in node.inputs))
