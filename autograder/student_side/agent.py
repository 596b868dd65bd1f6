"""Answer the judge beside the student's code: run a probe in the student's namespace and send back data.

Everything here can be patched by the student. So nothing here decides anything: a reply is a claim, and the judge
compares the values in it with its own.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from autograder.errors import BadReply
from autograder.protocol import wire
from autograder.protocol.probes import Namespace, build_tensor, error_text, run_probe, student_line
from autograder.protocol.settings import settings_kept
from autograder.student_side.footprints import Footprints
from autograder.student_side.operation_counts import counted


class Agent:
    """Holds the kept objects of one kernel and runs probes."""

    def __init__(self, names: dict[str, Any], reply_bytes: int | None = None) -> None:
        """`reply_bytes`: the receiver drops a reply that is larger, so a larger one is refused here, with a reason."""
        self.names = names
        self.reply_bytes = reply_bytes
        self.kept: dict[int, Any] = {}
        self.count = 0
        self.footprints: Footprints | None = None

    def answer(self, request: dict[str, Any], buffers: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Run one request; return the reply's content and buffers. Student exceptions become part of the reply."""
        if "release" in request:
            for number in request["release"]:
                self.kept.pop(number, None)
            return {"status": "ok", "value": None, "after": None}, []
        if "forbidden" in request:
            self.footprints = Footprints(request["forbidden"])
            return {"status": "ok", "value": None, "after": None}, []
        if "footprints" in request:
            found = self.footprints.found() if self.footprints else {}
            return {"status": "ok", "value": found, "after": None}, []
        nowhere = _Nowhere()
        try:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                return self._run(request, buffers)
        except KeyboardInterrupt:
            return {"status": "interrupted"}, []
        except BadReply as error:
            return {"status": "unusable", "text": str(error)[:2000]}, []
        except BaseException as error:
            return _raised(error), []

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
    name, text, line = type(error).__name__[:200], error_text(error), student_line(error)
    return {"status": "raised", "type": name, "text": text, "line": line}


class _Nowhere(io.TextIOBase):
    """Takes what is printed while a probe runs: nobody reads it, and a flood must cost no memory."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        return len(text)
