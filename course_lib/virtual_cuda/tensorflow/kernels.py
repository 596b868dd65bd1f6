"""Which operations a GPU can run: those with a GPU kernel, says the registry of the installed TensorFlow.

An operation without one (strings, datasets, `print`) runs on the host even where there is a GPU, unless soft placement
is off, when it is refused. CUDA builds register their GPU kernels without a GPU too, so the true table is at hand; in
CPU-only builds, which have none, all operations count as having one except those on strings and on datasets.
"""

from __future__ import annotations

import functools
from typing import Any

from tensorflow.python.framework import dtypes, kernels, op_def_registry, ops

_HOST_ONLY_ENDINGS = ("Dataset", "DatasetV2", "DatasetV3", "DatasetV4", "PyFunc", "PyFuncStateless", "PrintV2")


def known_types(op: str, inputs: Any, attributes: Any) -> tuple[tuple[str, int], ...]:
    """The dtype attributes of a call as far as they can be seen: from the inputs, and from the named attributes.

    `inputs`: in the order of the operation's definition, tensors or lists of them. `attributes`: name, value, name ...
    """
    found = {}
    for attribute, value in zip(_input_attributes(op), inputs, strict=False):
        if isinstance(value, (list, tuple)) and value:
            value = value[0]
        if not attribute:
            continue
        if isinstance(value, ops.EagerTensor):
            found[attribute] = value._datatype_enum()
        elif (dtype := getattr(value, "dtype", None)) is not None:
            found[attribute] = dtypes.as_dtype(dtype).base_dtype.as_datatype_enum
    for name, value in zip(attributes[::2], attributes[1::2], strict=False):
        if isinstance(value, dtypes.DType):
            found[name] = value.base_dtype.as_datatype_enum
    return tuple(found.items())


def number_of_inputs(op: str) -> int:
    """How many inputs the operation's definition names."""
    return len(_input_attributes(op))


@functools.lru_cache(maxsize=65536)
def has_gpu_kernel(op: str, types: tuple[tuple[str, int], ...] = ()) -> bool:
    """Whether a GPU runs `op` with these dtype attributes. A function has no kernel: its operations decide."""
    if op_def_registry.get(op) is None:
        return True
    wanted = dict(types)
    if not _build_knows_gpus():
        return not op.endswith(_HOST_ONLY_ENDINGS) and dtypes.string.as_datatype_enum not in wanted.values()
    return any(_allows(kernel, wanted) for kernel in _gpu_kernels(op))


def _allows(kernel: Any, wanted: dict[str, int]) -> bool:
    return all(
        constraint.name not in wanted or wanted[constraint.name] in constraint.allowed_values.list.type
        for constraint in kernel.constraint
    )


def _gpu_kernels(op: str) -> list[Any]:
    registered = kernels.get_registered_kernels_for_op(op).kernel
    return [kernel for kernel in registered if kernel.device_type in ("GPU", "DEFAULT")]


@functools.cache
def _build_knows_gpus() -> bool:
    return any(kernel.device_type == "GPU" for kernel in _gpu_kernels("MatMul"))


@functools.cache
def _input_attributes(op: str) -> tuple[str, ...]:
    definition = op_def_registry.get(op)
    return tuple(argument.type_attr for argument in definition.input_arg) if definition else ()
