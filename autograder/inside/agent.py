"""Answer the judge beside the student's code: run a probe in the student's namespace and send back data.

Everything here can be patched by the student. So nothing here decides anything: a reply is a claim, and the judge
compares the values in it with its own.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import time
import traceback
from typing import Any

import numpy as np

from autograder.errors import BadReply
from autograder.inside import wire
from autograder.inside.settings import settings_kept
from autograder.inside.trace import counted

MAX_PRINTED = 64 << 10


class Namespace:
    """The student's names as attributes: `ns.train(...)`; what a probe gets as its first argument."""

    def __init__(self, names: dict[str, Any]) -> None:
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined") from None

    def keep(self, value: Any) -> wire.Kept:
        """Let `value` outlive the call as an opaque handle, until the judge releases it."""
        return wire.Kept(value)


class Agent:
    """Holds the kept objects of one kernel and runs probes."""

    def __init__(self, names: dict[str, Any], reply_bytes: int | None = None) -> None:
        """`reply_bytes`: the receiver drops a reply that is larger, so a larger one is refused here, with a reason."""
        self.names = names
        self.reply_bytes = reply_bytes
        self.kept: dict[int, Any] = {}
        self.count = 0

    def answer(self, request: dict[str, Any], buffers: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Run one request; return the reply's content and buffers. Student exceptions become part of the reply."""
        if "release" in request:
            for number in request["release"]:
                self.kept.pop(number, None)
            return {"status": "ok", "value": None, "after": None, "printed": "", "seconds": 0.0}, []
        printed = _Bounded()
        start = time.perf_counter()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                content, out = self._run(request, buffers)
        except KeyboardInterrupt:
            content, out = {"status": "interrupted"}, []
        except BadReply as error:
            content, out = {"status": "unusable", "text": str(error)[:2000]}, []
        except BaseException as error:
            content, out = _raised(error), []
        content.update(printed=printed.text(), seconds=time.perf_counter() - start)
        return content, out

    def _run(self, request: dict[str, Any], buffers: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        data = wire.decode(request["data"], buffers, resolve=self._resolve, build=build_tensor)
        with settings_kept(), counted(request.get("watch", ())) as operations:
            value = run_probe(request["source"], request["name"], Namespace(self.names), data)
        # One encoder for both: the arguments after the call show what the student's code changed in place.
        tree, out = wire.encode((value, _without_handles(data)), keep=self._keep, max_bytes=self.reply_bytes)
        value, after = tree["tuple"]
        return {"status": "ok", "value": value, "after": after, "operations": operations}, out

    def _keep(self, value: Any) -> wire.Handle:
        self.count += 1
        self.kept[self.count] = value
        return wire.Handle(self.count, type(value).__name__)

    def _resolve(self, handle: wire.Handle) -> Any:
        try:
            return self.kept[handle.number]
        except KeyError:
            raise BadReply("the object behind a handle is gone") from None


def run_probe(source: str, name: str, ns: Namespace, data: dict[str, Any]) -> Any:
    """Define the probe `name` from its `source` and call it with the student's namespace and the data."""
    filename = f"<probe {name}>"
    names: dict[str, Any] = {"__name__": "probe", "np": np}
    exec(compile("from __future__ import annotations\n" + source, filename, "exec"), names)
    return names[name](ns, **data)


def build_tensor(tensor: wire.Tensor) -> Any:
    """A framework's tensor from data, made here because only this process has the framework loaded."""
    if tensor.framework == "torch":
        import torch

        made = torch.from_numpy(tensor.array.copy()).to(getattr(torch, tensor.dtype)).to(tensor.device)
        return made.requires_grad_(tensor.requires_grad) if tensor.requires_grad else made
    import tensorflow as tf

    return tf.cast(tf.constant(tensor.array), tensor.dtype)


def _without_handles(data: dict[str, Any]) -> dict[str, Any]:
    """The arguments that can be shown again: kept objects have no data form."""
    plain = {}
    for name, value in data.items():
        try:
            wire.encode(value)
        except BadReply:
            continue
        plain[name] = value
    return plain


def _raised(error: BaseException) -> dict[str, Any]:
    text = wire.safe_text(error)[:2000]
    return {"status": "raised", "type": type(error).__name__[:200], "text": text, "line": student_line(error)}


def student_line(error: BaseException) -> str:
    """`line 3: y = x / 0`: the innermost line of the student's cells in the traceback, or nothing."""
    found = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        filename = frame.f_code.co_filename
        # ipykernel files cells under its own temporary names; a probe or a library is not the student's line.
        if "ipykernel" in filename or filename.startswith("<ipython-input"):
            source = linecache.getline(filename, number).strip()
            found = f"line {number} of the cell: {source}"[:300]
    return found


class _Bounded(io.TextIOBase):
    """Keeps the first part of what is printed and counts the rest, so that a flood costs no memory."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        room = MAX_PRINTED - self.size
        if room > 0:
            self.parts.append(text[:room])
        self.size += len(text)
        return len(text)

    def text(self) -> str:
        cut = self.size - MAX_PRINTED
        return "".join(self.parts) + (f"\n[... {cut} more characters]" if cut > 0 else "")
