"""autocast("cuda") and GradScaler on the virtual devices.

Three oracles: the lists in the installed wheel's own header and dispatcher; the wheel's own CUDA wrappers at work on
FakeTensors, which have a CUDA device and dtypes but no data; and the same program in float32 or float64.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import F, Tensor, lazy, torch

FakeTensor, FakeTensorMode = lazy("torch._subclasses.fake_tensor", "FakeTensor FakeTensorMode")
tree_leaves, tree_map = lazy("torch.utils._pytree", "tree_leaves tree_map")
amp = lazy("course_lib.virtual_cuda.torch_api.amp")
amp_ops = lazy("course_lib.virtual_cuda.torch_api.amp_ops")

pytestmark = pytest.mark.slow

aten = lazy("torch.ops", "aten")


@pytest.fixture
def no_complaints() -> Iterator[None]:
    """FakeTensor prints every error of an operator, those that a caller expects too."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(before)


def header_list(name: str) -> list[str]:
    """The operators of one macro of the wheel's header: `mm`, `softmax.int`."""
    header = Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    lines = re.search(rf"#define AT_FORALL_{name}\(_\)((?:[^\n]*\\\n)*[^\n]*)", header.read_text(encoding="utf-8"))
    assert lines is not None
    if name == "DIFFERENT_REDISPATCH_SIGNATURE":
        return re.findall(r'"([\w.]+)"', lines[1])
    return [f"{op}.{over}" if over else op for op, over in re.findall(r"_\((\w+)(?:,\s*(\w+))?\)", lines[1])]


@pytest.mark.parametrize(
    ("macro", "ours"),
    [
        *(("LOWER_PRECISION_FP", "LOWER_PRECISION"), ("FP32", "FLOAT32"), ("FP32_SET_OPT_DTYPE", "FLOAT32_BY_DTYPE")),
        *(("DIFFERENT_REDISPATCH_SIGNATURE", "FLOAT32_BY_OVERLOAD"), ("PROMOTE", "WIDEST")),
    ],
)
def test_our_lists_are_those_of_the_header(macro: str, ours: str) -> None:
    if not torch.__version__.startswith("2.14"):
        pytest.skip("the lists are those of torch 2.14")
    assert sorted(getattr(amp_ops, ours)) == sorted(header_list(macro))


def test_every_wrapper_that_the_installed_torch_registers_is_in_a_list() -> None:
    ours = {name for names, _ in amp.POLICIES for name in names}
    # The cuDNN entry exists in the wheels with CUDA only.
    assert amp.registered("AutocastCUDA") - ours == set()


def test_the_refusal_of_binary_cross_entropy_has_torchs_own_words() -> None:
    # Without a session the wrappers are torch's own; this key makes them run on CPU tensors too.
    torch._C._dispatch_tls_set_dispatch_key_included(torch._C.DispatchKey.AutocastCUDA, True)
    torch.set_autocast_enabled("cuda", True)
    try:
        with pytest.raises(RuntimeError) as refusal:
            F.binary_cross_entropy(torch.rand(3), torch.rand(3))
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch._C._dispatch_tls_set_dispatch_key_included(torch._C.DispatchKey.AutocastCUDA, False)
    assert str(refusal.value).split("\nException raised")[0] == amp_ops.BANNED_TEXT


REFUSED = "refused"


def dtypes_of(call: Callable[..., Any], arguments: Any) -> Any:
    """The dtypes of the tensors that a call returns, or that autocast refuses it."""
    try:
        results = call(*arguments)
    except RuntimeError as error:
        if amp_ops.BANNED_TEXT in str(error):
            return REFUSED
        raise
    return [value.dtype for value in tree_leaves(results) if isinstance(value, Tensor)]


def dtypes_with_torchs_wrappers(call: Callable[..., Any], arguments: Any, lower: torch.dtype) -> Any:
    """What the wheel's CUDA wrappers make of it, on FakeTensors; None if FakeTensor cannot tell."""
    mode = FakeTensorMode()

    def fake(value: Any) -> Any:
        return FakeTensor(mode, value.detach().to("meta"), torch.device("cuda:0")) if _is_tensor(value) else value

    with torch.no_grad():
        arguments = tree_map(fake, arguments)
        # Not `torch.autocast`, which says that there is no CUDA and stays off.
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", lower)
        try:
            with mode:
                return dtypes_of(call, arguments)
        except Exception:
            return None
        finally:
            torch.set_autocast_dtype("cuda", torch.float16)
            torch.set_autocast_enabled("cuda", False)


def dtypes_with_ours(call: Callable[..., Any], arguments: Any, lower: torch.dtype) -> Any:
    """The same with ours, on a virtual device."""
    with torch.autocast("cuda", dtype=lower), torch.no_grad():
        return dtypes_of(call, tree_map(lambda v: v.detach().to("cuda") if _is_tensor(v) else v, arguments))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


# Of those that every sample of torch's database reaches below, one or two of each policy.
CALLS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "at sign": lambda x, y: x @ y,
    "einsum": lambda x, y: torch.einsum("ij,jk->ik", x, y),
    "linear": lambda x, y: F.linear(x, y, y[0]),
    "bmm": lambda x, y: torch.bmm(x[None], y[None]),
    "conv2d": lambda x, y: F.conv2d(x[None, :, :, None], y[..., None, None]),
    "conv2d, same": lambda x, y: F.conv2d(x[None, :, :, None], y[..., None, None], padding="same"),
    "attention": lambda x, y: F.scaled_dot_product_attention(x[None], y[None], x[None]),
    "softmax": lambda x, y: x.softmax(1),
    "softmax to float64": lambda x, y: x.softmax(1, dtype=torch.float64),
    "sum": lambda x, y: x.sum(),
    "norm": lambda x, y: x.norm(),
    "pow": lambda x, y: (x**2, 2**x, x**y),
    "batch_norm": lambda x, y: F.batch_norm(x, None, None, training=True),
    "mse_loss": lambda x, y: F.mse_loss(x, y),
    "interpolate": lambda x, y: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "cat": lambda x, y: torch.cat([x, y]),
    "addcmul": lambda x, y: torch.addcmul(x, y, x),
    "dot": lambda x, y: torch.dot(x[0], y[0]),
    "bilinear": lambda x, y: F.bilinear(x, y, y[None]),
    "add": lambda x, y: x + y,
    "in place": lambda x, y: x.clone().exp_(),
    "integers": lambda x, y: x.argmax(1) + 1,
    # Those that no sample of an operator reaches.
    "_convolution": lambda x, y: torch._convolution(x[None], y[..., None], None, *CONVOLUTION, False),
    "_convolution, old": lambda x, y: aten._convolution.deprecated(x[None], y[..., None], None, *CONVOLUTION),
    "conv_tbc": lambda x, y: torch.conv_tbc(x[None], y[None], y[0]),
    "chain_matmul": lambda x, y: torch.chain_matmul(x, y, x),
    "lstm_cell": lambda x, y: torch.lstm_cell(x, [x, y], *[torch.cat([y] * 4)] * 2, *[torch.cat([y[0]] * 4)] * 2),
    "rnn cells": lambda x, y: (torch.rnn_tanh_cell(x, y, x, y), torch.rnn_relu_cell(x, y, x, y)),
    "2 to the": lambda x, y: torch.pow(2, x),
    "norm of old": lambda x, y: (aten.norm.Scalar(x), aten.norm.ScalarOpt_dim(x, 2, [1])),
    "frobenius_norm": lambda x, y: torch.frobenius_norm(x, [1]),
    "nuclear_norm": lambda x, y: (torch.nuclear_norm(x), torch.nuclear_norm(x, [0, 1])),
    "matrix_norm": lambda x, y: (torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 1)),
    "bicubic": lambda x, y: F.interpolate(x[None, None], scale_factor=2, mode="bicubic", antialias=True),
    "nearest": lambda x, y: [
        F.interpolate(x.view(1, 1, *shape), scale_factor=2, mode=mode)
        for mode in ("nearest", "nearest-exact")
        for shape in ((16,), (4, 4), (4, 2, 2))
    ],
    "bce": lambda x, y: F.binary_cross_entropy(x, y),
}
CONVOLUTION = ([1], [0], [1], False, [0], 1, False, False, False)


def layer(name: str, gates: int) -> Callable[[Tensor, Tensor], Any]:
    """One recurrent layer of torch's C++, with weights that are `y` again and again."""

    def call(x: Tensor, y: Tensor) -> Any:
        weights = [torch.cat([y] * gates), torch.cat([y] * gates)]
        state = [x[None], y[None]] if name == "lstm" else x[None]
        return getattr(torch, name)(y[None], state, weights, False, 1, 0.0, True, False, False)

    return call


RECURRENT: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "gru_cell": lambda x, y: torch.gru_cell(x, y, torch.cat([x] * 3), torch.cat([y] * 3)),
    **{name: layer(name, gates) for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1))},
}
"""FakeTensor wants a driver for these kernels"""


@pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning")
@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_a_result_has_the_dtype_that_torchs_own_wrappers_give_it(name: str, precision: str) -> None:
    lower = getattr(torch, precision)
    one, single, double = torch.rand(4, 4), torch.float32, torch.float64
    pairs = [(single, single), (lower, lower), (single, lower), (lower, single), (double, double)]
    arguments = [[one.to(dtype) for dtype in pair] for pair in pairs]
    expected = [dtypes_with_torchs_wrappers(CALLS[name], each, lower) for each in arguments]
    if None in expected and not torch.backends.cuda.is_built():
        pytest.skip("FakeTensor cannot ask a build without CUDA")
    assert None not in expected
    with virtual_cuda.session(quiet=True):
        assert [dtypes_with_ours(CALLS[name], each, lower) for each in arguments] == expected


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_layer_runs_as_a_whole_in_the_dtype_of_the_region(name: str, precision: str) -> None:
    lower = getattr(torch, precision)
    x, y = torch.rand(2, 4, 4)
    with virtual_cuda.session(quiet=True):
        expected = tree_leaves(RECURRENT[name](x.to("cuda", lower), y.to("cuda", lower)))
        with torch.autocast("cuda", dtype=lower):
            found = tree_leaves(RECURRENT[name](x.cuda(), y.cuda()))
        for one, other in zip(found, expected, strict=True):
            assert one.dtype is lower and torch.equal(one, other)


GPU_ONLY = {
    *("_cudnn_rnn", "cudnn_convolution", "cudnn_convolution_transpose", "_scaled_dot_product_flash_attention"),
    *("_thnn_fused_gru_cell", "_thnn_fused_lstm_cell"),
}
"""kernels that a GPU has and a CPU has not; the operators that lead to them are reached, and cast as they would be"""


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("no_complaints")
def test_all_operator_samples_have_the_dtypes_that_torchs_own_wrappers_give_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached: set[str] = set()
    kernels = amp._cuda_kernels

    def noted(casts: amp.Casts) -> Iterable[tuple[str, amp.Kernel]]:
        for name, kernel in kernels(casts):
            yield name, _noting(name, kernel, reached)

    monkeypatch.setattr(amp, "_cuda_kernels", noted)
    # In a thread: op_db looks through the whole stack for every sample, and pytest's is deep.
    with ThreadPoolExecutor(1) as pool:
        samples = pool.submit(lambda: list(_samples())).result()
        expected = pool.submit(
            lambda: [dtypes_with_torchs_wrappers(_call, each, torch.float16) for each in samples]
        ).result()
    assert sum(answer is not None for answer in expected) > 3000
    different = []
    with virtual_cuda.session(quiet=True):
        for arguments, answer in zip(samples, expected, strict=True):
            if answer is not None:
                found = dtypes_with_ours(_call, arguments, torch.float16)
                if found != answer:
                    different.append((arguments[0].name, arguments[0].variant_test_name, answer, found))
        assert different == []
        # These are compared above.
        for call in (*CALLS.values(), *RECURRENT.values()):
            dtypes_with_ours(call, [torch.rand(4, 4)] * 2, torch.float16)
    listed = {name for names, _ in amp.POLICIES for name in names} & amp.registered("AutocastCUDA")
    assert sorted(listed - reached - GPU_ONLY) == []


def _samples() -> Iterator[Any]:
    """Three samples of every operator in each of two dtypes, as arguments of `_call`."""
    from torch.testing._internal.common_methods_invocations import op_db

    for operator in op_db:
        if operator.name in LEFT_OUT or operator.name.startswith("fft."):
            continue
        for dtype in (torch.float32, torch.float16):
            if dtype in operator.dtypesIfCUDA:
                for _, sample in zip(range(3), operator.sample_inputs("cpu", dtype), strict=False):
                    if "cpu" not in map(str, sample.kwargs.values()):
                        yield operator, sample.input, sample.args, sample.kwargs


def _call(operator: Any, first: Any, args: Any, kwargs: Any) -> Any:
    return operator(first, *args, **kwargs)


def _noting(name: str, kernel: amp.Kernel, reached: set[str]) -> amp.Kernel:
    def noting(*args: Any, **kwargs: Any) -> Any:
        reached.add(name)
        return kernel(*args, **kwargs)

    return noting


LEFT_OUT = {
    *("_native_batch_norm_legit", "native_batch_norm", "_batch_norm_with_update"),  # only the saved statistics differ
    *("torch.ops.aten._flash_attention_forward", "torch.ops.aten._efficient_attention_forward"),  # CUDA's alone
    *("svd_lowrank", "pca_lowrank"),  # a QR decomposition of float16, which FakeTensor does not refuse
    "as_strided",  # a view of the memory behind the sample, which a copy does not have
}
