"""Values as JSON and raw bytes: the only language between the judge and the student's process.

`encode` turns a value into a JSON tree and a list of byte buffers; `decode` builds plain values from them and
from nothing else. No pickle, no class of the student's, no code. The receiver bounds everything: nesting,
number of values, text, array sizes. Types the wire does not know are refused by name.

Scalars and containers keep their exact Python kind (a tuple stays a tuple, NaN stays NaN). NumPy arrays come back
as fresh C-ordered `numpy.ndarray`; torch and TensorFlow tensors as `Tensor`, which keeps what the array alone
cannot say (framework, dtype such as bfloat16, device, strides, requires_grad).
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.errors import BadReply
from autograder.protocol.settings import imported

MAX_DEPTH = 32
MAX_VALUES = 200_000
MAX_TEXT = 4 << 20
MAX_RANK = 32
MAX_KEYS = 500
"""of one dict or set, unless they are texts, whose hashes nobody can predict"""
MAX_INT_BITS = 4096

DTYPES = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    | {"float16", "float32", "float64", "complex64", "complex128"}
)


@dataclass(frozen=True)
class Tensor:
    """A framework's tensor as data. Compare its `array`; ask the rest for dtype and place."""

    array: np.ndarray[Any, Any]
    """the values, C order; bfloat16 widened to float32, which is exact"""
    framework: str
    """`torch` or `tensorflow`"""
    dtype: str
    device: str = "cpu"
    requires_grad: bool = False
    strides: tuple[int, ...] = ()
    """in elements, as the framework counts"""


@dataclass(frozen=True)
class Handle:
    """An object that stayed in the kernel. The judge can only hand it back."""

    number: int
    type_name: str = ""


@dataclass(frozen=True)
class RaisedError:
    """An exception that was returned as a value: its type's name and its text."""

    type_name: str
    text: str


def encode(
    value: Any, keep: Callable[[Any], Handle] | None = None, max_bytes: int | None = None
) -> tuple[Any, list[bytes]]:
    """`value` as a JSON tree and buffers. Raises BadReply naming the type that cannot travel, or the size.

    `keep` turns a marked object into a handle; without it, none can be sent. `max_bytes` bounds arrays and texts.
    """
    encoder = _Encoder(keep, max_bytes)
    return encoder.node(value, 0), encoder.buffers


class _Encoder:
    def __init__(self, keep: Callable[[Any], Handle] | None, max_bytes: int | None) -> None:
        self.buffers: list[bytes] = []
        self.count = 0
        self.keep = keep
        self.max_bytes = math.inf if max_bytes is None else max_bytes
        self.bytes = 0

    def node(self, value: Any, depth: int) -> Any:
        self.count += 1
        if depth > MAX_DEPTH:
            raise BadReply(f"the value is nested deeper than {MAX_DEPTH} levels (or contains itself)")
        if self.count > MAX_VALUES:
            raise BadReply(f"the value holds more than {MAX_VALUES} elements outside arrays; return an array instead")
        if value is None or value is True or value is False:
            return value
        kind = type(value)
        if kind is np.ndarray:  # what most values are, before a dozen questions
            return {"array": self.array(value)}
        # NumPy's texts are Python's too, and no array of them can travel.
        if isinstance(value, np.generic) and not isinstance(value, (np.str_, np.bytes_)):
            return {"array": self.array(np.asarray(value)), "scalar": True}
        if issubclass(kind, bool):
            return bool(value)
        if issubclass(kind, int):
            return self.integer(int(value))
        if issubclass(kind, float):
            number = float(value)
            return number if math.isfinite(number) else {"float": repr(number)}
        if issubclass(kind, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if issubclass(kind, str):
            return self.text(str(value))
        if issubclass(kind, (bytes, bytearray)):
            self.weigh(len(value))
            return {"bytes": self.buffer(bytes(value))}
        return self.compound(value, depth)

    def compound(self, value: Any, depth: int) -> Any:
        if isinstance(value, (list, tuple)):
            name = "tuple" if isinstance(value, tuple) else "list"
            return {name: [self.node(v, depth + 1) for v in value]}
        if isinstance(value, dict):
            return {"dict": [[self.node(k, depth + 1), self.node(v, depth + 1)] for k, v in value.items()]}
        if isinstance(value, (set, frozenset)):
            return {"set": [self.node(v, depth + 1) for v in sorted(value, key=repr)]}
        if isinstance(value, np.ndarray):
            return {"array": self.array(value)}
        if isinstance(value, Tensor):
            # The judge's way of asking for a framework's tensor on the other side.
            return {"array": self.array(value.array), **_tensor_facts(value)}
        if isinstance(value, Handle):
            return {"handle": value.number, "type": value.type_name}
        if isinstance(value, BaseException):
            return {"raised": [type(value).__name__, self.text(safe_text(value))]}
        if isinstance(value, RaisedError):
            return {"raised": [value.type_name, self.text(value.text)]}
        if (foreign := _foreign_tensor(value)) is not None:
            return {"array": self.array(foreign.array), **_tensor_facts(foreign)}
        if self.keep is not None and isinstance(value, KeptObject):
            handle = self.keep(value.value)
            return {"handle": handle.number, "type": handle.type_name}
        raise BadReply(f"a {type(value).__module__}.{type(value).__qualname__} cannot be returned as data")

    def integer(self, value: int) -> Any:
        if abs(value) < 2**53:
            return value
        if value.bit_length() > MAX_INT_BITS:
            raise BadReply(f"an int of {value.bit_length()} bits is too large to return")
        return {"int": hex(value)}

    def text(self, value: str) -> str:
        if len(value) > MAX_TEXT:
            raise BadReply(f"a text of {len(value)} characters is too long to return")
        self.weigh(len(value))
        return readable(value)

    def array(self, value: np.ndarray[Any, Any]) -> dict[str, Any]:
        # Before the copy: what is too large to travel may be too large to copy.
        self.weigh(value.nbytes)
        plain = np.array(value, order="C", copy=True, subok=False)
        name = _name(plain.dtype)
        if name not in DTYPES:
            raise BadReply(f"an array of dtype {plain.dtype} cannot be returned as data")
        if plain.dtype.str.startswith(">"):
            plain = plain.astype(plain.dtype.newbyteorder("<"))
        return {"dtype": name, "shape": list(plain.shape), "data": self.buffer(plain.tobytes())}

    def weigh(self, size: int) -> None:
        self.bytes += size
        if self.bytes > self.max_bytes:
            raise BadReply(f"the value is too large to return: the limit is {self.max_bytes} bytes")

    def buffer(self, data: bytes) -> int:
        self.buffers.append(data)
        return len(self.buffers) - 1


@dataclass(frozen=True)
class KeptObject:
    """Marks an object that a probe wants to keep in the kernel: it travels as a handle."""

    value: Any


def decode(
    node: Any,
    buffers: list[bytes],
    resolve: Callable[[Handle], Any] | None = None,
    build: Callable[[Tensor], Any] | None = None,
) -> Any:
    """The plain value of a tree and its buffers. Raises BadReply for anything that is not of the wire's form.

    `resolve` and `build` are for the kernel's side: what a handle stands for, and how a `Tensor` becomes a framework's.
    """
    return _Decoder(buffers, resolve, build).value(node, 0)


class _Decoder:
    def __init__(
        self,
        buffers: list[bytes],
        resolve: Callable[[Handle], Any] | None,
        build: Callable[[Tensor], Any] | None,
    ) -> None:
        self.buffers = dict(enumerate(buffers))
        self.resolve = resolve
        self.build = build
        self.count = 0

    def value(self, node: Any, depth: int) -> Any:
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_VALUES:
            raise BadReply("the reply is nested too deeply or holds too many values")
        kind = type(node)
        if kind is float or kind is int or kind is bool or node is None:
            return node
        if kind is str:
            if len(node) > MAX_TEXT:
                raise BadReply("the reply holds a text that is too long")
            return readable(node)
        if kind is not dict or not node:
            raise BadReply("the reply is not of the wire's form")
        tag = next(iter(node))
        reader = getattr(self, f"_read_{tag}", None) if isinstance(tag, str) and tag.isalpha() else None
        if reader is None:
            raise BadReply(f"the reply holds an unknown kind of value: {str(tag)[:40]!r}")
        try:
            return reader(node, depth)
        except BadReply:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, MemoryError) as error:
            raise BadReply(f"the reply holds a malformed {tag}: {error}") from None

    def _read_float(self, node: dict[str, Any], depth: int) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["float"]]

    def _read_int(self, node: dict[str, Any], depth: int) -> int:
        text = node["int"]
        if len(text) > MAX_INT_BITS // 4 + 4:
            raise BadReply("the reply holds an int that is too large")
        return int(text, 16)

    def _read_complex(self, node: dict[str, Any], depth: int) -> complex:
        real, imag = node["complex"]
        return complex(float(real), float(imag))

    def _read_bytes(self, node: dict[str, Any], depth: int) -> bytes:
        return self._buffer(node["bytes"])

    def _read_list(self, node: dict[str, Any], depth: int) -> list[Any]:
        return [self.value(v, depth + 1) for v in _as_list(node["list"])]

    def _read_tuple(self, node: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.value(v, depth + 1) for v in _as_list(node["tuple"]))

    def _read_set(self, node: dict[str, Any], depth: int) -> frozenset[Any]:
        return frozenset(self._hashable([self.value(v, depth + 1) for v in _as_list(node["set"])]))

    def _read_dict(self, node: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = [(self.value(k, depth + 1), self.value(v, depth + 1)) for k, v in _as_list(node["dict"])]
        self._hashable([key for key, _ in pairs])
        return dict(pairs)

    @staticmethod
    def _hashable(keys: list[Any]) -> list[Any]:
        """`keys`, few enough that building a table of them is quick even if somebody chose them to share one hash."""
        if len(keys) > MAX_KEYS and not all(isinstance(key, str) for key in keys):
            raise BadReply(f"the reply holds a dict or set of more than {MAX_KEYS} keys that are not texts")
        return keys

    def _read_array(self, node: dict[str, Any], depth: int) -> Any:
        array = self._array(node["array"])
        if "framework" in node:
            tensor = Tensor(
                array=array,
                framework=_short_text(node["framework"]),
                dtype=_short_text(node["dtype"]),
                device=_short_text(node["device"]),
                requires_grad=node["requires_grad"] is True,
                strides=tuple(int(s) for s in _as_list(node["strides"])[:MAX_RANK]),
            )
            return self.build(tensor) if self.build else tensor
        return array[()] if node.get("scalar") is True and array.ndim == 0 else array

    def _array(self, facts: dict[str, Any]) -> np.ndarray[Any, Any]:
        if facts["dtype"] not in DTYPES:
            raise BadReply(f"the reply holds an array of unknown dtype {str(facts['dtype'])[:40]!r}")
        shape = tuple(int(n) for n in _as_list(facts["shape"]))
        if len(shape) > MAX_RANK or any(n < 0 for n in shape):
            raise BadReply("the reply holds an array of impossible shape")
        data, dtype = self._buffer(facts["data"]), np.dtype(facts["dtype"])
        # math.prod on Python ints cannot overflow, so a huge claimed shape never matches the bytes that came.
        if math.prod(shape) * dtype.itemsize != len(data):
            raise BadReply("the reply holds an array whose bytes do not fill its shape")
        if dtype == np.bool_:
            return np.frombuffer(data, dtype=np.uint8).astype(np.bool_).reshape(shape)
        return np.frombuffer(data, dtype=dtype).reshape(shape).copy()

    def _read_handle(self, node: dict[str, Any], depth: int) -> Any:
        if type(node["handle"]) is not int:
            raise BadReply("the reply holds a malformed handle")
        handle = Handle(node["handle"], _short_text(node.get("type", "")))
        return self.resolve(handle) if self.resolve else handle

    def _read_raised(self, node: dict[str, Any], depth: int) -> RaisedError:
        name, text = node["raised"]
        return RaisedError(_short_text(name), readable(str(text)[:MAX_TEXT]))

    def _buffer(self, number: Any) -> bytes:
        # Each can be taken once: a thousand arrays of the same bytes would fill the memory of whoever builds them.
        if type(number) is not int or number not in self.buffers:
            raise BadReply("the reply refers to bytes that did not come, or to the same bytes twice")
        return bytes(self.buffers.pop(number))


@functools.lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    """NumPy works it out anew each time."""
    return dtype.name


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadReply("the reply is not of the wire's form")
    return value


def _short_text(value: Any) -> str:
    return readable(str(value)[:100])


def readable(text: str) -> str:
    """`text` without lone surrogates: no file or page could be written with them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def safe_text(error: BaseException) -> str:
    """The text of an exception whose class may be anything."""
    try:
        return str(error)
    except BaseException:
        return "(its text could not be read)"


def handles_in(value: Any) -> list[Handle]:
    """All handles in a decoded value, however deep."""
    if isinstance(value, Handle):
        return [value]
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    return [h for v in value for h in handles_in(v)] if isinstance(value, (list, tuple, set, frozenset)) else []


def holds_claims(value: Any) -> bool:
    """Whether a decoded value says something in words, flags, counts or nothing at all, and not in numbers alone.

    A device's name, a mode, a count of copies: whoever writes the reply writes them. Keys of a dict are its form.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(holds_claims, value))
    return value is None or isinstance(value, (str, int, RaisedError))


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """All arrays in a value, those of tensors too, however deep."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [a for v in value for a in arrays_in(v)] if isinstance(value, (list, tuple)) else []


def files_in(value: Any) -> list[bytes]:
    """All byte strings in a decoded value, however deep: files that the other side wrote, which nobody here opens."""
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [f for v in value for f in files_in(v)] if isinstance(value, (list, tuple)) else []


def _tensor_facts(tensor: Tensor) -> dict[str, Any]:
    return {
        "framework": tensor.framework,
        "dtype": tensor.dtype,
        "device": tensor.device,
        "requires_grad": tensor.requires_grad,
        "strides": list(tensor.strides),
    }


def _foreign_tensor(value: Any) -> Tensor | None:
    """A torch or TensorFlow tensor as data; neither is imported, for whoever made the tensor already has."""
    keras = sys.modules.get("keras")
    try:
        if keras is not None and isinstance(value, keras.Variable):
            value = value.value
        return _torch_tensor(value) or _tensorflow_tensor(value)
    except BadReply:
        raise
    except Exception as error:
        # Sparse, symbolic, quantized, on no device: no plain array stands for it.
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise BadReply(f"this {kind} cannot be returned as data: {safe_text(error)[:200]}") from None


def _torch_tensor(value: Any) -> Tensor | None:
    torch = imported("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        plain = value.detach().to("cpu").resolve_conj().resolve_neg()
        array = (plain.float() if dtype == "bfloat16" else plain).numpy()
        return Tensor(array, "torch", dtype, str(value.device), bool(value.requires_grad), tuple(value.stride()))
    return None


def _tensorflow_tensor(value: Any) -> Tensor | None:
    tensorflow = imported("tensorflow")
    if tensorflow is not None and isinstance(value, (tensorflow.Tensor, tensorflow.Variable)):
        dtype = value.dtype.name
        array = tensorflow.cast(value, "float32").numpy() if dtype == "bfloat16" else value.numpy()
        return Tensor(np.asarray(array), "tensorflow", dtype, str(value.device))
    return None
