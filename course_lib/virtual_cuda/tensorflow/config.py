"""`tf.config` and its kin: the virtual GPUs are listed, hidden, split and described as real ones are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorflow.core.framework import device_attributes_pb2
from tensorflow.python.client import device_lib
from tensorflow.python.eager import context
from tensorflow.python.framework.device_spec import DeviceSpecV2 as DeviceSpec

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.tensorflow.names import short
from course_lib.virtual_cuda.tensorflow.state import DETAILS, State

_list_physical = context.Context.list_physical_devices
_list_logical = context.Context.list_logical_devices
_get_visible = context.Context.get_visible_devices
_set_visible = context.Context.set_visible_devices
_get_split = context.Context.get_logical_device_configuration
_set_split = context.Context.set_logical_device_configuration
_get_growth = context.Context.get_memory_growth
_set_growth = context.Context.set_memory_growth
_details = context.Context.get_device_details
_memory_info = context.Context.get_memory_info
_reset_memory = context.Context.reset_memory_stats
_local_devices = device_lib.list_local_devices


def prepare(state: State, ctx: Any) -> None:
    """Have the logical CPUs made that are to be GPUs, or take those of a runtime that has started.

    Raises RuntimeError if there are too few and it is too late for more.
    """
    cpu = _list_physical(ctx, "CPU")[0]
    if ctx._context_handle is None:
        state.cpus = list(_get_split(ctx, cpu) or [])
        if _list_physical(ctx, "GPU"):
            _set_visible(ctx, [], "GPU")
        divide(state, ctx)
        return
    if _list_physical(ctx, "GPU"):
        raise RuntimeError(
            "TensorFlow's runtime has started on the real GPU: restart the kernel, and force virtual ones before the "
            "first tensor."
        )
    there, gpus = len(_list_logical(ctx, "CPU")), len(state.physical)
    if there <= gpus:
        raise RuntimeError(
            f"TensorFlow's runtime has started with {there} logical CPU{'s' * (there > 1)}, and {gpus + 1} are needed "
            f"for {gpus} virtual GPU{'s' * (gpus > 1)}. They are made once: restart the kernel, and switch the virtual "
            "GPUs on before the first tensor, variable or tf.config.list_logical_devices()."
        )
    state.cpus = [context.LogicalDeviceConfiguration()] * (there - gpus)
    state.divide()


def divide(state: State, ctx: Any) -> None:
    """Give the runtime, which has not started, the logical CPUs that the settings need."""
    wanted = [context.LogicalDeviceConfiguration()] * state.divide()
    _set_split(ctx, _list_physical(ctx, "CPU")[0], wanted)


def install(state: State, patches: Patches) -> None:
    """Make the questions about devices find the virtual GPUs. A real GPU answers for itself."""
    if not state.physical:
        return
    for method in _answers(state):
        patches.set(context.Context, method.__name__, method)
    logging = property(lambda _: state.log_placement, lambda _, wanted: setattr(state, "log_placement", wanted))
    patches.set(context.Context, "log_device_placement", logging)
    patches.set(device_lib, "list_local_devices", lambda config=None: _described(state, _local_devices(config)))


def _answers(state: State) -> tuple[Callable[..., Any], ...]:
    """The methods of `Context` that know of physical and logical devices."""

    def is_ours(device: Any) -> bool:
        return device in state.physical

    def not_started(ctx: Any, what: str) -> None:
        if ctx._context_handle is not None:
            raise RuntimeError(f"{what} cannot be modified after being initialized")

    def without_real(devices: list[Any]) -> list[Any]:
        return [device for device in devices if device.device_type != "GPU"]

    def of_kind(devices: list[Any], kind: str | None) -> list[Any]:
        return [device for device in devices if kind in (None, device.device_type)]

    def list_physical_devices(ctx: Any, device_type: str | None = None) -> list[Any]:
        return without_real(_list_physical(ctx, device_type)) + of_kind(state.physical, device_type)

    def get_visible_devices(ctx: Any, device_type: str | None = None) -> list[Any]:
        return without_real(_get_visible(ctx, device_type)) + of_kind(state.visible, device_type)

    def set_visible_devices(ctx: Any, devices: Any, device_type: str | None = None) -> None:
        wanted = devices if isinstance(devices, list) else [devices]
        ours = [device for device in wanted if is_ours(device)]
        if ours and device_type not in (None, "GPU"):
            raise ValueError(f"Unrecognized device: {ours[0]!r}")
        others = [device for device in wanted if not is_ours(device)]
        changes = device_type in (None, "GPU") and ours != state.visible
        if changes:
            not_started(ctx, "Visible devices")
        if others or device_type != "GPU":
            _set_visible(ctx, others, device_type)
        if changes:
            state.visible = ours
            divide(state, ctx)

    def list_logical_devices(ctx: Any, device_type: str | None = None) -> list[Any]:
        found = []
        for device in _list_logical(ctx):
            name = state.names.program(device.name)
            found.append(context.LogicalDevice(name, short(name).split(":")[0] or device.device_type))
        return of_kind(found, device_type)

    def get_logical_device_configuration(ctx: Any, device: Any) -> Any:
        if is_ours(device):
            return state.split.get(device)
        return (state.cpus or None) if device.device_type == "CPU" else _get_split(ctx, device)

    def set_logical_device_configuration(ctx: Any, device: Any, parts: Any) -> None:
        if not is_ours(device) and (device not in _list_physical(ctx) or device.device_type != "CPU"):
            return _set_split(ctx, device, parts)
        if get_logical_device_configuration(ctx, device) == parts:
            return None
        if is_ours(device) and any(part.memory_limit is None for part in parts):
            raise ValueError("Setting memory limit is required for GPU virtual devices")
        if not is_ours(device) and any(part.memory_limit is not None for part in parts):
            raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
        not_started(ctx, "Virtual devices")
        if is_ours(device):
            state.split[device] = parts
        else:
            state.cpus = parts
        return divide(state, ctx)

    def get_memory_growth(ctx: Any, device: Any) -> Any:
        return state.growth.get(device) if is_ours(device) else _get_growth(ctx, device)

    def set_memory_growth(ctx: Any, device: Any, enable: bool) -> None:
        if not is_ours(device):
            return _set_growth(ctx, device, enable)
        if device in state.split:
            raise ValueError("Cannot set memory growth on device when virtual devices configured")
        if state.growth.get(device) == enable:
            return None
        not_started(ctx, "Physical devices")
        state.growth[device] = enable
        return None

    def get_device_details(ctx: Any, device: Any) -> dict[str, Any]:
        return dict(DETAILS) if is_ours(device) else _details(ctx, device)

    def get_memory_info(ctx: Any, device: str) -> dict[str, int]:
        where = _virtual_gpu(state, device)
        return state.memory.info(where) if where else _memory_info(ctx, device)

    def reset_memory_stats(ctx: Any, device: str) -> None:
        where = _virtual_gpu(state, device)
        if where:
            state.memory.reset(where)
        else:
            _reset_memory(ctx, device)

    def num_gpus(ctx: Any) -> int:
        return len(list_logical_devices(ctx, "GPU"))

    return (
        list_physical_devices,
        list_logical_devices,
        get_visible_devices,
        set_visible_devices,
        get_logical_device_configuration,
        set_logical_device_configuration,
        get_memory_growth,
        set_memory_growth,
        get_device_details,
        get_memory_info,
        reset_memory_stats,
        num_gpus,
    )


def _virtual_gpu(state: State, device: str) -> str:
    """`"GPU:0"` if the program's name `device` means exactly one virtual GPU, else `""`."""
    try:
        name = short(DeviceSpec.from_string(device).to_string())
    except ValueError:
        return ""
    kind, _, index = name.partition(":")
    return name if kind == "GPU" and index.isdigit() and int(index) < state.names.gpus else ""


def _described(state: State, devices: list[Any]) -> list[Any]:
    """The answer of `list_local_devices`: the host's first CPU, and the GPUs."""
    major, minor = DETAILS["compute_capability"]
    for index in range(state.names.gpus):
        description = (
            f"device: {index}, name: {DETAILS['device_name']}, pci bus id: , compute capability: {major}.{minor}"
        )
        devices.append(
            device_attributes_pb2.DeviceAttributes(
                name=f"/device:GPU:{index}", device_type="GPU", physical_device_desc=description
            )
        )
    return devices
