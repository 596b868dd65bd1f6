"""Memory that several tensors, processes or libraries share: a new tensor over old memory is where that memory is."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.nested._internal.nested_tensor import NestedTensor

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import CPU, Runtime
from course_lib.virtual_cuda.core.storage import index_of, place, put
from course_lib.virtual_cuda.torch_api.tensors import NO_JAGGED

Tensor = torch.Tensor
Storage = torch.UntypedStorage


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace the functions that give a tensor the memory of another, and those that make bare memory."""
    patches.set(Tensor, "set_", _set(runtime))
    patches.set(Storage, "__new__", staticmethod(_new_storage(runtime)))
    patches.set(Storage, "is_shared", _is_shared)
    patches.set(Tensor, "_make_wrapper_subclass", staticmethod(_make_wrapper(runtime)))
    imported = _from_dlpack(runtime)
    for owner in (torch, torch.utils.dlpack):
        patches.set(owner, "from_dlpack", imported)


def _set(runtime: Runtime) -> Any:
    original = Tensor.set_

    def set_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """As `Tensor.set_`: the memory must be on the tensor's device."""
        source = args[0] if args else kwargs.get("source")
        at = index_of(self)
        if source is None:
            original(self, *args, **kwargs)
            put(self, runtime.ledger(at))
            return self
        found = index_of(source) if isinstance(source, Tensor) else _untyped(source).get_device()
        if at != found:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{runtime.device(at)}" to a storage on different '
                f'device "{runtime.device(found)}".  This is no longer allowed; the devices must match.'
            )
        return original(self, *args, **kwargs)

    return set_


def _untyped(storage: Any) -> Any:
    return getattr(storage, "_untyped_storage", storage)


def _new_storage(runtime: Runtime) -> Any:
    original = Storage.__new__

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        index = -1 if device is None else runtime.resolve(device)
        if index < 0:
            return original(cls, *args, **kwargs)
        made = original(cls, *args, **{**kwargs, "device": CPU})
        place(made, runtime.ledger(index))
        return made

    return new


def _make_wrapper(runtime: Runtime) -> Any:
    original = Tensor._make_wrapper_subclass

    def make_wrapper_subclass(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
        """As `Tensor._make_wrapper_subclass`; C++ must not be told of CUDA: autograd would ask the driver."""
        given = [*args, *kwargs.values()]
        device = next((value for value in given if isinstance(value, torch.device)), kwargs.get("device"))
        index = -1 if device is None else runtime.resolve(device)
        if index < 0:
            return original(cls, *args, **kwargs)
        if cls is NestedTensor:
            raise NotImplementedError(NO_JAGGED)
        # `torch.nested` gives the device by position.
        args = tuple(CPU if isinstance(value, torch.device) else value for value in args)
        made = original(cls, *args, **({**kwargs, "device": CPU} if "device" in kwargs else kwargs))
        put(made, runtime.ledger(index))
        return made

    return make_wrapper_subclass


def _is_shared(self: Any) -> bool:
    """As `UntypedStorage.is_shared`: a device's memory always is."""
    return self.is_cuda or torch._C.StorageBase.is_shared(self)


def _from_dlpack(runtime: Runtime) -> Any:
    original = torch.from_dlpack

    @functools.wraps(original)
    def from_dlpack(ext_tensor: Any, *, device: Any = None, **settings: Any) -> Tensor:
        at = index_of(ext_tensor) if isinstance(ext_tensor, Tensor) else -1
        target = at if device is None else runtime.resolve(device)
        if at < 0 and target < 0:
            return original(ext_tensor, **({} if device is None else {"device": device}), **settings)
        made = original(ext_tensor, **settings)  # which refuses what cannot be shared
        if at >= 0:
            made = made if settings.get("copy") else ext_tensor.detach()
            put(made, runtime.ledger(at))
        return made if target == at else made.to(device)

    return from_dlpack
