"""The wire gives back what was sent, refuses by name what cannot travel, and survives whatever arrives."""

from __future__ import annotations

import json
import math
import sys
import types
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.errors import BadReply
from autograder.protocol import wire
from autograder.protocol.probes import build_tensor
from autograder.protocol.wire import Handle, KeptObject, RaisedError, Tensor, decode, encode, handles_in
from tests.when_used import when_used

torch, tf = when_used("torch"), when_used("tensorflow")


def travel(value: Any, **ends: Any) -> Any:
    """There and back as between two processes: the tree as JSON text, the buffers as bytes."""
    tree, buffers = encode(value, keep=ends.pop("keep", None))
    return decode(json.loads(json.dumps(tree, allow_nan=False)), buffers, **ends)


def same(a: Any, b: Any) -> bool:
    """Equal in type and in every bit; the oracle of the round trips."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items(), strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return bool(a == b)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.booleans() | st.integers() | st.integers(-(2**2000), 2**2000) | st.floats() | st.complex_numbers()
SCALARS = st.none() | NUMBERS | WORDS | st.binary(max_size=20)
KEYS = st.integers() | WORDS | st.tuples(st.integers(), st.booleans()) | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(st.integers(), max_size=4).map(frozenset)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_plain_values_come_back_in_type_and_in_every_bit(value: Any) -> None:
    assert same(travel(value), value)


FLOATS = (math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308)
INTEGERS = (2**53 - 1, 2**53, -(2**53), 2**64, -(10**300))


@pytest.mark.parametrize("value", [*FLOATS, *INTEGERS, [True, 1, 1.0]], ids=repr)
def test_numbers_that_json_does_not_know_or_would_round_come_back(value: Any) -> None:
    assert same(travel(value), value)


DTYPES = sorted(wire.DTYPES)


@given(st.data(), st.sampled_from(DTYPES))
@settings(max_examples=200)
def test_arrays_of_every_dtype_and_shape_come_back_in_every_bit(data: st.DataObject, dtype: str) -> None:
    array = data.draw(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    assert same(travel(array), array)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1), (2, 3)])
def test_empty_and_zero_dimensional_arrays_keep_their_shape(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    assert same(travel(array), array)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).itemsize > 1])
def test_big_endian_arrays_arrive_with_their_values(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(np.dtype(dtype).newbyteorder(">"))
    assert same(travel(array), array.astype(dtype))


def test_strided_reversed_transposed_and_read_only_arrays_arrive_in_c_order_and_writable() -> None:
    base = np.arange(24.0).reshape(4, 6)
    frozen = base.copy()
    frozen.flags.writeable = False
    for array in (base[::2, ::-3], base.T, np.broadcast_to(base[0], (3, 6)), np.asfortranarray(base), frozen):
        got = travel(array)
        assert same(got, np.ascontiguousarray(array))
        assert got.flags.c_contiguous and got.flags.writeable


def test_an_array_that_arrives_shares_no_memory_with_the_bytes_that_came() -> None:
    tree, buffers = encode(np.zeros(3))
    first, second = decode(tree, buffers), decode(tree, buffers)
    first[0] = 7
    assert second[0] == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_stay_numpy_scalars(dtype: str) -> None:
    scalar = np.ones((), dtype)[()]
    assert same(travel(scalar), scalar) and isinstance(travel(scalar), np.generic)
    assert same(travel(np.str_("ä")), "ä") and same(travel(np.bytes_(b"\xff")), b"\xff"), "texts travel as texts"


def test_a_subclass_of_ndarray_arrives_as_a_plain_array() -> None:
    class Mine(np.ndarray):
        def __eq__(self, other: object) -> Any:
            return True

    assert type(travel(np.arange(3).view(Mine))) is np.ndarray


def test_an_exception_travels_as_its_type_and_text() -> None:
    assert travel(ValueError("no")) == RaisedError("ValueError", "no")
    assert travel(travel(ValueError("no"))) == RaisedError("ValueError", "no")

    class Silent(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert travel(Silent()).type_name == "Silent"


def test_lone_surrogates_arrive_as_text_that_can_be_written() -> None:
    tree, buffers = encode({"\ud800": "\udfff"})
    assert decode(tree, buffers) == {"\\ud800": "\\udfff"}
    # A kernel that does not use our encoder sends them as they are.
    for got in (decode("\ud800", []), decode({"raised": ["\ud800", "\ud801"]}, []).text):
        got.encode()


@pytest.mark.slow
def test_a_torch_tensor_keeps_dtype_strides_and_requires_grad() -> None:
    tensor = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    got = travel(tensor)
    assert got.framework == "torch" and got.dtype == "float32" and got.device == "cpu"
    assert got.requires_grad and got.strides == tensor.stride() == (1, 3)
    assert same(got.array, np.ascontiguousarray(tensor.detach().numpy()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "int8", "uint8", "bool", "complex64", "int64"])
def test_torch_tensors_of_each_dtype_come_back_as_torch_tensors(name: str) -> None:
    tensor = torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, name))
    got = travel(tensor)
    assert got.dtype == name
    again = travel(got, build=build_tensor)
    assert again.dtype is tensor.dtype and torch.equal(again, tensor)


@pytest.mark.slow
def test_torch_parameters_expanded_conjugated_scalar_and_bfloat16_tensors_travel() -> None:
    assert travel(torch.nn.Parameter(torch.ones(2))).requires_grad
    assert travel(torch.ones(1).expand(3)).array.tolist() == [1, 1, 1]
    assert travel(torch.tensor([1 + 2j]).conj()).array.tolist() == [1 - 2j]
    assert travel(torch.tensor(3.5)).array.shape == ()
    short = torch.tensor([1 / 3, 1e30, -2.5]).bfloat16()
    assert travel(short).array.tolist() == short.float().tolist(), "widened exactly"


@pytest.mark.slow
def test_torch_tensors_that_no_array_stands_for_are_refused_by_name() -> None:
    for tensor in (torch.ones(2, 2).to_sparse(), torch.ones(2, device="meta"), torch.ones(2).to(torch.float8_e4m3fn)):
        with pytest.raises(BadReply, match="Tensor"):
            encode(tensor)


@pytest.mark.slow
def test_tensorflow_tensors_and_variables_travel() -> None:
    for tensor in (tf.constant([[1.5, 2]]), tf.Variable([1, 2]), tf.cast(tf.constant([0.5]), tf.bfloat16)):
        got = travel(tensor)
        assert got.framework == "tensorflow" and got.dtype == tensor.dtype.name
        assert got.array.tolist() == tf.cast(tensor, tf.float32).numpy().tolist()
        again = travel(got, build=build_tensor)
        assert again.dtype == tensor.dtype and again.shape == tensor.shape
    assert travel(tf.keras.Variable([1.0, 2.0])).array.tolist() == [1, 2]
    with pytest.raises(BadReply, match="IndexedSlices"):
        encode(tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0])))
    with pytest.raises(BadReply):
        encode(tf.constant(["text"]))


def test_a_kept_object_travels_as_a_handle_and_comes_back_as_itself() -> None:
    shelf: dict[int, Any] = {}

    def keep(value: Any) -> Handle:
        shelf[len(shelf)] = value
        return Handle(len(shelf) - 1, type(value).__name__)

    thing = object()
    got = travel({"made": [KeptObject(thing)]}, keep=keep)
    assert got == {"made": [Handle(0, "object")]}
    assert handles_in(got) == [Handle(0, "object")]
    assert travel(got, resolve=lambda handle: shelf[handle.number])["made"][0] is thing


def test_without_a_shelf_nothing_can_be_kept() -> None:
    with pytest.raises(BadReply, match="KeptObject"):
        encode(KeptObject(object()))


class OfTheStudent:
    pass


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ((n for n in range(3)), "generator"),
        (math, "module"),
        (len, "builtin_function_or_method"),
        (lambda: 0, "function"),
        (OfTheStudent, "type"),
        (OfTheStudent(), "OfTheStudent"),
        (np.array([object()]), "dtype object"),
        (np.array(["text"]), "dtype <U4"),
        (np.array([1], "datetime64[s]"), "datetime64"),
        (np.zeros(2, [("a", int)]), "dtype"),
        (np.longdouble(1), "dtype"),
        (types.SimpleNamespace(), "SimpleNamespace"),
        (itself(), "contains itself"),
        (nested(40), "nested deeper"),
        ([0] * (wire.MAX_VALUES + 1), "return an array"),
        ("x" * (wire.MAX_TEXT + 1), "too long"),
        (1 << (wire.MAX_INT_BITS + 1), "too large"),
        ({1: iter([])}, "list_iterator"),
    ],
)
def test_what_cannot_travel_is_refused_by_name(value: Any, named: str) -> None:
    with pytest.raises(BadReply, match=named):
        encode(value)


def test_a_value_over_the_byte_limit_is_refused_before_it_is_copied() -> None:
    assert encode(np.zeros(100), max_bytes=800)
    for value in (np.zeros(101), [np.zeros(60), np.zeros(60)], ["x" * 500] * 2, b"x" * 801):
        with pytest.raises(BadReply, match="limit is 800 bytes"):
            encode(value, max_bytes=800)
    huge = np.broadcast_to(np.zeros(1), (1 << 50,))  # eight petabytes, were it copied
    with pytest.raises(BadReply, match="too large"):
        encode(huge, max_bytes=1 << 20)


FLOAT8 = {"dtype": "float64", "shape": [1], "data": 0}
SHAPES = ([-1], [-1, -1], [2], [2**64, 0], [2**61, 8], [1] * 100, ["x"], [math.inf], 1)
ODD = {
    "list": [3, {"a": 1}],
    "dict": [[[1]], [[{"list": []}, 1]], [[{"array": FLOAT8}, 1]]],
    "float": ["1e5", []],
    "int": [5, "0x" + "f" * 5000, "zz"],
    "complex": [["1"], "12345"],
    "bytes": [7, -1, True],
    "raised": [5],
    "handle": ["1", True],
    "set": [[{"list": []}]],
    "array": [None, [], {}, *({**FLOAT8, "shape": shape} for shape in SHAPES)]
    + [{**FLOAT8, "dtype": dtype} for dtype in ("object", ["float64"], "V8")]
    + [{**FLOAT8, "data": data} for data in (1, None)],
}
HOSTILE = [
    *([], {}, {"unknown": 1}, {"_read_list": []}, {"__class__": 1}, {"value": 1}),
    *({tag: value} for tag, values in ODD.items() for value in values),
    {"array": FLOAT8, "framework": "torch"},
    {"array": FLOAT8, "framework": "torch", "dtype": "x", "device": "y", "requires_grad": 1, "strides": 3},
]


@pytest.mark.parametrize("tree", HOSTILE, ids=lambda tree: repr(tree)[:40])
def test_a_malformed_tree_is_a_bad_reply(tree: Any) -> None:
    with pytest.raises(BadReply):
        decode(tree, [b"12345678"])


def test_a_tree_deeper_than_any_honest_one_is_a_bad_reply() -> None:
    tree: Any = 1
    for _ in range(10_000):
        tree = {"list": [tree]}
    with pytest.raises(BadReply, match="nested"):
        decode(tree, [])


def test_a_tree_of_too_many_values_is_a_bad_reply() -> None:
    for many in ({"dict": [[n, 0] for n in range(501)]}, {"set": list(range(501))}):
        with pytest.raises(BadReply, match="keys that are not texts"):
            wire.decode(many, [])  # whose hashes somebody could have chosen
    with pytest.raises(BadReply, match="too many"):
        decode({"list": [{"list": [0] * 1000}] * 1000}, [])


def test_the_same_bytes_cannot_be_taken_for_many_arrays() -> None:
    # Ten megabytes on the wire would else become terabytes in the judge; two are enough to see it, and to survive it.
    array = {"array": {"dtype": "uint8", "shape": [1 << 20], "data": 0}}
    with pytest.raises(BadReply, match="twice"):
        decode({"list": [array] * 2}, [bytes(1 << 20)])
    with pytest.raises(BadReply, match="twice"):
        decode({"list": [{"bytes": 0}] * 2}, [b"x"])


TAGS = [n.removeprefix("_read_") for n in vars(wire._Decoder) if n.startswith("_read_")]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        | st.dictionaries(st.sampled_from([*TAGS, "scalar", "dtype", "shape", "data"]), inner, max_size=4)
        | st.fixed_dictionaries(
            {"array": st.fixed_dictionaries({"dtype": st.sampled_from(DTYPES) | inner, "shape": inner, "data": inner})}
        )
    ),
    max_leaves=12,
)


@given(JSON, st.lists(st.binary(max_size=16), max_size=3))
@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
def test_no_json_whatever_raises_anything_but_a_bad_reply(tree: Any, buffers: list[bytes]) -> None:
    try:
        value = decode(tree, buffers)
    except BadReply as refused:
        assert len(str(refused)) < 1000
    else:
        encode(value)  # what was accepted is of the wire's kinds


def test_decoding_imports_no_framework() -> None:
    before = {n for n in ("torch", "tensorflow") if n in sys.modules}
    tensor = Tensor(np.ones(2), "torch", "float32")
    assert isinstance(travel(tensor), Tensor)
    assert {n for n in ("torch", "tensorflow") if n in sys.modules} == before
