"""What a tensor and a storage answer about their device, and how they are copied from one to another.

Replaced on the classes themselves, not answered by a mode: so hooks, backward functions, other threads and torch's own
Python code see the same device as the program does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import index_of, is_wrapped, place, put, storage_of

Tensor = torch.Tensor
Storage = torch.UntypedStorage
_base = torch._C.TensorBase
NO_JAGGED = "Virtual CUDA has no nested tensors of layout torch.jagged: pad the sequences, or keep them on the CPU."
LEGACY = {
    "Float": torch.float32,
    "Double": torch.float64,
    "Half": torch.float16,
    "BFloat16": torch.bfloat16,
    "Long": torch.int64,
    "Int": torch.int32,
    "Short": torch.int16,
    "Char": torch.int8,
    "Byte": torch.uint8,
    "Bool": torch.bool,
}


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace what `Tensor` and `UntypedStorage` say and do about devices."""
    for name, value in {**_questions(runtime), **_moves(runtime)}.items():
        patches.set(Tensor, name, value)
    for name, value in _storage(runtime).items():
        patches.set(Storage, name, value)
    patches.set(torch, "get_device", Tensor.get_device)
    patches.set(torch._C._nn, "_parse_to", _parse_to())


# -- questions -------------------------------------------------------------------------------------------------------


def _questions(runtime: Runtime) -> dict[str, Any]:
    base_device = _base.device.__get__
    devices = [runtime.device(i) for i in range(runtime.devices)]

    def device(self: Tensor) -> torch.device:
        """Where the tensor is; `cuda:k` for a tensor on a virtual device."""
        try:
            index = storage_of(self)._vcuda.index
        except (NotImplementedError, ValueError):
            index = index_of(self)
        return devices[index] if index >= 0 else base_device(self)

    def is_cuda(self: Tensor) -> bool:
        """Whether the tensor is on a (virtual) CUDA device."""
        return index_of(self) >= 0

    def is_cpu(self: Tensor) -> bool:
        """Whether the tensor is on the CPU."""
        return index_of(self) < 0 and base_device(self).type == "cpu"

    def get_device(self: Tensor) -> int:
        """The index of the tensor's CUDA device; -1 on the CPU."""
        return index_of(self)

    def numpy(self: Tensor, *, force: bool = False) -> Any:
        """As `Tensor.numpy`; a CUDA tensor is refused unless `force`."""
        if index_of(self) < 0:
            return _base.numpy(self, force=force)
        if not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                "memory first."
            )
        return _base.numpy(self.cpu(), force=True)

    def tolist(self: Tensor) -> Any:
        """As `Tensor.tolist`; the host waits for the device."""
        if index_of(self) >= 0 and not runtime.here.quiet:
            runtime.log.sync("tolist")
        with Quiet(runtime):
            return _base.tolist(self)

    def to_text(self: Tensor, *, tensor_contents: Any = None) -> str:
        """As `repr`; one synchronizing read, however many numbers are printed."""
        if index_of(self) >= 0 and not runtime.here.quiet:
            runtime.log.sync("print")
        with Quiet(runtime):
            return text(self, tensor_contents=tensor_contents)

    text = Tensor.__repr__

    def is_pinned(self: Tensor, device: Any = None) -> bool:
        """Whether the tensor's memory was pinned."""
        return index_of(self) < 0 and getattr(storage_of(self), "_vpinned", False)

    return {
        "device": property(device),
        "is_cuda": property(is_cuda),
        "is_cpu": property(is_cpu),
        "get_device": get_device,
        "numpy": numpy,
        "tolist": tolist,
        "__repr__": to_text,
        "is_pinned": is_pinned,
    }


class Quiet:
    """While it lasts nothing is logged by itself: what happens is part of something that was."""

    def __init__(self, runtime: Runtime) -> None:
        self.here = runtime.here

    def __enter__(self) -> None:
        self.here.quiet += 1

    def __exit__(self, *error: object) -> None:
        self.here.quiet -= 1


# -- copies ----------------------------------------------------------------------------------------------------------


def copied(runtime: Runtime, tensor: Tensor, target: int, non_blocking: bool = False) -> Tensor:
    """A copy of the data on device `target` (-1: the CPU), noted in the log. Autograd does not see it."""
    here, source, began = runtime.here, index_of(tensor), runtime.log.now()
    if tensor.is_meta:
        return _base.to(tensor, "cpu")  # torch says why it cannot
    if tensor.layout is torch.jagged:
        raise NotImplementedError(NO_JAGGED)
    here.moving = target
    try:
        made = tensor.detach().clone()
    finally:
        here.moving = None
    put(made, runtime.ledger(target))
    if source != target and not here.quiet:
        host = tensor if source < 0 else made
        # Only pinned memory is copied while the host goes on; what was asked for does not decide.
        pinned = source >= 0 or (not is_wrapped(host) and getattr(_storage_or_none(host), "_vpinned", False))
        blocking = not (non_blocking and pinned) and (source < 0 or target < 0)
        size, took = tensor.numel() * tensor.element_size(), runtime.log.now() - began
        runtime.log.copy(source, target, size, blocking=blocking, non_blocking=non_blocking, took_s=took)
    return made


def _storage_or_none(tensor: Tensor) -> Any:
    try:
        return storage_of(tensor)
    except NotImplementedError:
        return None


class ToDeviceCopy(torch.autograd.Function):
    """A copy to another device; its gradient is copied back."""

    generate_vmap_rule = True

    @staticmethod
    def forward(runtime: Runtime, tensor: Tensor, target: int, non_blocking: bool) -> Tensor:
        return copied(runtime, tensor, target, non_blocking)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.runtime, tensor, ctx.target, ctx.non_blocking = inputs
        ctx.source = index_of(tensor)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if not ctx.runtime.over and index_of(gradient) != ctx.source:
            gradient = ToDeviceCopy.apply(ctx.runtime, gradient, ctx.source, ctx.non_blocking)
        return None, gradient, None, None

    @staticmethod
    def jvp(ctx: Any, _: Any, tangent: Tensor, *rest: Any) -> Tensor:
        return ToDeviceCopy.apply(ctx.runtime, tangent, ctx.target, ctx.non_blocking)


ToDeviceCopy._backward_cls.__name__ = "ToCopyBackward0"  # what `grad_fn` is called after `Tensor.to`


def move(runtime: Runtime, tensor: Tensor, target: int, non_blocking: bool = False) -> Tensor:
    """The tensor on device `target` (-1: the CPU): itself if it is there, else a copy that autograd knows of."""
    if index_of(tensor) == target:
        return tensor
    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
        with torch._C.DisableTorchFunctionSubclass():
            return copied(runtime, tensor, target, non_blocking).as_subclass(type(tensor))
    if is_wrapped(tensor) or (tensor.requires_grad and torch.is_grad_enabled()):
        return ToDeviceCopy.apply(runtime, tensor, target, non_blocking)
    if isinstance(tensor, Tensor) and torch.autograd.forward_ad._current_level >= 0:
        return ToDeviceCopy.apply(runtime, tensor, target, non_blocking)
    return copied(runtime, tensor, target, non_blocking)


def _moves(runtime: Runtime) -> dict[str, Any]:
    base_to, base_type, base_copy = _base.to, _base.type, _base.copy_

    def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """As `Tensor.to`, with virtual CUDA devices."""
        device, options = _to_arguments(runtime, args, kwargs)
        if device is None or device < -1:
            return base_to(self, *args, **kwargs)
        kwargs = options
        non_blocking = bool(kwargs.pop("non_blocking", False))
        at = index_of(self)
        if "dtype" in kwargs and at != device and (at >= 0) == non_blocking:
            # Where torch converts decides what is copied: on the host, unless that would make it wait.
            moved = move(runtime, base_to(self, kwargs.pop("dtype")), device, non_blocking)
        else:
            moved = move(runtime, self, device, non_blocking)
        if moved is not self:
            kwargs.pop("copy", None)
            moved = _arranged(moved, kwargs.pop("memory_format", None))
        return base_to(moved, **kwargs) if kwargs else moved

    def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
        """As `Tensor.cuda`: on the current device, or the one named."""
        target = runtime.resolve("cuda" if device is None else device)
        if target < 0:
            raise RuntimeError("Invalid device, must be cuda device")
        moved = move(runtime, self, target, non_blocking)
        return _arranged(moved, memory_format)

    def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
        """As `Tensor.cpu`."""
        if index_of(self) < 0:
            return _base.cpu(self) if memory_format is None else _base.cpu(self, memory_format=memory_format)
        moved = move(runtime, self, -1)
        return _arranged(moved, memory_format)

    def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        """As `Tensor.type`, with `torch.cuda.FloatTensor` and its kin."""
        index = index_of(self)
        if dtype is None:
            name = base_type(self)
            return name.replace("torch.", "torch.cuda.", 1) if index >= 0 else name
        if isinstance(dtype, torch.dtype):
            return base_type(self, dtype)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        wanted = LEGACY.get(name.rpartition(".")[2].removesuffix("Tensor"))
        if wanted is None:
            return base_type(self, dtype)
        target = (index if index >= 0 else runtime.here.device) if ".cuda." in name else -1
        return base_to(move(runtime, self, target, non_blocking), wanted)

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        """As `Tensor.type_as`: dtype and device of `other`."""
        return base_to(move(runtime, self, index_of(other)), other.dtype)

    def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
        """As `Tensor.copy_`; the gradient of a source elsewhere goes back to where it is."""
        if isinstance(src, Tensor) and src.requires_grad and torch.is_grad_enabled():
            src = move(runtime, src, index_of(self), non_blocking)
        return base_copy(self, src, non_blocking)

    def pin_memory(self: Tensor, device: Any = None) -> Tensor:
        """As `Tensor.pin_memory`: a copy in pinned host memory; only CPU tensors can be pinned."""
        if index_of(self) >= 0:
            raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
        if getattr(storage_of(self), "_vpinned", False):
            return self
        pinned = self.clone()
        storage_of(pinned)._vpinned = True
        return pinned

    return {
        "to": to,
        "cuda": cuda,
        "cpu": cpu,
        "type": type_,
        "type_as": type_as,
        "copy_": copy_,
        "pin_memory": pin_memory,
    }


def _arranged(tensor: Tensor, memory_format: Any) -> Tensor:
    """A tensor that was just copied, in the order of memory that was asked for."""
    as_it_is = memory_format is None or memory_format is torch.preserve_format
    return tensor if as_it_is else tensor.contiguous(memory_format=memory_format)


def _to_arguments(runtime: Runtime, args: Any, kwargs: Any) -> tuple[int | None, dict[str, Any]]:
    """`Tensor.to`'s three spellings: the device asked for (None: not a word, -2: leave it to torch) and the rest."""
    rest = list(args)
    kwargs = dict(kwargs)
    device = kwargs.pop("device", None)
    other = kwargs.pop("other", None)
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
    elif rest and not isinstance(rest[0], torch.dtype):
        device = rest.pop(0)
        if rest and (isinstance(rest[0], torch.dtype) or rest[0] is None):
            dtype = rest.pop(0)
            if dtype is not None:
                kwargs["dtype"] = dtype
    if other is not None:
        kwargs["dtype"] = other.dtype
        target: int | None = index_of(other) if _base.device.__get__(other).type == "cpu" else -2
    else:
        target = None if device is None else runtime.resolve(device)
    positions = iter(("non_blocking", "copy"))
    if rest and isinstance(rest[0], torch.dtype):
        kwargs["dtype"] = rest.pop(0)
    if not all(isinstance(flag, bool) for flag in rest):
        target = -2
    kwargs.update(zip(positions, rest, strict=False))
    if not kwargs.get("copy", True):
        del kwargs["copy"]
    if kwargs.get("dtype", 0) is None:
        del kwargs["dtype"]
    if kwargs.get("memory_format", 0) is None:
        del kwargs["memory_format"]
    return target, kwargs


def _parse_to() -> Callable[..., Any]:
    original = torch._C._nn._parse_to

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        """The device that `Module.to(tensor)` means is the tensor's."""
        device, *rest = original(*args, **kwargs)
        like = next((one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), None)
        return (device if like is None else like.device, *rest)

    return parse_to


# -- storages --------------------------------------------------------------------------------------------------------


def _storage(runtime: Runtime) -> dict[str, Any]:
    """`torch.save`, `torch.load` and `deepcopy` speak to storages, in Python; these answers are all they need."""
    base = torch._C.StorageBase
    base_device = base.device.__get__

    def mark(self: Any) -> int:
        return max(self._vcuda.index, -1)

    def device(self: Any) -> torch.device:
        """Where the storage is."""
        index = mark(self)
        return runtime.device(index) if index >= 0 else base_device(self)

    def copy_to(self: Any, target: int) -> Any:
        if mark(self) == target:
            return self
        made = Storage(self.nbytes())
        base.copy_(made, self, False)
        place(made, runtime.ledger(target))
        if not runtime.here.quiet:
            runtime.log.copy(mark(self), target, self.nbytes())
        return made

    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        """As `UntypedStorage.to`."""
        target = runtime.resolve(device)
        return base_to(self, device=device, non_blocking=non_blocking) if target < -1 else copy_to(self, target)

    base_to = Storage.to

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        """As `UntypedStorage.cuda`."""
        return copy_to(self, runtime.here.device if device is None else runtime.resolve(device))

    def cpu(self: Any) -> Any:
        """As `UntypedStorage.cpu`."""
        return copy_to(self, -1)

    def clone(self: Any) -> Any:
        """As `UntypedStorage.clone`: on the same device."""
        made = Storage(self.nbytes(), device=base_device(self))
        base.copy_(made, self, False)
        place(made, runtime.ledger(mark(self)))
        return made

    return {
        "device": property(device),
        "is_cuda": property(lambda self: mark(self) >= 0),
        "get_device": mark,
        "to": to,
        "cuda": cuda,
        "cpu": cpu,
        "clone": clone,
    }
