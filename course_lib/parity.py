"""The same network in several frameworks: carry its weights from one to the other, and say how far results agree.

Each framework stores the same numbers in an order of its own. Here they have one order, that of TensorFlow and Keras:

    kernel            (in, out); of a convolution (height, width, in / groups, out); of a recurrent layer (in, gates)
    bias, gamma, beta, moving_mean, moving_variance, embeddings, recurrent_kernel

A *model* is a torch module, a Keras layer or model, a sequence of such layers, or a mapping of names to arrays, tensors
or Variables that are in this order already (NumPy, low-level TensorFlow, JAX). In the first three, every layer with
weights is known by its number, counted from 0, so that the same network has the same names everywhere: "0.kernel".
torch and Keras are not imported here: a model brings its framework along.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.compare import Tolerance, tolerance_for

__all__ = [
    "Agreement",
    "Row",
    "channels_first_rows",
    "channels_last_rows",
    "compare",
    "copy",
    "read",
    "read_gradients",
    "tolerance",
    "write",
]

Arrays = dict[str, np.ndarray]


def read(model: Any) -> Arrays:
    """The weights of `model` as NumPy arrays of their own, by name, in the order described above.

    The two biases of a recurrent torch layer count by their sum. Raises TypeError for a layer with weights whose kind
    is not known here.
    """
    return _values_by_name(model, lambda layer: layer.arrays())


def read_gradients(model: Any, gradients: Sequence[Any] | None = None) -> Arrays:
    """The gradients of the trainable weights of `model`, under the names and in the order of `read`.

    gradients: for Keras and TensorFlow, as `tape.gradient(loss, model.trainable_variables)` returns them. torch keeps
    them in the weights. A weight without a gradient is left out. Raises ValueError if the number is not right.
    """
    if gradients is None:
        return _values_by_name(model, lambda layer: layer.gradients({}))
    variables = _trainable(model)
    if len(variables) != len(gradients):
        raise ValueError(
            f"read_gradients: {len(gradients)} gradients for {len(variables)} trainable variables; hand over all that "
            "tape.gradient(loss, model.trainable_variables) returns"
        )
    found = {id(variable): gradient for variable, gradient in zip(variables, gradients, strict=True)}
    return _values_by_name(model, lambda layer: layer.gradients(found))


def write(model: Any, weights: Mapping[str, Any]) -> None:
    """Put `weights`, named and ordered as `read` returns them, into `model`.

    Nothing is written unless all of it fits. Raises ValueError, naming the layer, where a name is missing or left over
    or a shape differs.
    """
    present = read(model)
    given = {name: _as_array(value) for name, value in weights.items()}
    if given.keys() != present.keys():
        raise ValueError(
            f"write: the model has {_join_names(present.keys() - given.keys())} that the weights lack, and lacks "
            f"{_join_names(given.keys() - present.keys())} of theirs"
        )
    for name, array in given.items():
        if array.shape != present[name].shape:
            raise ValueError(
                f"write: {name} is {present[name].shape} in the model and {array.shape} in the weights"
                f"{_hint_at_transpose(present[name].shape, array.shape)}"
            )
    for number, layer in _layers(model):
        prefix = "" if number is None else f"{number}."
        own = layer.arrays().keys()
        layer.take({name: given[prefix + name] for name in own})


def copy(source: Any, target: Any) -> None:
    """Give `target` the weights of `source`, whichever frameworks the two are from.

    Raises ValueError where they do not fit, and where a normalization layer adds another epsilon: its outputs would
    then differ although the weights are equal.
    """
    for (number, one), (_, other) in zip(_layers(source), _layers(target), strict=False):
        if None not in (one.epsilon, other.epsilon) and one.epsilon != other.epsilon:
            raise ValueError(
                f"copy: layer {number or 0} adds epsilon {one.epsilon} in the source and {other.epsilon} in the "
                "target; make them equal where the layer is built (eps= in torch, epsilon= in Keras)"
            )
    write(target, read(source))


def channels_last_rows(kernel: np.ndarray, image: tuple[int, int, int]) -> np.ndarray:
    """Reorder the rows of a dense kernel that follows a flattening: from torch's flattening to Keras's.

    kernel: `(channels * height * width, out)`. image: `(channels, height, width)` before it was flattened. torch lays
    out the channels one after the other, TensorFlow the pixels.
    """
    channels, height, width = image
    return kernel.reshape(channels, height, width, -1).transpose(1, 2, 0, 3).reshape(kernel.shape)


def channels_first_rows(kernel: np.ndarray, image: tuple[int, int, int]) -> np.ndarray:
    """The way back: from Keras's flattening to torch's. `image` is `(channels, height, width)` here, too."""
    channels, height, width = image
    return kernel.reshape(height, width, channels, -1).transpose(2, 0, 1, 3).reshape(kernel.shape)


# --- how far results agree --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One value of one framework beside that of the reference."""

    name: str
    framework: str
    dtype: str
    """of the less precise of the two"""
    difference: float
    """the largest, absolute; NaN where one of the two is NaN or infinite and the other is not"""
    share: float
    """the difference as a share of what the dtype allows at that place, where that share is largest; 1 is the limit"""

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance of the dtype."""
        return self.share <= 1


@dataclass(frozen=True)
class Agreement:
    """A table of differences. Prints as text, shows as a table in a notebook, and is true if all rows agree."""

    reference: str
    rows: tuple[Row, ...]

    def __bool__(self) -> bool:
        return all(row.agrees for row in self.rows)

    @property
    def worst(self) -> Row:
        """The row that is nearest to its limit, or farthest beyond."""
        return max(self.rows, key=lambda row: (np.isnan(row.share), row.share))

    def __str__(self) -> str:
        lines = [self._head(), *(self._cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        padded = (map(str.ljust, line, widths) for line in lines)
        return "\n".join("  ".join(line).rstrip() for line in padded)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{_html_cells('td', self._cells(row))}</tr>" for row in self.rows)
        return f"<table><tr>{_html_cells('th', self._head())}</tr>{rows}</table>"

    def _head(self) -> list[str]:
        return ["value", f"against {self.reference}", "dtype", "largest difference", "of what is allowed"]

    @staticmethod
    def _cells(row: Row) -> list[str]:
        share = f"{row.share:.2%}" if row.agrees else f"{row.share:.3g} times: DIFFERENT"
        return [row.name, row.framework, row.dtype, f"{row.difference:.2g}", share]


def tolerance(*dtypes: Any) -> Tolerance:
    """What `compare` allows between results of these dtypes, which were computed in them throughout.

    A share of the value, a share of the largest value, and a floor. The last of `dtypes` is the reference's.
    """
    return tolerance_for(*map(np.dtype, dtypes), throughout=True)


def compare(results: Mapping[str, Any]) -> Agreement:
    """Compare the results of several frameworks with those of the first, by the tolerance of their dtypes.

    results: framework -> a number, an array, or a mapping of names to such. Raises ValueError for fewer than two, for
    names that are not the same in all, and for shapes that differ.
    """
    if len(results) < 2:
        raise ValueError("compare: one result alone agrees with nothing; hand over two frameworks or more")
    (reference, wanted), *others = (
        (framework, values if isinstance(values, Mapping) else {"result": values})
        for framework, values in results.items()
    )
    rows = []
    for framework, values in others:
        if values.keys() != wanted.keys():
            raise ValueError(
                f"compare: {reference} alone has {_join_names(wanted.keys() - values.keys())}, "
                f"{framework} alone has {_join_names(values.keys() - wanted.keys())}"
            )
        rows += [_compare_arrays(name, framework, _as_array(values[name]), _as_array(wanted[name])) for name in wanted]
    return Agreement(reference, tuple(rows))


def _compare_arrays(name: str, framework: str, got: np.ndarray, wanted: np.ndarray) -> Row:
    if got.shape != wanted.shape:
        raise ValueError(
            f"compare: {name} has shape {got.shape} in {framework} and {wanted.shape} in the reference"
            f"{_hint_at_transpose(got.shape, wanted.shape)}"
        )
    allowed = tolerance(got.dtype, wanted.dtype)
    dtype = min(got.dtype, wanted.dtype, key=lambda kind: np.finfo(kind).bits if kind.kind == "f" else 99)
    if not wanted.size:
        return Row(name, framework, str(dtype), 0.0, 0.0)
    one, other = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        away = np.where(one == other, 0.0, np.abs(one - other))
        away = np.where(np.isnan(one) & np.isnan(other), 0.0, away)
        largest = np.nanmax(np.abs(other), initial=0.0, where=np.isfinite(other))
        limit = allowed.relative * np.abs(other) + allowed.scaled * largest + allowed.floor
        share = np.where(away == 0, 0.0, away / limit)
    if not np.isfinite(away).all():
        return Row(name, framework, str(dtype), float("nan"), float("inf"))
    return Row(name, framework, str(dtype), float(away.max()), float(share.max()))


# --- layers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layer:
    """One layer with weights: how to read them, their gradients, and how to put others there."""

    arrays: Callable[[], Arrays]
    gradients: Callable[[Mapping[int, Any]], Arrays]
    take: Callable[[Arrays], None]
    epsilon: float | None = None


def _values_by_name(model: Any, values: Callable[[_Layer], Arrays]) -> Arrays:
    return {
        (name if number is None else f"{number}.{name}"): array
        for number, layer in _layers(model)
        for name, array in values(layer).items()
    }


def _layers(model: Any) -> list[tuple[int | None, _Layer]]:
    """The layers with weights, numbered; one that is no model but a single layer, or a mapping, has no number."""
    if isinstance(model, Mapping):
        return [(None, _layer_of_mapping(model))]
    if not isinstance(model, (list, tuple)):
        single = _layer_of_torch(model) or _layer_of_keras(model)
        if single is not None:
            return [(None, single)]
    return list(enumerate(_leaves(model, seen=set())))


def _leaves(model: Any, seen: set[int]) -> Iterator[_Layer]:
    """Every layer once, shared ones where they are first met."""
    if id(model) in seen:
        return
    seen.add(id(model))
    layer = None if isinstance(model, (list, tuple)) else _layer_of_torch(model) or _layer_of_keras(model)
    if layer is not None:
        if layer.arrays():
            yield layer
        return
    if isinstance(model, (list, tuple)):
        inner: Any = model
    elif hasattr(model, "named_children"):  # torch
        _refuse_own_weights(model, [name for name, _ in model.named_parameters(recurse=False)])
        inner = [child for _, child in model.named_children()]
    elif hasattr(model, "layers"):  # Keras
        inner = model.layers
    else:
        _refuse_own_weights(model, [weight.name for weight in getattr(model, "weights", [])])
        inner = []
    for part in inner:
        yield from _leaves(part, seen)


def _refuse_own_weights(model: Any, names: Sequence[str]) -> None:
    if names:
        raise TypeError(
            f"{type(model).__name__} has weights of its own ({', '.join(names)}) and is of no kind known here; hand "
            "over a mapping of names to arrays, or the list of its layers"
        )


def _trainable(model: Any) -> list[Any]:
    if isinstance(model, Mapping):
        return list(model.values())
    if isinstance(model, (list, tuple)):
        return [variable for layer in model for variable in _trainable(layer)]
    return list(model.trainable_variables)


def _layer_of_mapping(variables: Mapping[str, Any]) -> _Layer:
    def take(arrays: Arrays) -> None:
        for name, array in arrays.items():
            variable = variables[name]
            if hasattr(variable, "assign"):  # a tf.Variable
                variable.assign(array)
            elif hasattr(variable, "detach"):  # a torch tensor
                variable.detach().copy_(variable.new_tensor(array))
            else:
                variable[...] = array

    def gradients(found: Mapping[int, Any]) -> Arrays:
        pairs = ((name, found.get(id(value), getattr(value, "grad", None))) for name, value in variables.items())
        return {name: _as_array(gradient) for name, gradient in pairs if gradient is not None}

    return _Layer(lambda: {name: _as_array(value) for name, value in variables.items()}, gradients, take)


def _layer_of_keras(layer: Any) -> _Layer | None:
    if _known_class(layer, "keras", _FROM_KERAS) is None:
        return None
    here, back = _FROM_KERAS[_known_class(layer, "keras", _FROM_KERAS) or ""]

    def take(arrays: Arrays) -> None:
        stored = back(arrays, layer)
        for weight in layer.weights:
            weight.assign(stored[weight.name])

    def gradients(found: Mapping[int, Any]) -> Arrays:
        by_name = {weight.name: found.get(id(weight)) for weight in layer.trainable_variables}
        return here({name: _as_array(value) for name, value in by_name.items() if value is not None})

    return _Layer(
        lambda: here({weight.name: _as_array(weight) for weight in layer.weights}),
        gradients,
        take,
        getattr(layer, "epsilon", None),
    )


def _layer_of_torch(module: Any) -> _Layer | None:
    kind = _known_class(module, "torch", _FROM_TORCH)
    if kind is None:
        return None
    here, back = _FROM_TORCH[kind]
    if getattr(module, "num_layers", 1) != 1 or getattr(module, "bidirectional", False):
        raise TypeError(f"{kind} with several layers or two directions is not known here; build one layer at a time")

    def stored() -> dict[str, Any]:
        own = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
        own.pop("num_batches_tracked", None)
        return own

    def take(arrays: Arrays) -> None:
        found = stored()
        for name, array in back(arrays, module).items():
            found[name].detach().copy_(found[name].new_tensor(array))

    def gradients(_: Mapping[int, Any]) -> Arrays:
        own = {name: tensor.grad for name, tensor in stored().items() if tensor.grad is not None}
        if "bias_hh_l0" in own and kind != "GRU":  # the gradient of a sum is that of each term
            own["bias_hh_l0"] = own["bias_hh_l0"] * 0
        return here({name: _as_array(gradient) for name, gradient in own.items()})

    return _Layer(
        lambda: here({name: _as_array(tensor) for name, tensor in stored().items()}),
        gradients,
        take,
        getattr(module, "eps", None),
    )


def _known_class(layer: Any, framework: str, known: Mapping[str, Any]) -> str | None:
    """The known class that `layer` is, or is derived from without weights of another form."""
    for kind in type(layer).__mro__:
        if kind.__module__.partition(".")[0] == framework and kind.__name__ in known:
            return kind.__name__
    return None


# --- orders -----------------------------------------------------------------------------------------------------------

Here = Callable[[Arrays], Arrays]
Back = Callable[[Arrays, Any], Arrays]


def _rename_arrays(names: Mapping[str, str], axes: Callable[[int], tuple[int, ...]] | None = None) -> tuple[Here, Back]:
    """Other names; `axes(ndim)`: how the axes of `weight` are reordered to make `kernel`."""

    def here(arrays: Arrays) -> Arrays:
        return {
            names[name]: array.transpose(axes(array.ndim)) if axes and names[name] == "kernel" else array
            for name, array in arrays.items()
        }

    def back(arrays: Arrays, layer: Any) -> Arrays:
        old = {new: name for name, new in names.items()}
        return {
            old[name]: array.transpose(np.argsort(axes(array.ndim))) if axes and name == "kernel" else array
            for name, array in arrays.items()
        }

    return here, back


def _reorder_gates(gates: Sequence[int], *, one_bias: bool) -> tuple[Here, Back]:
    """gates: where the gate that stands i-th here stands in torch."""

    def reordered(array: np.ndarray, order: Sequence[int]) -> np.ndarray:
        return np.concatenate([np.split(array, len(gates))[gate] for gate in order])

    def here(arrays: Arrays) -> Arrays:
        own = {name: reordered(array, gates) for name, array in arrays.items()}
        found = {}
        if "weight_ih_l0" in own:
            found["kernel"] = own["weight_ih_l0"].T
        if "weight_hh_l0" in own:
            found["recurrent_kernel"] = own["weight_hh_l0"].T
        if "bias_ih_l0" in own:
            biases = own["bias_ih_l0"], own["bias_hh_l0"]
            found["bias"] = biases[0] + biases[1] if one_bias else np.stack(biases)
        return found

    def back(arrays: Arrays, layer: Any) -> Arrays:
        found = {"weight_ih_l0": arrays["kernel"].T, "weight_hh_l0": arrays["recurrent_kernel"].T}
        if "bias" in arrays:
            bias = arrays["bias"]
            found["bias_ih_l0"], found["bias_hh_l0"] = (bias, np.zeros_like(bias)) if one_bias else bias
        return {name: reordered(array, [int(i) for i in np.argsort(gates)]) for name, array in found.items()}

    return here, back


def _reorder_depthwise() -> tuple[Here, Back]:
    """Keras keeps `(height, width, in, times)`; here it is a convolution in as many groups as channels."""

    def here(arrays: Arrays) -> Arrays:
        found = dict(arrays)
        if "kernel" in found:
            kernel = found["kernel"]
            found["kernel"] = kernel.reshape(*kernel.shape[:-2], 1, -1)
        return found

    def back(arrays: Arrays, layer: Any) -> Arrays:
        kernel = arrays["kernel"]
        return {**arrays, "kernel": kernel.reshape(*kernel.shape[:-2], -1, layer.depth_multiplier)}

    return here, back


_SAME: tuple[Here, Back] = (dict, lambda arrays, layer: dict(arrays))
_WITH_BIAS = {"weight": "kernel", "bias": "bias"}
_LINEAR = _rename_arrays(_WITH_BIAS, lambda ndim: (1, 0))
_CONVOLUTION = _rename_arrays(_WITH_BIAS, lambda ndim: (*range(2, ndim), 1, 0))
_NORMALIZED = _rename_arrays({"weight": "gamma", "bias": "beta"})
_WITH_STATISTICS = _rename_arrays(
    {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}
)

_FROM_TORCH: dict[str, tuple[Here, Back]] = {
    "Linear": _LINEAR,
    **{f"Conv{n}d": _CONVOLUTION for n in (1, 2, 3)},
    # torch keeps (in, out, ...) here, so that the same exchange of axes gives Keras's (..., out, in)
    **{f"ConvTranspose{n}d": _CONVOLUTION for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": _WITH_STATISTICS for n in (1, 2, 3)},
    "LayerNorm": _NORMALIZED,
    "Embedding": _rename_arrays({"weight": "embeddings"}),
    "RNN": _reorder_gates((0,), one_bias=True),
    "LSTM": _reorder_gates((0, 1, 2, 3), one_bias=True),
    "GRU": _reorder_gates((1, 0, 2), one_bias=False),  # torch: reset, update, new; here update comes first
}

_FROM_KERAS: dict[str, tuple[Here, Back]] = {
    **dict.fromkeys(("Dense", "Conv1D", "Conv2D", "Conv3D"), _SAME),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _SAME),
    **dict.fromkeys(("BatchNormalization", "LayerNormalization", "Embedding"), _SAME),
    **dict.fromkeys(("SimpleRNN", "LSTM", "GRU"), _SAME),
    **dict.fromkeys(("DepthwiseConv1D", "DepthwiseConv2D"), _reorder_depthwise()),
}


# --- small things -----------------------------------------------------------------------------------------------------


def _as_array(value: Any) -> np.ndarray:
    """A NumPy array of its own. bfloat16, which NumPy lacks, becomes float32."""
    if hasattr(value, "detach"):  # torch
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    elif hasattr(value, "values") and hasattr(value, "indices"):  # the gradient of an embedding, in TensorFlow
        array = np.zeros(tuple(value.dense_shape), np.asarray(value.values).dtype)
        np.add.at(array, np.asarray(value.indices), np.asarray(value.values))
        return array
    elif hasattr(value, "numpy"):
        value = value.numpy()
    array = np.array(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _join_names(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _hint_at_transpose(one: tuple[int, ...], other: tuple[int, ...]) -> str:
    return "; one is the other transposed" if one != other and one == other[::-1] else ""


def _html_cells(tag: str, cells: Sequence[str]) -> str:
    return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
