"""Checks that C++ makes in front of the operators, where it compares devices that it takes for the CPU's here.

A composite function of torch (LSTM, attention, quantile) looks at its arguments before it calls any operator, and its
words are the ones that students meet. So is assigning a gradient. The functions are replaced by ones that look first.
What a bare number means as a device is asked of C++ too, in `Module.to(0)`, and a build without CUDA does not know.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch.utils._device import DeviceContext

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.rules import generated_refusal, name_of
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.core.storage import index_of, put

Tensor = torch.Tensor
Check = Callable[..., None]


def install(runtime: Runtime, patches: Patches) -> None:
    """Put the checks in front of their functions."""
    functions: list[Any] = [torch, torch._VF]
    for owner in functions:
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            _guard(patches, owner, name, _recurrent)
        for name in ("lstm_cell", "gru_cell"):
            _guard(patches, owner, name, _cell)
    _guard(patches, torch.nn.functional, "scaled_dot_product_attention", _attention)
    _guard(patches, torch._C._nn, "scaled_dot_product_attention", _attention)
    for name in ("stft", "istft"):
        _guard(patches, torch._VF, name, functools.partial(_window, name))
    methods: list[Any] = [torch, Tensor]
    for owner in methods:
        _guard(patches, owner, "tensor_split", _split)
        for name in ("quantile", "nanquantile"):
            _guard(patches, owner, name, _quantile)
        _guard(patches, owner, "take_along_dim", _along)
    _guard(patches, torch._VF, "meshgrid", _meshgrid)
    patches.set(torch.autograd, "_make_grads", _starting(torch.autograd._make_grads))
    patches.set(torch, "ctc_loss", _ctc_loss())
    patches.set(torch.linalg, "matrix_rank", _matrix_rank(runtime))
    patches.set(Tensor, "grad", _gradient())
    _own_functions(patches)
    patches.set(torch._C._nn, "_parse_to", _numbered(torch._C._nn._parse_to))
    patches.set(DeviceContext, "__init__", _context())


def _numbered(parse: Callable[..., Any]) -> Callable[..., Any]:
    def parse_to(*args: Any, **kwargs: Any) -> Any:
        if args:
            args = (_named(args[0]), *args[1:])
        if "device" in kwargs:
            kwargs["device"] = _named(kwargs["device"])
        return parse(*args, **kwargs)

    return parse_to


def _context() -> Callable[..., None]:
    """`set_default_device(0)`."""
    original = DeviceContext.__init__

    @functools.wraps(original)
    def begin(self: Any, device: Any) -> None:
        original(self, _named(device))

    return begin


def _named(device: Any) -> Any:
    """A bare number is a CUDA device."""
    is_number = isinstance(device, Integral) and not isinstance(device, bool)
    return torch.device("cuda", int(device)) if is_number else device


def _ctc_loss() -> Callable[..., Any]:
    """The lengths are read by the host, so they may be on any device; here they would have to be on the scores'."""
    original = torch.ctc_loss

    @functools.wraps(original)
    def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, *rest: Any) -> Any:
        if index_of(log_probs) >= 0:
            input_lengths, target_lengths = (
                x.tolist() if isinstance(x, Tensor) else x for x in (input_lengths, target_lengths)
            )
        return original(log_probs, targets, input_lengths, target_lengths, *rest)

    return ctc_loss


def _matrix_rank(runtime: Runtime) -> Callable[..., Any]:
    """C++ makes the rank of an empty matrix "on its device", and leaves `out` unwritten while a mode is on."""
    original = torch.linalg.matrix_rank

    @functools.wraps(original)
    def matrix_rank(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Tensor:
        named = {"result": out, "atol": args[0] if args else kwargs.get("tol"), **kwargs}
        for name in ("result", "atol", "rtol"):
            tensor = named.get(name)
            if isinstance(tensor, Tensor) and index_of(tensor) != index_of(input):
                raise RuntimeError(
                    f"torch.linalg.matrix_rank: Expected {name} and input tensors to be on the same device, but got "
                    f"{name} on {name_of(index_of(tensor))} and input on {name_of(index_of(input))}"
                )
        rank = original(input, *args, **kwargs)
        put(rank, runtime.ledger(index_of(input)))
        return rank if out is None else out.resize_(rank.shape).copy_(rank)

    return matrix_rank


def _guard(patches: Patches, owner: Any, name: str, check: Check) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        check(*args, **kwargs)
        return original(*args, **kwargs)

    patches.set(owner, name, guarded)


def _recurrent(input: Tensor, *rest: Any, **kwargs: Any) -> None:
    """`check_attributes`: hidden states first, then parameters. `rest` begins with the batch sizes if packed."""
    packed = len(rest) > 2 and isinstance(rest[2], (list, tuple))
    hidden, parameters = rest[1:3] if packed else rest[:2]
    at = index_of(input)
    named = [("hidden", h) for h in ([hidden] if isinstance(hidden, Tensor) else hidden)]
    for name, tensor in named + [("parameter", p) for p in parameters]:
        if index_of(tensor) != at:
            raise RuntimeError(
                f"Input and {name} tensors are not at the same device, found input tensor at {name_of(at)} and {name} "
                f"tensor at {name_of(index_of(tensor))}"
            )


def _cell(input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, *biases: Any) -> None:
    """On CUDA a cell is two matrix products and one kernel that adds the biases."""
    if index_of(input) < 0:
        return
    hidden = hx if isinstance(hx, Tensor) else hx[0]
    for data, weight in ((input, w_ih), (hidden, w_hh)):
        if index_of(data) != index_of(weight):
            raise generated_refusal("mat2", index_of(weight), index_of(data), "wrapper_CUDA_mm")


def _attention(query: Tensor, key: Tensor, value: Tensor, *rest: Any, **kwargs: Any) -> None:
    at = [name_of(index_of(t)) for t in (query, key, value)]
    if len(set(at)) > 1:
        raise RuntimeError(
            f"Expected query, key, and value to have the same device type, but got query.device: {at[0]} key.device: "
            f"{at[1]} and value.device: {at[2]} instead."
        )


def _window(function: str, input: Tensor, n_fft: int, *rest: Any, **kwargs: Any) -> None:
    window = next((a for a in (*rest, kwargs.get("window")) if isinstance(a, Tensor)), None)
    if window is not None and index_of(window) != index_of(input):
        raise RuntimeError(
            f"{function} input and window must be on the same device but got self on {name_of(index_of(input))} and "
            f"window on {name_of(index_of(window))}"
        )


def _split(input: Tensor, sections: Any = None, *rest: Any, **kwargs: Any) -> None:
    sections = kwargs.get("tensor_indices_or_sections", sections)
    if isinstance(sections, Tensor) and index_of(sections) >= 0:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {name_of(index_of(sections))}"
        )


def _quantile(input: Tensor, q: Any, *rest: Any, **kwargs: Any) -> None:
    if isinstance(q, Tensor) and index_of(q) != index_of(input):
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")


def _along(input: Tensor, indices: Any, *rest: Any, **kwargs: Any) -> None:
    if isinstance(indices, Tensor) and index_of(indices) != index_of(input):
        raise RuntimeError(
            f"Expected tensor to have {name_of(index_of(input))} Device, but got tensor with "
            f"{name_of(index_of(indices))} Device (while checking arguments for torch.take_along_dim():)"
        )


def _meshgrid(tensors: Sequence[Tensor], *rest: Any, **kwargs: Any) -> None:
    if len({index_of(t) for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    """What `backward(gradient)` is given must be where the output is; a 0-dimensional one is moved there."""

    @functools.wraps(original)
    def make_gradients(outputs: Sequence[Any], gradients: Sequence[Any], *rest: Any, **kwargs: Any) -> Any:
        moved = list(gradients)
        for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=False)):
            if isinstance(output, Tensor) and isinstance(gradient, Tensor):
                moved[index] = _where_wanted(gradient, index_of(output), f"invalid gradient at index {index}")
        return original(outputs, moved, *rest, **kwargs)

    return make_gradients


def _where_wanted(gradient: Tensor, wanted: int, trouble: str) -> Tensor:
    """The engine's check of a gradient's device."""
    found = index_of(gradient)
    if found == wanted:
        return gradient
    if gradient.dim():
        raise RuntimeError(f"{trouble} - expected device {name_of(wanted)} but got {name_of(found)}")
    return gradient.to(name_of(wanted))


def _own_functions(patches: Patches) -> None:
    """`autograd.Function`: the gradient of each input must be where the input was."""
    function, node_class = torch.autograd.Function, torch.autograd.function.BackwardCFunction
    applied, went_back = vars(function)["apply"], node_class.apply

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = applied.__get__(None, cls)(*args, **kwargs)
        for one in _tuple(result):
            node = one.grad_fn if isinstance(one, Tensor) else None
            if isinstance(node, node_class) and node._forward_cls is cls:
                node._vcuda_inputs = [index_of(a) if isinstance(a, Tensor) else None for a in args]
        return result

    def go_back(self: Any, *gradients: Any) -> Any:
        result = went_back(self, *gradients)
        checked = list(_tuple(result))
        for index, (one, at) in enumerate(zip(checked, getattr(self, "_vcuda_inputs", ()), strict=False)):
            if at is not None and isinstance(one, Tensor):
                trouble = f"Function {self.name()} returned an invalid gradient at index {index}"
                checked[index] = _where_wanted(one, at, trouble)
        return tuple(checked) if isinstance(result, tuple) else checked[0]

    patches.set(function, "apply", classmethod(apply))
    patches.set(node_class, "apply", go_back)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _gradient() -> property:
    base: Any = vars(torch._C.TensorBase)["grad"]

    def assign(self: Tensor, gradient: Tensor | None) -> None:
        if isinstance(gradient, Tensor):
            own, other = index_of(self), index_of(gradient)
            same = "Please ensure that the gradient and the tensor are on the same device"
            if (own < 0) != (other < 0):
                kinds = ["cpu" if at < 0 else "cuda" for at in (other, own)]
                raise RuntimeError(
                    f"attempting to assign a gradient with device type '{kinds[0]}' to a tensor with device type "
                    f"'{kinds[1]}'. {same}"
                )
            if own != other:
                raise RuntimeError(
                    f"attempting to assign a gradient located on device with index '{other}' to a tensor located on "
                    f"device with index '{own}'. {same}"
                )
        base.__set__(self, gradient)

    return property(base.__get__, assign, base.__delete__)
