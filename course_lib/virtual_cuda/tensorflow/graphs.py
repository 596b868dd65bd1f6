"""Graphs, of `tf.function` and of `tf.compat.v1`: nodes carry the runtime's names, and Python reads the program's."""

from __future__ import annotations

from typing import Any

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session
from tensorflow.python.eager import context
from tensorflow.python.framework import device as device_lib
from tensorflow.python.framework import dtypes, importer, ops
from tensorflow.python.ops import resource_variable_ops

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.tensorflow import sites
from course_lib.virtual_cuda.tensorflow.kernels import has_gpu_kernel
from course_lib.virtual_cuda.tensorflow.log import VariableRecord
from course_lib.virtual_cuda.tensorflow.names import short
from course_lib.virtual_cuda.tensorflow.state import State

_set_device = ops.Operation._set_device_from_string
_device = ops.Operation.device.fget
_node_def = ops.Operation.node_def.fget
_graph_device = ops.Graph.device
_apply = ops.Graph._apply_device_functions
_as_graph_def = ops.Graph._as_graph_def
_process = importer._ProcessGraphDefParam
_session = session.BaseSession.__init__
_list_devices = session.BaseSession.list_devices
_variable = resource_variable_ops.BaseResourceVariable.__init__


def install(state: State, patches: Patches) -> None:
    """Replace what the program and TensorFlow's own Python see of devices in graphs."""

    def apply(graph: Any, op: Any) -> None:
        _apply(graph, op)
        # `tf.distribute` asks for the current device with an operation that is none.
        if isinstance(op, ops.Operation):
            state.log.put(op.type, short(op.device))

    def variable(self: Any, *arguments: Any, **settings: Any) -> None:
        _variable(self, *arguments, **settings)
        # What `assign` returns is the same variable again.
        if isinstance(self, resource_variable_ops._UnreadVariable):
            return
        shape = self.shape
        known = tuple(shape.as_list()) if shape.rank is not None else None
        where = short(self.device or "")
        state.log.variables.append(
            VariableRecord(self.name, known, self.dtype.base_dtype.name, where, sites.program_site())
        )
        if where.startswith("GPU") and state.physical and shape.is_fully_defined() and context.executing_eagerly():
            state.memory.hold(self, where, shape.num_elements() * self.dtype.size)

    patches.set(ops.Graph, "_apply_device_functions", apply)
    patches.set(ops.Graph, "device", lambda graph, name: NotedScope(state, graph, name))
    patches.set(resource_variable_ops.BaseResourceVariable, "__init__", variable)
    if state.physical:
        _install_names(state, patches)


def _install_names(state: State, patches: Patches) -> None:
    def set_device(op: Any, name: str) -> None:
        name = device_lib.canonical_name(name)
        # A node that no GPU can run keeps the name the runtime does not know: soft placement, or TensorFlow's error.
        unable = "GPU" in name and not has_gpu_kernel(op.type, _types(op))
        _set_device(op, name if unable else state.names.runtime(name))

    def process(made: Any) -> Any:
        return _renamed(_process(made), lambda name: state.names.runtime(device_lib.canonical_name(name)))

    def as_graph_def(graph: Any, *arguments: Any, **settings: Any) -> Any:
        made, version = _as_graph_def(graph, *arguments, **settings)
        return _renamed(made, state.names.program), version

    def start(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        _session(self, target, graph, _session_config(state, config))

    def list_devices(self: Any) -> list[Any]:
        return [_session_device(state, device) for device in _list_devices(self)]

    patches.set(ops.Operation, "_set_device_from_string", set_device)
    patches.set(ops.Operation, "device", property(lambda op: state.names.program(_device(op))))
    patches.set(ops.SymbolicTensor, "device", property(lambda tensor: tensor.op.device))
    patches.set(ops.Operation, "node_def", property(lambda op: _renamed_node(_node_def(op), state.names.program)))
    patches.set(ops.Graph, "_as_graph_def", as_graph_def)
    patches.set(importer, "_ProcessGraphDefParam", process)
    patches.set(session.BaseSession, "__init__", start)
    patches.set(session.BaseSession, "list_devices", list_devices)


class NotedScope:
    """`Graph.device`, which notes the program's own entries in a graph of `tf.compat.v1`."""

    def __init__(self, state: State, graph: Any, name: Any) -> None:
        self._log = state.log
        self._name = name
        self._scope = _graph_device(graph, name)
        self._noted = False

    def __enter__(self) -> Any:
        entered = self._scope.__enter__()
        # Inside a `tf.function` the eager scope, entered at the same time, notes it.
        site = "" if ops.executing_eagerly_outside_functions() else sites.device_site()
        if site:
            asked = "a function" if callable(self._name) else short(device_lib.canonical_name(self._name))
            self._log.enter(asked, site)
            self._noted = True
        return entered

    def __exit__(self, *exception: Any) -> Any:
        if self._noted:
            self._log.leave()
        return self._scope.__exit__(*exception)


def _types(op: Any) -> tuple[tuple[str, int], ...]:
    found = ((attribute.name, op.get_attr(attribute.name)) for attribute in op.op_def.attr if attribute.type == "type")
    return tuple((name, value.as_datatype_enum) for name, value in found if isinstance(value, dtypes.DType))


def _renamed_node(node: Any, rename: Any) -> Any:
    if node.device:
        node.device = rename(node.device)
    return node


def _renamed(made: Any, rename: Any) -> Any:
    for node in made.node:
        _renamed_node(node, rename)
    for function in made.library.function:
        for node in function.node_def:
            _renamed_node(node, rename)
    return made


def _session_config(state: State, config: Any) -> Any:
    """A session makes devices of its own, as many CPUs as its configuration says."""
    if config is not None and not isinstance(config, config_pb2.ConfigProto):
        return config
    ours = config_pb2.ConfigProto()
    ours.CopyFrom(context.context().config if config is None else config)
    # The program hides its GPUs so; the context's own configuration has none in any case.
    hidden = config is not None and ours.device_count.get("GPU", 1) == 0
    ours.device_count["CPU"] = state.names.cpus + (0 if hidden else state.names.gpus)
    return ours


def _session_device(state: State, device: Any) -> Any:
    name = state.names.program(device.name)
    kind = "GPU" if "GPU" in short(name) else device.device_type
    return session._DeviceAttributes(name, kind, device.memory_limit_bytes, device.incarnation)
