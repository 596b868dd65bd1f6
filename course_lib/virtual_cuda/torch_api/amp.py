"""`torch.autocast("cuda")` on the virtual devices: torch's own machinery, with kernels that know the devices.

On CUDA autocast is a layer of the dispatcher above autograd: a wrapper around each listed operator casts the operands
and calls on. Those wrappers ask C++ where a tensor is, and C++ says CPU; so they are replaced, one for one, by the
wrappers below, which ask the mark. All the rest is torch's: `autocast` itself, nesting, the state of each thread, what
composite operators, backward functions and `GradScaler` do. Outside of a region nothing is called that was not before.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from course_lib.virtual_cuda.core import dispatch
from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import index_of
from course_lib.virtual_cuda.torch_api import amp_ops

Tensor = torch.Tensor
Kernel = Callable[..., Any]
Overload = torch._ops.OpOverload
_keys = torch._C.DispatchKey
_to = torch._C.TensorBase.to

ON_CUDA, ON_CPU_ONLY, HOOK = _keys.AutocastCUDA, _keys.AutocastCPU, _keys.AutocastXPU
"""HOOK: above the CPU's layer and used by no tensor here; it keeps that layer's hands off tensors on the devices"""
_without_cuda = torch._C.DispatchKeySet(ON_CUDA)
_without_hook = torch._C.DispatchKeySet(HOOK)
_without_hook_and_cpu = _without_hook | torch._C.DispatchKeySet(ON_CPU_ONLY)
_without = torch._C._ExcludeDispatchKeyGuard

# What a composite operator does stays one instruction of the program, although wrappers are called in between.
dispatch.INTERNAL.add(__file__)


def install(runtime: Runtime, patches: Patches) -> None:
    """Follow the state of autocast. The wrappers are registered when a region is first entered."""
    casts = Casts()
    layers = {"cuda": Layer(ON_CUDA, lambda: _cuda_kernels(casts)), "cpu": Layer(HOOK, _cpu_kernels)}
    set_enabled, clear_cache = torch.set_autocast_enabled, torch.clear_autocast_cache

    def set_autocast_enabled(*args: Any, **kwargs: Any) -> None:
        """As `torch.set_autocast_enabled`."""
        set_enabled(*args, **kwargs)
        device = args[0] if args and isinstance(args[0], str) else kwargs.get("device_type", "cuda")
        device = device.partition(":")[0]  # `autocast("cuda:1")` counts for all devices, on CUDA too
        if device in layers:
            layers[device].reach(torch.is_autocast_enabled(device))

    def clear_autocast_cache() -> None:
        """As `torch.clear_autocast_cache`."""
        clear_cache()
        casts.clear()

    patches.set(torch, "set_autocast_enabled", set_autocast_enabled)
    patches.set(torch, "clear_autocast_cache", clear_autocast_cache)
    for layer in layers.values():
        patches.also(layer.remove)


class Layer:
    """One layer of the dispatcher with our wrappers in it, for the threads that ask for it."""

    def __init__(self, key: Any, kernels: Callable[[], Iterable[tuple[str, Kernel]]]) -> None:
        self._key = key
        self._kernels = kernels
        self._library: Any = None
        self._lock = threading.Lock()

    def reach(self, wanted: bool) -> None:
        """Whether operators of this thread go through the layer from now on."""
        if wanted:
            self._register()
        # Included, since no tensor has the key: C++ takes them all for CPU tensors.
        torch._C._dispatch_tls_set_dispatch_key_included(self._key, wanted)
        if self._key is HOOK:
            torch._C._dispatch_tls_set_dispatch_key_excluded(self._key, not wanted)

    def _register(self) -> None:
        with self._lock:
            if self._library is None:
                # The name of a dispatch key without its enumeration: `AutocastCUDA`.
                library, name = torch.library.Library("aten", "IMPL"), str(self._key).rpartition(".")[2]
                with warnings.catch_warnings():
                    # Builds without CUDA warn once that torch's own kernel is replaced, as is meant.
                    warnings.filterwarnings("ignore", "Warning only once for all operators")
                    for operator, kernel in self._kernels():
                        library.impl(operator, kernel, name)
                self._library = library

    def remove(self) -> None:
        """Take the wrappers out; torch's own are there again."""
        self.reach(False)
        if self._library is not None:
            self._library._destroy()
            self._library = None


# -- what is cast ----------------------------------------------------------------------------------------------------


class Casts:
    """The weights that were cast in this region, so that each is cast once, and its gradient cast back once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[Tensor], Tensor]] = {}

    def clear(self) -> None:
        """Forget all; so done when the outermost region ends."""
        self._made.clear()

    def cast(self, value: Any, dtype: torch.dtype) -> Any:
        """A tensor, or those in a list, in `dtype`, where eligible; anything else as it is."""
        if isinstance(value, Tensor):
            if value.dtype is dtype or not is_eligible(value):
                return value
            keeps = value.is_leaf and value.requires_grad and value.dtype is torch.float32 and not value._is_view()
            if keeps and torch.is_autocast_cache_enabled() and dtype is torch.get_autocast_dtype("cuda"):
                return self._cached(value, dtype)
            return _to(value, dtype)
        if isinstance(value, (list, tuple)):
            return [self.cast(one, dtype) for one in value]
        return value

    def _cached(self, value: Tensor, dtype: torch.dtype) -> Tensor:
        known = self._made.get(id(value))
        # An id alone could be that of a tensor which is gone.
        if known is not None and known[0]() is value:
            return known[1]
        made = _to(value, dtype)
        self._made[id(value)] = weakref.ref(value), made
        return made


def is_eligible(value: Any) -> bool:
    """Whether autocast("cuda") may cast it: a floating-point tensor on a device, not float64."""
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dtype is not torch.float64
        and index_of(value) >= 0
    )


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def on_device(args: Any, kwargs: Any) -> bool:
    """Whether any tensor is on a device, so that CUDA would look at the operator at all."""
    return any(index_of(one) >= 0 for one in _tensors((*args, *kwargs.values())))


# -- the wrappers, one maker for each policy -------------------------------------------------------------------------


def _lower(casts: Casts, func: Overload) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        cast, named = _cast_all(casts, torch.get_autocast_dtype("cuda"), args, kwargs)
        with _without(_without_cuda):
            return func(*cast, **named)

    return kernel


def _float32(casts: Casts, func: Overload) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        cast, named = _cast_all(casts, torch.float32, args, kwargs)
        with _without(_without_cuda):
            return func(*cast, **named)

    return kernel


def _widest(casts: Casts, func: Overload) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        lower = widest = torch.get_autocast_dtype("cuda")
        for one in _tensors((*args, *kwargs.values())):
            if is_eligible(one):
                if torch.float32 in (widest, one.dtype):
                    widest = torch.float32
                elif one.dtype is not lower:
                    raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
        cast, named = _cast_all(casts, widest, args, kwargs)
        with _without(_without_cuda):
            return func(*cast, **named)

    return kernel


def _float32_by_dtype(casts: Casts, func: Overload) -> Kernel:
    at = next(n for n, argument in enumerate(func._schema.arguments) if argument.name == "dtype")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        named = len(args) > at or kwargs.get("dtype") is not None
        if is_eligible(args[0]) and not named:
            kwargs = {**kwargs, "dtype": torch.float32}
        with _without(_without_cuda):
            return func(*args, **kwargs)

    return kernel


def _float32_by_overload(casts: Casts, func: Overload) -> Kernel:
    typed = overload(amp_ops.FLOAT32_BY_OVERLOAD[func._schema.name.removeprefix("aten::") + "." + func._overloadname])
    defaults = [argument.default_value for argument in typed._schema.arguments if not argument.kwarg_only]
    plain = [argument for argument in func._schema.arguments]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with _without(_without_cuda):
            if not on_device(args, kwargs):
                return func(*args, **kwargs)
            given = list(args)
            for argument in plain[len(args) :]:
                given.append(kwargs.get(argument.name, argument.default_value))
            return typed(*given, dtype=torch.float32 if is_eligible(args[0]) else args[0].dtype)

    assert len(defaults) == len(plain)
    return kernel


def _banned(casts: Casts, func: Overload) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        if on_device(args, kwargs):
            raise RuntimeError(amp_ops.BANNED_TEXT)
        with _without(_without_cuda):
            return func(*args, **kwargs)

    return kernel


def _cast_all(casts: Casts, dtype: torch.dtype, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
    cast = casts.cast
    return [cast(value, dtype) for value in args], {name: cast(value, dtype) for name, value in kwargs.items()}


POLICIES: list[tuple[Iterable[str], Callable[[Casts, Overload], Kernel]]] = [
    ([*amp_ops.LOWER_PRECISION, *amp_ops.BESIDE_THE_HEADER_LOWER], _lower),
    ([*amp_ops.FLOAT32, *amp_ops.BESIDE_THE_HEADER_FLOAT32], _float32),
    (amp_ops.FLOAT32_BY_DTYPE, _float32_by_dtype),
    (amp_ops.FLOAT32_BY_OVERLOAD, _float32_by_overload),
    (amp_ops.WIDEST, _widest),
    ([amp_ops.BANNED], _banned),
]


def overload(name: str) -> Overload:
    """The operator `mm`, `softmax.int`... of `torch.ops.aten`."""
    operator, _, overloaded = name.partition(".")
    return getattr(getattr(torch.ops.aten, operator), overloaded or "default")


def registered(key: str) -> set[str]:
    """The operators for which the installed torch has a wrapper in a layer, `AutocastCUDA` for example."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return {
        name.removeprefix("aten::")
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::") and has(name, key)
    }


def _cuda_kernels(casts: Casts) -> Iterable[tuple[str, Kernel]]:
    known = registered("AutocastCUDA")
    for names, maker in POLICIES:
        for name in names:
            if name in known:
                yield name, maker(casts, overload(name))
    for name in amp_ops.CUDNN_RNN:
        yield name, _lower(casts, overload(name))


# -- autocast("cpu"), which on CUDA leaves tensors on the device alone -----------------------------------------------


def _cpu_kernels() -> Iterable[tuple[str, Kernel]]:
    for name in registered("AutocastCPU") | registered("AutocastXPU"):
        yield name, _past_the_cpu(overload(name))


def _past_the_cpu(func: Overload) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with _without(_without_hook_and_cpu if on_device(args, kwargs) else _without_hook):
            return func(*args, **kwargs)

    return kernel
