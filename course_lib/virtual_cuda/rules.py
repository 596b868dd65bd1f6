"""Which mixtures of devices CUDA refuses, and in which words.

Three sources, in this order: the operators that check for themselves (a short list here), the checks that torchgen
generates and TensorIterator's own (`op_rules.json`, made from the wheel's `native_functions.yaml`). An operator in
none of them is let through and noted in the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from course_lib.virtual_cuda.storage import index_of

ITERATOR = "iterator"
RULES: dict[str, str] = json.loads(Path(__file__).with_name("op_rules.json").read_text(encoding="utf-8"))

Overload = torch._ops.OpOverload
aten = torch.ops.aten
UNKNOWN = -9
"""no rule: the caller may look inside the operator, or let it through"""


class Given(NamedTuple):
    """One tensor among an operator's arguments."""

    name: str
    tensor: torch.Tensor
    at: int
    """its device; -1 for the CPU"""

    @property
    def device(self) -> str:
        return name_of(self.at)


def name_of(index: int) -> str:
    """`cuda:0`, or `cpu` for -1."""
    return f"cuda:{index}" if index >= 0 else "cpu"


def settle(func: Overload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """The device of the result of an operator whose tensors are on several devices; UNKNOWN if no rule is known.

    Raises what CUDA raises if the mixture is refused.
    """
    given = list(tensors(func, args, kwargs))
    special = SPECIAL.get(func._schema.name) or (_foreach if "::_foreach_" in func._schema.name else None)
    if special is not None:
        return special(func, given)
    key = func._schema.name.removeprefix("aten::")
    rule = RULES.get(f"{key}.{func._overloadname}" if func._overloadname != "default" else key)
    if rule is None:
        return UNKNOWN
    if rule == ITERATOR:
        return _iterator(func, given)
    return _generated(rule, given)


def tensors(func: Overload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Given]:
    """The tensors in the order in which the generated code checks them: what is written to `out`, then the rest."""
    out: list[Given] = []
    rest: list[Given] = []
    for position, argument in enumerate(func._schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, torch.Tensor):
                given = Given(argument.name, tensor, index_of(tensor))
                (out if argument.is_out else rest).append(given)
    yield from out
    yield from rest


def _generated(method: str, given: Sequence[Given]) -> int:
    """`check_and_update_common_device`: the first tensor's device is the common one, 0-dimensional or not."""
    common = given[0]
    for one in given:
        if one.at != common.at:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but got {one.name} is on {one.device}, different from "
                f"other tensors on {common.device} (when checking argument in method {method})"
            )
    return common.at


def _iterator(func: Overload, given: Sequence[Given]) -> int:
    """TensorIterator: 0-dimensional CPU tensors follow the others, unless they are written to."""
    written = {a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
    firm = [g for g in given if g.at >= 0 or g.tensor.dim() or g.name in written]
    common = firm[0].at if firm else max(g.at for g in given)
    for one in firm:
        if one.at != common:
            raise two_devices(common, one.at)
    return common


def two_devices(first: int, second: int) -> RuntimeError:
    """TensorIterator's refusal; the order is that of the arguments."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{name_of(first)} and {name_of(second)}!"
    )


# -- operators that check for themselves ---------------------------------------------------------------------------


def _destination(func: Overload, given: Sequence[Given]) -> int:
    """Any mixture is fine, the result is the first argument."""
    return given[0].at


def _indexed(func: Overload, given: Sequence[Given]) -> int:
    """Indices and masks may be on the CPU; on another device than a CPU tensor they may not."""
    target = given[0]
    for one in given[1:]:
        if one.name == "indices" and one.at not in (-1, target.at):
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({target.device})"
            )
        if one.name == "values" and one.at != target.at and (one.tensor.dim() or target.at < 0):
            raise two_devices(target.at, one.at)
    return target.at


def type_name(given: Given) -> str:
    """`torch.cuda.FloatTensor`."""
    name = torch._C.TensorBase.type(given.tensor)
    return name.replace("torch.", "torch.cuda.", 1) if given.at >= 0 else name


def _convolution(func: Overload, given: Sequence[Given]) -> int:
    """Input and parameters must have one type; the words depend on where the input is."""
    by_name = {g.name: g for g in given}
    # In the backward pass every argument has been through the forward check.
    data = by_name.get("input", given[0])
    for name in ("weight", "bias"):
        other = by_name.get(name)
        if other is not None and other.at != data.at:
            if (data.at < 0) == (other.at < 0):
                raise two_devices(data.at, other.at)
            tail = " or input should be a MKLDNN tensor and weight is a dense tensor" if data.at < 0 else ""
            raise RuntimeError(
                f"Input type ({type_name(data)}) and {name} type ({type_name(other)}) should be the same"
                f"{tail if name == 'weight' else ''}"
            )
    return _generated(f"wrapper_CUDA__{func._schema.name.removeprefix('aten::')}", given)


def _foreach(func: Overload, given: Sequence[Given]) -> int:
    """Lists are combined element by element, each as TensorIterator would."""
    lists: dict[str, list[Given]] = {}
    for one in given:
        lists.setdefault(one.name, []).append(one)
    columns = list(lists.values())
    for row in range(max(map(len, columns))):
        together = [c[row] if row < len(c) else c[0] for c in columns]
        firm = [g for g in together if g.at >= 0 or g.tensor.dim()]
        for one in firm:
            if one.at != firm[0].at:
                raise two_devices(firm[0].at, one.at)
    return max(columns[0][0].at, -1)


def _where(func: Overload, given: Sequence[Given]) -> int:
    firm = [g for g in given if g.at >= 0 or g.tensor.dim()]
    if len({g.at for g in firm}) > 1:
        where = {g.name: g.device for g in given}
        raise RuntimeError(
            f"Expected condition, x and y to be on the same device, but condition is on {where['condition']} and x "
            f"and y are on {where.get('self')} and {where.get('other')} respectively"
        )
    return firm[0].at


def _packed(func: Overload, given: Sequence[Given]) -> int:
    """Lengths must be on the CPU, wherever the sequences are."""
    lengths = next(g for g in given if g.name == "lengths")
    if lengths.at >= 0:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.tensor.dim()}D {lengths.device} "
            f"{torch._C.TensorBase.type(lengths.tensor).removeprefix('torch.').removesuffix('Tensor')} tensor"
        )
    return given[0].at


SPECIAL: dict[str, Callable[[Overload, Sequence[Given]], int]] = {
    "aten::copy_": _destination,
    "aten::_foreach_copy_": _destination,
    "aten::set_": _destination,
    "aten::resize_as_": _destination,
    "aten::index": _indexed,
    "aten::index_put": _indexed,
    "aten::index_put_": _indexed,
    "aten::_index_put_impl_": _indexed,
    "aten::_unsafe_index": _indexed,
    "aten::_unsafe_index_put": _indexed,
    "aten::convolution": _convolution,
    "aten::convolution_overrideable": _convolution,
    "aten::where": _where,
    "aten::_pack_padded_sequence": _packed,
}
ALWAYS = {"aten::_pack_padded_sequence"}
"""checked even if all tensors are on one device"""
