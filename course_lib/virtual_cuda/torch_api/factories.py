"""Functions that make tensors: what they are asked for as `device=` becomes a mark on an ordinary CPU tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _device as torch_device

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import CPU, Runtime
from course_lib.virtual_cuda.core.storage import index_of, put
from course_lib.virtual_cuda.torch_api.memory import check_limit
from course_lib.virtual_cuda.torch_api.tensors import move

MAKERS = (
    *(
        "empty",
        "empty_permuted",
        "empty_strided",
        "ones",
        "zeros",
        "full",
        "arange",
        "range",
        "linspace",
        "logspace",
        "eye",
    ),
    *("rand", "randn", "randint", "randperm", "scalar_tensor", "tril_indices", "triu_indices", "normal"),
    *("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"),
    "empty_quantized",
)
"""of `torch`: a new tensor from no tensor, on the CPU unless said otherwise"""
FROM_DATA = (
    *("tensor", "as_tensor", "asarray", "sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor"),
    *("sparse_csc_tensor", "sparse_bsr_tensor", "sparse_bsc_tensor"),
)
"""of `torch`: from numbers or from a tensor; then they follow it unless said otherwise"""
LIKE = ("empty_like", "ones_like", "zeros_like", "full_like", "rand_like", "randn_like", "randint_like")
NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")
"""of `Tensor`"""


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace every function that takes `device=`."""
    constructors = frozenset(torch_device._device_constructors())  # fills torch's own cache with the originals
    replaced: dict[Any, Callable[..., Any]] = {}

    def replace(owner: Any, name: str, make: Callable[[Runtime, Any], Callable[..., Any]]) -> None:
        original = getattr(owner, name, None)
        if original is not None:
            replaced[original] = wrapper = make(runtime, original)
            patches.set(owner, name, wrapper)

    for name in MAKERS:
        replace(torch, name, _maker)
    for name in ("fftfreq", "rfftfreq"):
        replace(torch.fft, name, _maker)
    for name in FROM_DATA:
        replace(torch, name, _from_data)
    for name in LIKE:
        replace(torch, name, _follower)
    for name in NEW:
        replace(torch.Tensor, name, _follower)
    for name in ("new", "new_tensor"):
        replace(torch.Tensor, name, _new)
    replace(torch.nested, "nested_tensor", _from_data)

    def torch_function(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """`with torch.device(...)` and `set_default_device`: they add the device and call the original."""
        kwargs = kwargs or {}
        if func in constructors and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return replaced.get(func, func)(*args, **kwargs) if kwargs.get("device") is not None else func(*args, **kwargs)

    patches.set(torch_device.DeviceContext, "__torch_function__", torch_function)


def _maker(runtime: Runtime, original: Callable[..., Any]) -> Callable[..., Any]:
    here = runtime.here

    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        before = here.asked
        if device is None:
            # The device context, if there is one, is below this call and may still ask for another.
            here.asked = -1
        else:
            index = runtime.resolve(device)
            if index < -1:
                return original(*args, **kwargs)
            if index >= 0:
                check_limit(runtime.ledgers[index], original, args, kwargs)
            if index >= 0 and kwargs.get("pin_memory"):
                raise RuntimeError("Only dense CPU tensors can be pinned")
            kwargs["device"] = CPU
            here.asked = index
        try:
            made = original(*args, **kwargs)
        finally:
            here.asked = before
        if device is not None and index >= 0 and isinstance(made, torch.Tensor):
            put(made, runtime.ledgers[index])
        return made

    return make


def _from_data(runtime: Runtime, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None:
            return original(*args, **kwargs)
        index = runtime.resolve(device)
        if index < -1:
            return original(*args, **kwargs)
        wants_grad = kwargs.pop("requires_grad", False)
        made = move(runtime, original(*args, **{**kwargs, "device": None}), index)
        return made.requires_grad_() if wants_grad else made

    return make


def _follower(runtime: Runtime, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None:
            return original(*args, **kwargs)
        index = runtime.resolve(device)
        if index < -1:
            return original(*args, **kwargs)
        made = original(*args, **{**kwargs, "device": CPU})
        put(made, runtime.ledger(index))
        return made

    return make


def _new(runtime: Runtime, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        index = index_of(self) if device is None else runtime.resolve(device)
        if index < -1:
            return original(self, *args, **kwargs)
        wants_grad = kwargs.pop("requires_grad", False)
        made = move(runtime, original(self, *args, **{**kwargs, "device": None}), index)
        return made.requires_grad_() if wants_grad else made

    return make
