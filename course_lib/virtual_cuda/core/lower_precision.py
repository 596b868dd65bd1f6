"""float16 and bfloat16 as a GPU computes them: operands rounded, sums in float32, the result rounded once.

The CPU's own float16 is ten times slower than its float32 in matrix products and convolutions; a few operators have
none, and a few round each sum on the way. These are computed in float32 here, forward and backward; a result beyond
the range becomes infinite. All other operators run the CPU's own kernel; most of these round as CUDA's do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

SLOW = """
    mm mm_ addmm addmm_ bmm baddbmm baddbmm_ addbmm addbmm_ mv addmv addmv_ addr addr_ dot vdot _addmm_activation
    convolution convolution_overrideable convolution_backward convolution_backward_overrideable conv_tbc
    conv_tbc_backward _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward
    _native_multi_head_attention _transformer_encoder_layer_fwd
"""
MISSING = """
    avg_pool3d avg_pool3d_backward multi_margin_loss multi_margin_loss_backward multilabel_margin_loss_forward
    multilabel_margin_loss_backward rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional
    rrelu_with_noise_backward polygamma polygamma_ round.decimals round_.decimals _upsample_bilinear2d_aa
    _upsample_bilinear2d_aa_backward
"""
"""CUDA has them in float16, the CPU has not"""
COARSE = """
    _log_softmax logit grid_sampler_2d grid_sampler_3d upsample_linear1d upsample_bicubic2d upsample_trilinear3d
    _adaptive_avg_pool3d avg_pool2d_backward
"""
"""the CPU rounds what CUDA keeps in float32 until the end: a logarithm of 0.99 would be off by three per cent"""
WIDENED = {f"aten::{name}" for name in (SLOW + MISSING + COARSE).split()}
"""operators computed in float32, by name; with the overload where only that one is meant"""

STAYS_FLOAT32 = {
    "aten::_scaled_dot_product_flash_attention_for_cpu": {1},
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": set[int](),
}
"""operators that work with float32 tensors beside those of lower precision, and which of their results are such"""

LOWER = (torch.float16, torch.bfloat16)


def is_widened(func: Any) -> bool:
    """Whether an operator is to be called through `widened`."""
    name = func._schema.name
    return name in WIDENED or f"{name}.{func._overloadname}" in WIDENED


def widened(func: Any) -> Callable[..., Any]:
    """The operator, computed in float32 and rounded if its tensors are of lower precision."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return run(func, args, kwargs)

    return call


def run(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """As `func(*args, **kwargs)`, below autograd."""
    first = args[0]
    dtype = first.dtype if isinstance(first, torch.Tensor) else args[1].dtype
    if dtype is not torch.float16 and dtype is not torch.bfloat16:
        return func(*args, **kwargs)
    name = func._schema.name
    # A mixture is the kernel's to refuse.
    if name not in STAYS_FLOAT32 and any(one.dtype is not dtype for one in _floating((*args, *kwargs.values()))):
        return func(*args, **kwargs)
    wide_args, wide_kwargs = [_wide(v) for v in args], {k: _wide(v) for k, v in kwargs.items()}
    out = func(*wide_args, **wide_kwargs)
    targets = _write_back(func, args, kwargs, wide_args, wide_kwargs) if func._schema.is_mutable else {}
    keep = STAYS_FLOAT32.get(name, ())

    def narrow(position: int, one: Any) -> Any:
        if id(one) in targets:
            return targets[id(one)]
        narrows = isinstance(one, torch.Tensor) and one.dtype is torch.float32 and position not in keep
        return one.to(dtype) if narrows else one

    return narrow(0, out) if isinstance(out, torch.Tensor) else tuple(narrow(n, one) for n, one in enumerate(out))


def _floating(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.is_floating_point():
                yield value
        elif isinstance(value, (list, tuple)):
            yield from _floating(value)


def _wide(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype in LOWER else value
    if isinstance(value, (list, tuple)):
        return type(value)(_wide(one) for one in value)
    return value


def _write_back(func: Any, args: Any, kwargs: Any, wide_args: Any, wide_kwargs: Any) -> dict[int, torch.Tensor]:
    """Round what was written into float32 copies into the tensors meant; those, by the id of their copy."""
    targets = {}
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            inside = position < len(args)
            target = args[position] if inside else kwargs[argument.name]
            wide = wide_args[position] if inside else wide_kwargs[argument.name]
            if wide is not target:
                targets[id(wide)] = target.resize_(wide.shape).copy_(wide)
    return targets
