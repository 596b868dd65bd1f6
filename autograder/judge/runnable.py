"""The calls that show a failure, as one cell: pasted below the student's own, it does again what the check did.

    import numpy as np

    result_1 = two_layer_forward(np.array([[1.0, 2.0]]), {'W1': np.array([[0.5], [0.1]]), ...})
    two_layer_backward(np.array([[0.3]]), result_1[1])

A probe stands there as it was sent, and gets the notebook's own names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.judge.student import Call
from autograder.protocol.wire import Handle, Tensor

MOST_TEXT = 20_000
"""characters of a cell; what takes more is described by its shapes instead"""
LINE = 100
"""characters after which a value is broken into lines"""
Made = Mapping[Any, str]
"""number of an object, or content of a file, that an earlier call has answered -> how to reach it"""


def cell_of(calls: Sequence[Call]) -> str:
    """Python source that repeats the calls; nothing if they cannot be written down, or only in too long a text."""
    made: dict[Any, str] = {}
    lines = []
    try:
        for number, call in enumerate(calls, 1):
            result = f"result_{number}"
            lines.append(f"{'' if number == len(calls) else f'{result} = '}{_call(call, made)}")
            made = dict(_made(call.value, result)) | made
    except _NotWritable:
        return ""
    probes = dict.fromkeys(call.source.strip() for call in calls if call.is_probe)
    if probes:
        keep = ", keep=lambda value: value" if any("ns.keep(" in probe for probe in probes) else ""
        lines.insert(0, f"notebook = SimpleNamespace(**globals(){keep})")
    body = "\n".join(lines)
    text = "\n\n\n".join(["\n".join(_imports(body)), *probes, body] if probes else ["\n".join(_imports(body)), body])
    return text.strip() + "\n" if len(text) <= MOST_TEXT else ""


class _NotWritable(Exception):
    """A value has no literal: an object that no earlier call has made, or an array that is too large."""


def _imports(body: str) -> Iterator[str]:
    probes = "SimpleNamespace(" in body
    if probes:
        yield "from types import SimpleNamespace\n"
    if "np." in body or probes:
        yield "import numpy as np"
    if "torch." in body:
        yield "import torch"
    if "tf." in body:
        yield "import tensorflow as tf"
    if "nan" in body or "inf" in body:
        yield "from numpy import inf, nan"


def _call(call: Call, made: Made) -> str:
    if call.is_probe:
        return _joined(f"{call.name}(", ["notebook", *_keywords(call.data, made)], ")")
    arguments = [_literal(value, made) for value in call.data["_args"]]
    return _joined(f"{call.data['_name']}(", [*arguments, *_keywords(call.data["_kwargs"], made)], ")")


def _keywords(data: Mapping[str, Any], made: Made) -> list[str]:
    return [f"{name}={_literal(value, made)}" for name, value in data.items()]


def _made(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    """The objects and files in an answer, and how to reach them."""
    if isinstance(value, Handle):
        yield value.number, path
    elif isinstance(value, bytes):
        yield value, path
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _made(part, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _made(part, f"{path}[{index}]")


def _literal(value: Any, made: Made) -> str:
    if isinstance(value, Handle):
        if value.number not in made:
            raise _NotWritable
        return made[value.number]
    if isinstance(value, bytes):
        return made.get(value) or repr(value)
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _array(np.asarray(value))
    if isinstance(value, dict):
        return _joined("{", [f"{key!r}: {_literal(part, made)}" for key, part in value.items()], "}")
    if isinstance(value, list):
        return _joined("[", [_literal(part, made) for part in value], "]")
    if isinstance(value, tuple):
        return _joined("(", [_literal(part, made) for part in value], ",)" if len(value) == 1 else ")")
    return repr(value)


def _array(value: np.ndarray[Any, Any]) -> str:
    if not value.size:
        return f"np.zeros({value.shape}, dtype={value.dtype.name!r})"
    usual = value.dtype in (np.float64, np.int64, np.bool_)
    return f"np.array({_numbers(value, 'np.array(')}{'' if usual else f', dtype={value.dtype.name!r}'})"


def _tensor(value: Tensor) -> str:
    numbers = _numbers(value.array, "torch.tensor(")
    if value.framework != "torch":
        return f"tf.constant({numbers}, dtype={value.dtype!r}, shape={value.array.shape})"
    more = f", device={value.device!r}" if value.device != "cpu" else ""
    more += ", requires_grad=True" if value.requires_grad else ""
    shape = "" if value.array.size else f".reshape({value.array.shape})"
    return f"torch.tensor({numbers}, dtype=torch.{value.dtype}{more}){shape}"


def _numbers(value: np.ndarray[Any, Any], before: str) -> str:
    if value.size > MOST_TEXT:
        raise _NotWritable
    if not value.size:
        return "[]"
    exact: Any = {"float_kind": str}
    return np.array2string(
        value, separator=", ", threshold=sys.maxsize, max_line_width=LINE, formatter=exact, prefix=before
    )


def _joined(opening: str, parts: Sequence[str], closing: str) -> str:
    """On one line if it is short, else a line for each part."""
    inline = f"{opening}{', '.join(parts)}{closing}"
    if "\n" not in inline and len(inline) <= LINE:
        return inline
    lines = "".join(f"    {part.replace(chr(10), chr(10) + '    ')},\n" for part in parts)
    return f"{opening}\n{lines}{closing.lstrip(',')}"
