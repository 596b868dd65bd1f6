"""What is not the same on the virtual device as on the CPU, or not as FakeTensor says, and why.

Exactly these samples of PyTorch's databases, as they are in `TORCH`, and no others; `test_coverage.py` and
`test_mixtures.py` hold the lists against the facts, in both directions.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch

from tests.course_lib.virtual_cuda.databases.mixtures import MIXED, MIXED_MODULE
from tests.course_lib.virtual_cuda.databases.module_samples import MODULE, MODULE_BACKWARD
from tests.course_lib.virtual_cuda.databases.op_samples import BACKWARD, FORWARD, INFERENCE, OUT

TORCH = "2.14"
"""the release whose databases these are; another one's have other samples"""


def skip_elsewhere() -> None:
    """Skip the test that calls this if the databases are another release's."""
    if not torch.__version__.startswith(f"{TORCH}."):
        pytest.skip("PyTorch's databases are those of another release")


class Limit(NamedTuple):
    """Samples that are not right, or not what FakeTensor says."""

    stage: str
    name: str
    """of the operator or module"""
    samples: int
    why: str


_SECTIONS = (
    "CUDA wants the sections in a tensor on the CPU and refuses others, in the words used here; with all tensors on "
    "the device there is nothing to compare"
)
LIMITS = [Limit(stage, "tensor_split", 4, _SECTIONS) for stage in (FORWARD, BACKWARD, INFERENCE)]
"""the virtual device does not give what the CPU gives"""


class Watched(NamedTuple):
    """Another way to the same numbers, which C++ takes while any dispatch mode is on, on the CPU too."""

    stages: tuple[str, ...]
    names: tuple[str, ...]
    why: str


WATCHED = [
    Watched(
        (BACKWARD,),
        ("masked_fill", "ormqr", "prod", "masked_prod"),
        "the derivative is computed without selections and in-place operations: another order of sums, other strides",
    ),
    Watched(
        (INFERENCE, OUT),
        ("linalg_cond", "linalg_eigvalsh", "linalg_matrix_norm", "linalg_norm", "linalg_svdvals", "norm_nuc"),
        "singular and eigenvalues are computed together with their vectors, as they are when a gradient is wanted",
    ),
    Watched(
        (MODULE, MODULE_BACKWARD),
        ("nn.LinearCrossEntropyLoss",),
        "with label smoothing, class weights of ignored targets are zeroed before their sum instead of left out",
    ),
]

_CHUNKED = (
    "FakeTensor has a shape function for the whole and looks at no device; the operator's parts, `mm` and `gather`, "
    "refuse by their generated checks"
)
_COPIES = "made of `clone` and `copy_`, and `copy_` takes a source from any device; FakeTensor knows one rule for all"
_TARGET = "indices on the device and a tensor on the CPU: `index` refuses; FakeTensor does not look at indices"
FAKE_TENSOR = [
    Limit(MIXED, "nn_functional_linear_cross_entropy_chunked", 7, _CHUNKED),
    Limit(MIXED, "nn_functional_linear_cross_entropy_chunked_none", 7, _CHUNKED),
    Limit(MIXED, "as_strided_scatter", 7, _COPIES),
    Limit(MIXED, "select_scatter", 3, _COPIES),
    Limit(MIXED, "__getitem__", 2, _TARGET),
    Limit(MIXED, "_unsafe_masked_index_put_accumulate", 3, _TARGET),
    Limit(MIXED, "_unsafe_masked_index", 7, "its indices go to `index`, which takes them from the CPU"),
    Limit(MIXED, "masked_fill", 2, "`masked_fill_` compares the devices of tensor and mask, 0-dimensional or not"),
    Limit(MIXED, "index_fill", 2, "a 0-dimensional tensor is written to as one of one dimension, so it may not stay"),
    Limit(
        MIXED, "nn_functional_prelu", 1, "a weight of one number becomes 0-dimensional inside, where torchgen checks it"
    ),
    Limit(
        MIXED,
        "native_dropout_backward",
        4,
        "FakeTensor takes its decomposition, whose `type_as` moves the mask; CUDA has a kernel with a generated check",
    ),
    Limit(
        MIXED,
        "linalg_pinv",
        2,
        "the tolerance gets a dimension before it meets the singular values, so it may not stay on the CPU; for an "
        "empty matrix it is not used, and may be anywhere",
    ),
    Limit(
        MIXED_MODULE,
        "nn.BCELoss",
        1,
        "input and target of no dimension on the CPU, the weight on the device: two CPU scalars are one too many",
    ),
]
"""FakeTensor says otherwise than the virtual device, and PyTorch's own code says that the virtual device is right"""
