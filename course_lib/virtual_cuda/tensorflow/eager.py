"""Eager execution: where each operation goes, and what its results say of it.

The program's `tf.device` scopes are kept in the runtime's words. An operation outside any scope goes where TensorFlow
would send it on a host with a GPU: to GPU:0 if it has a GPU kernel, else to the host.
"""

from __future__ import annotations

import sys
from typing import Any

from tensorflow.python import pywrap_tfe
from tensorflow.python.distribute import device_util
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, errors_impl, ops
from tensorflow.python.framework import device as device_lib

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.tensorflow import sites
from course_lib.virtual_cuda.tensorflow.kernels import has_gpu_kernel, known_types, number_of_inputs
from course_lib.virtual_cuda.tensorflow.memory import SHARING
from course_lib.virtual_cuda.tensorflow.names import LOCAL, short
from course_lib.virtual_cuda.tensorflow.state import State

HOST = f"{LOCAL}/device:CPU:0"
_EagerScope = context._EagerDeviceContext
_runtime_device = ops.EagerTensor.__dict__["device"]
_runtime_backing_device = ops.EagerTensor.__dict__["backing_device"]


class DeviceScope:
    """What `tf.device` returns in eager mode: merges the device with the surrounding one, enters it, and notes it."""

    def __init__(self, state: State, ctx: Any, name: Any) -> None:
        self._state = state
        self._ctx = ctx
        self._name = name
        self._entered: list[tuple[Any, bool]] = []

    def __enter__(self) -> None:
        names = self._state.names
        runtime, asked = self._name, ""
        # Anything else than a string is left to TensorFlow to refuse.
        if isinstance(self._name, str):
            self._ctx.ensure_initialized()
            outer = names.program(self._ctx.device_name or HOST)
            wanted = device_lib.DeviceSpec.from_string(self._name)
            merged = device_lib.DeviceSpec.from_string(outer).make_merged_spec(wanted).to_string()
            runtime, asked = names.runtime(merged), short(merged)
        scope = _EagerScope(self._ctx, runtime)
        scope.__enter__()
        site = sites.device_site()
        if site:
            self._state.log.enter(asked, site)
        self._entered.append((scope, bool(site)))

    def __exit__(self, *exception: Any) -> None:
        scope, noted = self._entered.pop()
        scope.__exit__(*exception)
        if noted:
            self._state.log.leave()


class Executor:
    """Stands before TensorFlow's two doors to the runtime, `TFE_Py_FastPathExecute` and `TFE_Py_Execute`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._fast_path = pywrap_tfe.TFE_Py_FastPathExecute
        self._execute = pywrap_tfe.TFE_Py_Execute
        self._execute_cancelable = pywrap_tfe.TFE_Py_ExecuteCancelable
        self._specs: dict[str, Any] = {}

    def fast_path(self, ctx: Any, op: str, name: Any, *arguments: Any) -> Any:
        """Inputs and attributes follow each other in `arguments`."""
        inputs = number_of_inputs(op)
        before = ctx.device_name
        device = self._device(op, before, lambda: known_types(op, arguments[:inputs], arguments[inputs:]))
        if device == before:
            result = self._fast_path(ctx, op, name, *arguments)
        else:
            spec = ctx.device_spec
            ctx._set_device(device, self._spec(device))
            try:
                result = self._fast_path(ctx, op, name, *arguments)
            finally:
                ctx._set_device(before, spec)
        self._note(op, result, arguments, device)
        return result

    def execute(self, handle: Any, device: Any, op: Any, inputs: Any, attributes: Any, *rest: Any) -> Any:
        """The slower way, and that of calls of functions."""
        return self._slow_path(self._execute, handle, device, op, inputs, attributes, *rest)

    def execute_cancelable(self, handle: Any, device: Any, op: Any, inputs: Any, attributes: Any, *rest: Any) -> Any:
        """The same for calls that can be canceled."""
        return self._slow_path(self._execute_cancelable, handle, device, op, inputs, attributes, *rest)

    def constant(self, value: Any, ctx: Any, dtype: Any = None) -> Any:
        """`convert_to_eager_tensor`: the constant lies where an operation would."""
        ctx.ensure_initialized()
        before, spec = ctx.device_name, ctx.device_spec
        device = self._device("_EagerConst", before, tuple)
        ctx._set_device(device, self._spec(device))
        try:
            result = _constant(value, ctx, dtype)
        finally:
            ctx._set_device(before, spec)
        if result is not value:
            self._note("_EagerConst", result, (), device)
        return result

    def _slow_path(self, run: Any, handle: Any, before: Any, op: Any, inputs: Any, attributes: Any, *rest: Any) -> Any:
        name = op.decode() if isinstance(op, bytes) else op
        device = self._device(name, before, lambda: known_types(name, inputs, ()))
        result = run(handle, device, op, inputs, attributes, *rest)
        self._note(name, result, inputs, device)
        return result

    def _device(self, op: str, current: str | None, types: Any) -> str | None:
        """Where `op` is to run, in the runtime's words, when the scope says `current`."""
        names = self._state.names
        if not names.gpus:
            return current
        kind = names.kind(current) if current else "unset"
        if kind == "host":
            return current
        able = has_gpu_kernel(op, types())
        # A name that the runtime does not know, so that it refuses in its own words.
        if context.context()._soft_device_placement is False:
            if kind == "unknown":
                return current
            if kind == "gpu" and not able:
                return names.program(current or "")
        if not able:
            return HOST
        # Where the program asked for a device that does not exist, TensorFlow takes the best there is.
        return current if kind == "gpu" else names.first_gpu()

    def _note(self, op: str, result: Any, arguments: Any, device: str | None) -> None:
        where = device
        for value in (result, *arguments):
            if isinstance(value, (list, tuple)) and value:
                value = value[0]
            if isinstance(value, ops.EagerTensor):
                where = _runtime_device.__get__(value)
                break
        where = self._state.names.program(where or HOST)
        op = op.removeprefix("__inference_").rstrip("0123456789").rstrip("_") if op.startswith("__") else op
        self._state.log.ran(op, short(where))
        if "GPU" in where and self._state.physical and op not in SHARING:
            for value in result if isinstance(result, (list, tuple)) else (result,):
                if isinstance(value, ops.EagerTensor) and value.dtype.size:
                    self._state.memory.hold(value, short(where), value._num_elements() * value.dtype.size)
        if self._state.log_placement:
            print(f"Executing op {op} in device {where}", file=sys.stderr)

    def _spec(self, device: str | None) -> Any:
        if device is None:
            return None
        if device not in self._specs:
            self._specs[device] = device_lib.DeviceSpec.from_string(device)
        return self._specs[device]


_constant = constant_op.convert_to_eager_tensor
_copy_to_device = ops.EagerTensor.__dict__["_copy_to_device"]
_error = errors_impl.OpError.__init__
_current = device_util.current


def install(state: State, patches: Patches) -> None:
    """Replace what the program and TensorFlow's own Python see of eager devices."""
    executor = Executor(state)

    # `state.names` is read afresh each time: the division may change until the runtime starts.
    def program(name: str) -> str:
        return state.names.program(name)

    def device(ctx: Any, name: Any) -> DeviceScope:
        if isinstance(name, context.LogicalDevice):
            name = name.name
        elif device_lib.is_device_spec(name):
            name = name.to_string()
        return DeviceScope(state, ctx, name)

    def explain(error: Any, node: Any, op: Any, message: Any, *rest: Any) -> None:
        _error(error, node, op, program(message) if isinstance(message, str) else message, *rest)

    def copy_to_device(tensor: Any, name: str) -> Any:
        return _copy_to_device(tensor, state.names.runtime(device_lib.canonical_name(name)))

    patches.set(context.Context, "device", device)
    patches.set(pywrap_tfe, "TFE_Py_FastPathExecute", executor.fast_path)
    patches.set(pywrap_tfe, "TFE_Py_Execute", executor.execute)
    patches.set(pywrap_tfe, "TFE_Py_ExecuteCancelable", executor.execute_cancelable)
    patches.set(constant_op, "convert_to_eager_tensor", executor.constant)
    if not state.physical:
        return
    tensor = ops.EagerTensor
    patches.set(tensor, "device", property(lambda t: program(_runtime_device.__get__(t))))
    patches.set(tensor, "backing_device", property(lambda t: program(_runtime_backing_device.__get__(t))))
    patches.set(tensor, "_copy_to_device", copy_to_device)
    patches.set(errors_impl.OpError, "__init__", explain)
    patches.set(device_util, "current", lambda: program(_current() or ""))
