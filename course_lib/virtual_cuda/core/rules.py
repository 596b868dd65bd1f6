"""Which mixtures of devices CUDA refuses, and in which words.

Three sources, in this order: the operators that check for themselves (a short list here), the checks that torchgen
generates and TensorIterator's own (`op_rules.json`, made from the wheel's `native_functions.yaml`). An operator in
none of them is let through and noted in the log.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.torch_version import TorchVersion

from course_lib.virtual_cuda.core.storage import index_of

ITERATOR = "iterator"
SHIPPED = Path(__file__).with_name("op_rules.json")

Overload = torch._ops.OpOverload
aten = torch.ops.aten
OLD_WORDS = TorchVersion(torch.__version__) < "2.8"
"""generated checks were worded otherwise before"""
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


def common_device(func: Overload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """The device of the result of an operator whose tensors are on several devices; UNKNOWN if no rule is known.

    Raises what CUDA raises if the mixture is refused.
    """
    given = list(tensors(func, args, kwargs))
    special = SPECIAL.get(func._schema.name) or (_foreach if "::_foreach_" in func._schema.name else None)
    if special is not None:
        if special is _index_put and (args[3] if len(args) > 3 else kwargs.get("accumulate", False)):
            special = _accumulate
        return special(func, given)
    rule = rule_of(func)
    if rule is None:
        return UNKNOWN
    if rule == ITERATOR:
        return _iterator(func, given)
    unchecked = {a.name for a in func._schema.arguments if a.kwarg_only and not a.is_out}
    return _generated(rule, [g for g in given if g.name not in unchecked] or given)


def rule_of(func: Overload) -> str | None:
    """The operator's entry in `op_rules.json`."""
    key = func._schema.name.removeprefix("aten::")
    return generated_checks().get(f"{key}.{func._overloadname}" if func._overloadname != "default" else key)


@functools.cache
def generated_checks() -> Mapping[str, str]:
    """`op_rules.json` if it was made for this version of torch; else made now, which takes a second.

    Without torchgen's requirements the shipped one serves: from one version to the next about ten operators of 1200
    change, none of them in a course.
    """
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
    if _release(shipped["torch"]) == _release(torch.__version__):
        return shipped["checks"]
    try:
        from course_lib.virtual_cuda.core import make_rules

        return make_rules.rules()
    except Exception:  # of whatever kind: torchgen is internal to torch, and its next version may be another
        return shipped["checks"]


def _release(version: str) -> list[str]:
    """Major and minor version: operators do not change between patch releases."""
    return version.split(".")[:2]


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
            raise generated_refusal(one.name, one.at, common.at, method)
    return common.at


def generated_refusal(argument: str, found: int, common: int, method: str) -> RuntimeError:
    """A generated check's refusal of `argument`, which is on `found`; the tensors before it are on `common`."""
    if OLD_WORDS:
        return RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {name_of(common)} and "
            f"{name_of(found)}! (when checking argument for argument {argument} in method {method})"
        )
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {argument} is on {name_of(found)}, different from "
        f"other tensors on {name_of(common)} (when checking argument in method {method})"
    )


def _iterator(func: Overload, given: Sequence[Given]) -> int:
    """TensorIterator: one 0-dimensional CPU tensor may follow the others, unless it is written to."""
    written = {a.name for a in func._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
    scalars = [g for g in given if g.at < 0 and not g.tensor.dim() and g.name not in written]
    common = same_device([g for g in given if not any(g is s for s in scalars)])
    if len(scalars) > 1:
        raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
    return common


def same_device(given: Sequence[Given]) -> int:
    """The device of tensors of which none may stay behind, in the words of TensorIterator."""
    common = next((g.at for g in given if g.at >= 0), -1)
    for one in given:
        if one.at != common:
            raise iterator_refusal(common, one.at)
    return common


def iterator_refusal(first: int, second: int) -> RuntimeError:
    """TensorIterator's refusal: the first device that is not the CPU comes first, wherever its tensor stands."""
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
    return target.at


def _index_put(func: Overload, given: Sequence[Given]) -> int:
    """As for reading; the values must be on the device, but for 0-dimensional ones and one number through a mask."""
    target, values = given[0], next(g for g in given if g.name == "values")
    at = _indexed(func, given)
    if values.at != at and values.tensor.dim():
        masks = [g.tensor.dtype is torch.bool and g.at == at for g in given if g.name == "indices"]
        if not (values.at < 0 and values.tensor.numel() == 1 and masks == [True]):
            raise iterator_refusal(max(target.at, values.at), min(target.at, values.at))
    return at


def _accumulate(func: Overload, given: Sequence[Given]) -> int:
    """Adding at indices is another kernel, which takes 0-dimensional values from anywhere and no others."""
    target, values = given[0], next(g for g in given if g.name == "values")
    if target.at < 0:
        return _index_put(func, given)
    at = _indexed(func, given)
    if values.at != at and values.tensor.dim():
        raise RuntimeError(f"expected device {target.device} but got device {values.device} for value tensor")
    return at


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
        if other is not None and (other.at < 0) != (data.at < 0):
            tail = f" or input should be a MKLDNN tensor and {name} is a dense tensor" if data.at < 0 else ""
            raise RuntimeError(
                f"Input type ({type_name(data)}) and {name} type ({type_name(other)}) should be the same{tail}"
            )
    bias = by_name.pop("bias", None)
    at = _generated("wrapper_CUDA__cudnn_convolution", list(by_name.values()))
    if bias is not None and bias.at != at:
        raise iterator_refusal(at, bias.at)
    return at


def _batch_norm(func: Overload, given: Sequence[Given]) -> int:
    """With more than one number a channel CUDA's batch normalization is cuDNN's."""
    data, names = given[0], {g.name for g in given}
    cudnn = data.at >= 0 and data.tensor.dim() > 2 and {"weight", "bias"} <= names and torch.backends.cudnn.enabled
    return _generated("wrapper_CUDA__cudnn_batch_norm" if cudnn else "wrapper_CUDA__native_batch_norm", given)


def _masked_fill(func: Overload, given: Sequence[Given]) -> int:
    """The mask must be on the device; the value is a number wherever it is."""
    target, mask = given[0], given[1]
    if target.at < 0 <= given[-1].at and given[-1].name == "value":
        raise RuntimeError(f"{func._schema.name.removeprefix('aten::')}: Expected inputs to be on same device")
    if mask.at != target.at:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} and self on "
            f"{target.device}"
        )
    return target.at


def _index_fill(func: Overload, given: Sequence[Given]) -> int:
    """The value is a number wherever it is; no index stays on the CPU."""
    return same_device([g for g in given if g.name != "value"])


def _matrix_vector(func: Overload, given: Sequence[Given]) -> int:
    """The product is added into an empty vector, which is made where the vector is."""
    matrix, vector = given[-2:]
    return _generated("wrapper_CUDA_addmv_", [vector, matrix._replace(name="mat")])


def _trilinear(func: Overload, given: Sequence[Given]) -> int:
    """Bilinear layers are two batched products, one after the other."""
    names = ("self", "mat2", "mat2")
    return _generated("wrapper_CUDA_bmm", [g._replace(name=n) for g, n in zip(given, names, strict=True)])


def _attention(func: Overload, given: Sequence[Given]) -> int:
    """The CPU's attention stands for CUDA's memory-efficient one, which calls the mask `attn_bias`."""
    renamed = [g._replace(name="attn_bias") if g.name == "attn_mask" else g for g in given]
    return _generated("wrapper_CUDA___scaled_dot_product_efficient_attention", renamed)


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
                raise iterator_refusal(firm[0].at, one.at)
    return max(columns[0][0].at, -1)


def _where(func: Overload, given: Sequence[Given]) -> int:
    """0-dimensional CPU tensors follow the others, however many."""
    return same_device([g for g in given if g.at >= 0 or g.tensor.dim()])


def _block_diag(func: Overload, given: Sequence[Given]) -> int:
    """Every tensor must be where the first is."""
    for position, one in enumerate(given):
        if one.at != given[0].at:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on device "
                f"{given[0].device} and input {position} is on device {one.device}"
            )
    return given[0].at


def _packed(func: Overload, given: Sequence[Given]) -> int:
    """Lengths must be on the CPU, wherever the sequences are."""
    lengths = next(g for g in given if g.name == "lengths")
    if lengths.at >= 0:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.tensor.dim()}D {lengths.device} "
            f"{torch._C.TensorBase.type(lengths.tensor).removeprefix('torch.').removesuffix('Tensor')} tensor"
        )
    return given[0].at


def _ctc(func: Overload, given: Sequence[Given]) -> int:
    """Lengths may be anywhere, they are read by the host; so are targets if cuDNN can take them."""
    checked = [g for g in given if not g.name.endswith("_lengths")]
    targets = next(g for g in checked if g.name == "targets")
    if targets.at < 0 and targets.tensor.dtype is torch.int32 and targets.tensor.dim() == 1:
        checked.remove(targets)
    name = func._schema.name.removeprefix("aten::")
    overload = "" if func._overloadname == "default" else func._overloadname
    return _generated(f"wrapper_CUDA_{overload}_{name}", checked)


def _searchsorted(func: Overload, given: Sequence[Given]) -> int:
    """The order of the boundaries is not looked at by the generated check."""
    boundaries = next(g for g in given if g.name == "sorted_sequence")
    at = _generated(rule_of(func) or "", [g for g in given if g.name != "sorter"])
    for one in given:
        if one.at != at:
            raise RuntimeError(
                "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor "
                f"device type {one.device} and input value tensor device type {boundaries.device}"
            )
    return at


def _segment_reduce(func: Overload, given: Sequence[Given]) -> int:
    """Lengths or offsets must be where the data is."""
    for one in given:
        if one.at != given[0].at:
            raise RuntimeError(
                f"Expected data.get_device() == {one.name}_value.get_device() to be true, but got false.  (Could this "
                "error message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
    return given[0].at


SPECIAL: dict[str, Callable[[Overload, Sequence[Given]], int]] = {
    "aten::copy_": _destination,
    "aten::_foreach_copy_": _destination,
    "aten::set_": _destination,
    "aten::resize_as_": _destination,
    "aten::diagonal_scatter": _destination,
    "aten::slice_scatter": _destination,
    "aten::select_scatter": _destination,
    "aten::as_strided_scatter": _destination,
    "aten::block_diag": _block_diag,
    "aten::index": _indexed,
    "aten::_unsafe_index": _indexed,
    "aten::index_put": _index_put,
    "aten::index_put_": _index_put,
    "aten::_index_put_impl_": _index_put,
    "aten::_unsafe_index_put": _index_put,
    "aten::convolution": _convolution,
    "aten::convolution_overrideable": _convolution,
    "aten::native_batch_norm": _batch_norm,
    "aten::masked_fill": _masked_fill,
    "aten::masked_fill_": _masked_fill,
    "aten::index_fill": _index_fill,
    "aten::index_fill_": _index_fill,
    "aten::_scaled_dot_product_flash_attention_for_cpu": _attention,
    "aten::_trilinear": _trilinear,
    "aten::mv": _matrix_vector,
    "aten::where": _where,
    "aten::ldexp": _iterator,
    "aten::ldexp_": _iterator,
    "aten::searchsorted": _searchsorted,
    "aten::segment_reduce": _segment_reduce,
    "aten::_pack_padded_sequence": _packed,
    "aten::_ctc_loss": _ctc,
    "aten::_ctc_loss_backward": _ctc,
}
ALWAYS = {"aten::_pack_padded_sequence"}
"""checked even if all tensors are on one device"""
