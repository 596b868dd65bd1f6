"""Run a probe: a short function, sent as source, that calls a program's names and returns plain data.

The kernel runs it beside the student's code, and the judge runs the same on the reference and on every known mistake,
so that a check cannot tell the two apart.
"""

from __future__ import annotations

import functools
import linecache
import re
import traceback
import types
from typing import Any

import numpy as np

from autograder.protocol import wire


class Namespace:
    """The student's names as attributes: `ns.train(...)`; what a probe gets as its first argument."""

    def __init__(self, names: dict[str, Any]) -> None:
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined") from None

    def keep(self, value: Any) -> wire.KeptObject:
        """Let `value` outlive the call as an opaque handle, until the judge releases it."""
        return wire.KeptObject(value)


def run_probe(source: str, name: str, ns: Namespace, data: dict[str, Any]) -> Any:
    """Define the probe `name` from its `source` and call it with the student's namespace and the data."""
    names: dict[str, Any] = {"__name__": "probe", "np": np}
    exec(_compiled(source, name), names)
    return names[name](ns, **data)


@functools.lru_cache(maxsize=256)
def _compiled(source: str, name: str) -> types.CodeType:
    """Kept: an assignment has few probes, which are asked a hundred times, and replayed with every known mistake."""
    return compile("from __future__ import annotations\n" + source, f"<probe {name}>", "exec")


def build_tensor(tensor: wire.Tensor) -> Any:
    """A framework's tensor from data, made here because only this process has the framework loaded."""
    if tensor.framework == "torch":
        import torch

        made = torch.from_numpy(tensor.array.copy()).to(getattr(torch, tensor.dtype)).to(tensor.device)
        return made.requires_grad_(tensor.requires_grad) if tensor.requires_grad else made
    import tensorflow as tf

    return tf.cast(tf.constant(tensor.array), tensor.dtype)


def student_line(error: BaseException) -> str:
    """`line 3 of the cell: y = x / 0`: the innermost line of the student's cells in the traceback, or nothing.

    From a kernel `/ipykernel_0/notebook_cell_7.py:3: y = x / 0`; its client knows which cell that was.
    """
    found = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        # Where the judge tries a solution itself, its cells are `<reference NAME>`.
        if _is_cell(frame.f_code.co_filename) or frame.f_code.co_filename.startswith("<reference "):
            found = _line(frame.f_code.co_filename, number, linecache.getline(frame.f_code.co_filename, number))
    text = wire.safe_text(error)
    for filename, number, source in _LINE.findall(text) if text.startswith(_TRACED) else ():
        if _is_cell(filename):
            found = _line(filename, number, source)
    return found


def error_text(error: BaseException) -> str:
    """Its message, without the tracebacks with paths of this machine that TensorFlow writes into it."""
    text = wire.safe_text(error)
    if text.startswith("Graph execution error:"):  # of a graph: where the node was made, "Node: NAME", what happened
        text = text.partition("\nNode: ")[2].partition("\n")[2].partition("\n\nOriginal stack trace")[0] or text
    if text.startswith(_TRACED):
        text = text.rpartition(f"\n    {type(error).__name__}: ")[2].strip()
    return text[:2000]


_TRACED = "in user code:"
"""how TensorFlow's message begins when the function that it traces raised; the traceback follows as text"""
_LINE = re.compile(r'File "([^"\n]+)", line (\d+), in .*\n(.*)')


def _is_cell(filename: str) -> bool:
    """ipykernel files cells under names of its own; a probe or a library is not the student's line."""
    return "ipykernel" in filename or filename.startswith("<ipython-input")


def _line(filename: str, number: int | str, source: str) -> str:
    where = f"{filename}:{number}" if _is_cell(filename) else f"line {number} of the cell"
    return f"{where}: {source.strip()}"[:300]
