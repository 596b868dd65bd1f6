"""What is drawn of an exported program and of an ONNX model is what they hold."""

from __future__ import annotations

from typing import Any

import pytest

from course_lib import plots
from course_lib.plots.exported import exported_nodes, onnx_nodes
from tests.when_used import when_used

torch = when_used("torch")
onnx = when_used("onnx")
pytestmark = pytest.mark.slow


def _model(nodes: list[Any], weights: list[Any], sizes: list[Any]) -> Any:
    value = onnx.helper.make_tensor_value_info
    x, y = value("x", onnx.TensorProto.FLOAT, sizes), value("y", onnx.TensorProto.FLOAT, None)
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "small", [x], [y], weights))


def test_an_exported_program_has_its_weights_names_and_open_sizes() -> None:
    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            y = self.inner(x)
            return y * y

    shapes = {"x": {0: torch.export.Dim("rows")}}
    program = torch.export.export(Small().eval(), (torch.ones(4, 3),), dynamic_shapes=shapes)
    nodes = {node.name: node for node in exported_nodes(program)}
    assert {"inner.weight", "inner.bias", "x"} <= nodes.keys()
    assert nodes["linear"].op == "linear" and nodes["linear"].input == ("x", "inner.weight", "inner.bias")
    assert nodes["mul"].input == ("linear", "linear")
    assert [axis.size for axis in nodes["x"].attr["shape"].shape.dim] == [-1, 3]
    said = plots.exported_graph(program).description
    assert said.startswith("Exported PyTorch program of 5 nodes")
    for part in ("inner.weight is Placeholder (2, 3)", "x is Placeholder (?, 3)", "mul is mul of linear and linear"):
        assert part in said


def test_an_onnx_model_shows_numbers_shapes_and_nodes() -> None:
    tensor, node = onnx.helper.make_tensor, onnx.helper.make_node
    two = tensor("two", onnx.TensorProto.FLOAT, [], [2.0])
    kernel = tensor("kernel", onnx.TensorProto.FLOAT, [3, 1], [1.0, 2.0, 3.0])
    three = tensor("value", onnx.TensorProto.FLOAT, [1], [3.0]).SerializeToString()
    packed = onnx.TensorProto.FromString(three)
    nodes = [
        node("Constant", [], ["three"], name="three", value=packed),
        node("MatMul", ["x", "kernel"], ["product"], name="product_of"),
        node("Mul", ["product", "two"], ["doubled"]),
        node("Add", ["doubled", "three"], ["y"], name="sum"),
    ]
    model = _model(nodes, [two, kernel], ["rows", 3])
    drawn = ["Const", "Variable", "Placeholder", "Const", "MatMul", "Mul", "Add"]
    assert [proto.op for proto in onnx_nodes(model)] == drawn
    said = plots.onnx_graph(model).description
    assert said.startswith("ONNX graph of 7 nodes")
    for part in ("two is Const 2", "kernel is Variable (3, 1)", "x is Placeholder (?, 3)", "three is Const 3"):
        assert part in said
    assert "product_of is MatMul of x and kernel" in said and "sum is Add of Mul_2 and three" in said


def test_raw_numbers_are_read_too_what_nobody_uses_is_not_drawn_and_without_operations_there_is_nothing() -> None:
    raw = onnx.TensorProto(name="half", data_type=onnx.TensorProto.FLOAT, raw_data=b"\x00\x00\x00\x3f")
    unused = onnx.helper.make_tensor("unused", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    half = onnx.helper.make_node("Mul", ["x", "half"], ["y"])
    said = plots.onnx_graph(_model([half], [raw, unused], [2])).description
    assert "half is Const 0.5" in said and "unused" not in said
    with pytest.raises(ValueError, match="onnx_graph: there is no operation to draw"):
        plots.onnx_graph(_model([], [], [2]))
