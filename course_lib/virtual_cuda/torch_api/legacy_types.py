"""`torch.cuda.FloatTensor` and its kin: old names that still make tensors, and answer `isinstance`."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.torch_api.tensors import LEGACY, move

_IN_CPP = {
    torch.float32: "float",
    torch.float64: "double",
    torch.float16: "c10::Half",
    torch.bfloat16: "c10::BFloat16",
    torch.int64: "long",
    torch.int32: "int",
    torch.int16: "short",
    torch.int8: "signed char",
    torch.uint8: "unsigned char",
    torch.bool: "bool",
}


class LegacyType(type):
    """The type of `torch.cuda.FloatTensor` and its kin, which make tensors and are never instantiated themselves."""

    dtype: torch.dtype
    runtime: Runtime
    is_cuda = True

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Tensor) and instance.is_cuda and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> torch.Tensor:
        kwargs.pop("device", None)
        data = args[0] if len(args) == 1 and isinstance(args[0], torch.Tensor) else None
        if data is not None:
            if not isinstance(data, cls):
                raise TypeError(f"expected {_options(cls.dtype, 'cuda:0')} (got {_options(data.dtype, data.device)})")
            return data.view_as(data)
        made = getattr(torch, cls.__name__)(*args, **kwargs)
        return move(cls.runtime, made, cls.runtime.resolve("cuda"))


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace the types, and `torch.set_default_tensor_type`, which takes one."""

    of_session = {"__module__": "torch.cuda", "runtime": runtime}
    types = {
        f"{name}Tensor": LegacyType(f"{name}Tensor", (), {**of_session, "dtype": dtype})
        for name, dtype in LEGACY.items()
    }
    for name, made in types.items():
        patches.set(torch.cuda, name, made)

    original = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any) -> None:
        """As torch's: default dtype and device of new tensors."""
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
        made = types.get(name.rpartition(".")[2])
        if ".cuda." in name and made is not None:
            if not made.dtype.is_floating_point:
                raise TypeError("only floating-point types are supported as the default type")
            torch.set_default_dtype(made.dtype)
            torch.set_default_device("cuda")
            return
        original(t)
        torch.set_default_device(None)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)
    patches.also(_restore_default_device)


def _restore_default_device() -> None:
    """A default device that no longer exists would break every later factory."""
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    if context is not None and context.device.type == "cuda":
        torch.set_default_device(None)


def _options(dtype: torch.dtype, device: Any) -> str:
    """A tensor's options as C++ prints them."""
    return (
        f"TensorOptions(dtype={_IN_CPP.get(dtype, dtype)}, device={device}, layout=Strided, requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )
