"""Draw what left its framework: a program of `torch.export`, or a model in ONNX.

Both are lists of nodes that name their inputs, as TensorFlow's `GraphDef` is. So they are put into that form and drawn
by `tensorflow_graph`, which makes graphs of different frameworks look alike. torch and onnx are not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib.plots.style import Canvas
from course_lib.plots.tensorflow_graph import tensorflow_graph


@dataclass(frozen=True)
class Proto:
    """One node, with the fields of TensorFlow's `NodeDef` that the drawing reads."""

    name: str
    op: str
    input: tuple[str, ...] = ()
    attr: Mapping[str, Any] = field(default_factory=dict)
    device: str = ""


@dataclass(frozen=True)
class Definition:
    """What the drawing reads of a `GraphDef`."""

    node: Sequence[Proto]


def exported_graph(program: Any) -> Canvas:
    """Draw a `torch.export.ExportedProgram`: parameters and inputs as boxes, ATen operations with their results' names.

    Raises ValueError if the program holds no operation.
    """
    return _drawn(exported_nodes(program), "Exported PyTorch program", "exported_graph")


def onnx_graph(model: Any) -> Canvas:
    """Draw the main graph of an `onnx.ModelProto`: inputs and weights as boxes, nodes with their type and name.

    The graphs inside a Loop or an If are not drawn. Raises ValueError if the model holds no node.
    """
    return _drawn(onnx_nodes(model), "ONNX graph", "onnx_graph")


def exported_nodes(program: Any) -> list[Proto]:
    """The nodes of an exported program, weights by the names that the module gave them."""
    signature = program.graph_signature
    weights = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    name_of = {}
    nodes = []
    for node in program.graph.nodes:
        if node.op == "output":
            continue
        value = node.meta.get("val")
        shape = [_size(size) for size in value.shape] if hasattr(value, "shape") else None
        name = name_of[node] = weights.get(node.name, node.name)
        if node.op == "placeholder":
            nodes.append(Proto(name, "Placeholder", attr=_shaped(shape)))
        elif node.op == "call_function":
            inputs = tuple(name_of[other] for other in node.all_input_nodes for _ in range(_uses(node, other)))
            nodes.append(Proto(name, _operation(node.target), inputs, _shaped(shape)))
        else:
            nodes.append(Proto(name, "Const"))
    return nodes


def onnx_nodes(model: Any) -> list[Proto]:
    """The nodes of an ONNX model's main graph."""
    graph = model.graph
    stored = {weight.name for weight in graph.initializer}
    nodes = [_stored(weight.name, weight) for weight in graph.initializer]
    for value in graph.input:
        if value.name not in stored:
            axes = value.type.tensor_type.shape.dim
            shape = [axis.dim_value if axis.HasField("dim_value") else -1 for axis in axes]
            nodes.append(Proto(value.name, "Placeholder", attr=_shaped(shape)))
    maker = {node.name: node.name for node in nodes}
    for number, node in enumerate(graph.node):
        name = node.name or f"{node.op_type}_{number}"
        maker |= dict.fromkeys(node.output, name)
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            nodes.append(_stored(name, node.attribute[0].t))
            continue
        nodes.append(Proto(name, node.op_type, tuple(maker[value] for value in node.input if value)))
    return nodes


def _drawn(nodes: list[Proto], kind: str, caller: str) -> Canvas:
    if all(node.op in ("Placeholder", "Const", "Variable") for node in nodes):
        raise ValueError(f"{caller}: there is no operation to draw")
    used = {name for node in nodes for name in node.input}
    kept = [node for node in nodes if node.input or node.name in used]
    figure = tensorflow_graph(Definition(kept), through=(), highlight="")
    figure.description = figure.description.replace("TensorFlow graph", kind, 1)
    return figure


def _shaped(sizes: Sequence[int] | None) -> dict[str, Any]:
    if sizes is None:
        return {}
    axes = [SimpleNamespace(size=size) for size in sizes]
    return {"shape": SimpleNamespace(shape=SimpleNamespace(unknown_rank=False, dim=axes))}


def _stored(name: str, tensor: Any) -> Proto:
    """A box for a stored tensor: its number if it is one float, else its shape."""
    if list(tensor.dims) not in ([], [1]) or tensor.data_type != 1:
        return Proto(name, "Variable", attr=_shaped(list(tensor.dims)))
    floats = list(tensor.float_data) or np.frombuffer(tensor.raw_data, "<f4").tolist()
    shape = SimpleNamespace(dim=[])
    value = SimpleNamespace(tensor_shape=shape, float_val=floats, double_val=[], int_val=[], int64_val=[])
    return Proto(name, "Const", attr={"value": SimpleNamespace(tensor=value)})


def _size(size: Any) -> int:
    """A size that the program leaves open is a symbol: -1."""
    return size if isinstance(size, int) else -1


def _uses(node: Any, other: Any) -> int:
    """How often `node` takes the result of `other` as an argument of its own."""
    return max(1, sum(argument is other for argument in node.args))


def _operation(target: Any) -> str:
    """`aten.linear.default` -> `linear`."""
    return str(getattr(target, "_opname", None) or getattr(target, "__name__", target))
