"""Length-prefixed JSON and bytes: how the run, its judges, the zygotes, the supervisors and the kernels talk.

8 bytes: length of the head | head: JSON with the lengths of the blobs | blob | blob ...

All ends are ours but the kernel's, in whose process the student's code can write what it likes.
"""

from __future__ import annotations

import json
import math
import os
import socket
import struct
from collections.abc import Generator
from typing import Any

MAX_MESSAGE = 1 << 30
MAX_REQUEST = 1 << 20
"""for requests, orders and news, which carry no files"""
MAX_MARKS = 3_000_000
"""commas and opening brackets in what comes from a student's process: `wire.MAX_VALUES` arrays with all that is said of
them; more would be a minute's work for the parser"""

CALLS = "k-6"
"""name of the socket on which a kernel answers calls, beside its connection file; Jupyter's own end in 1 to 5"""

Message = tuple[dict[str, Any], list[bytes]]


def pack(message: dict[str, Any], blobs: tuple[bytes, ...] = ()) -> bytes:
    """One message with its blobs, as it travels."""
    text = json.dumps({**message, "blobs": [len(b) for b in blobs]}, ensure_ascii=False)
    head = text.encode("utf-8", "surrogatepass")  # so any text can travel, at its own size
    return struct.pack(">Q", len(head)) + head + b"".join(blobs)


def send(connection: socket.socket, message: dict[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
    """Send one message with its blobs."""
    connection.sendall(pack(message, blobs))


def receive(connection: socket.socket | int, limit: int = MAX_MESSAGE) -> Message:
    """The next message from a socket or a file descriptor, and no byte more.

    Raises EOFError if the other end has gone, ValueError if it does not speak this language.
    """
    parser = _parse(limit)
    size = next(parser)
    while True:
        try:
            size = parser.send(_read_exactly(connection, size))
        except StopIteration as whole:
            return whole.value


class Reader:
    """Makes messages of what arrives in pieces, for loops that cannot wait for the rest of one."""

    def __init__(self, limit: int = MAX_REQUEST, most_marks: float = math.inf) -> None:
        """limit: bytes of a head, and of a message's blobs together. most_marks: in a head, see `marks`."""
        self._limits = limit, most_marks
        self._buffer = bytearray()
        self._parser = _parse(*self._limits)
        self._wanted = next(self._parser)

    def feed(self, piece: bytes) -> list[Message]:
        """The messages that `piece` completes. Raises ValueError if the other end does not speak this language."""
        self._buffer += piece
        messages = []
        while len(self._buffer) >= self._wanted:
            part = bytes(self._buffer[: self._wanted])
            del self._buffer[: self._wanted]
            try:
                self._wanted = self._parser.send(part)
            except StopIteration as whole:
                messages.append(whole.value)
                self._parser = _parse(*self._limits)
                self._wanted = next(self._parser)
        return messages


def marks(*texts: bytes) -> int:
    """The commas and opening brackets in JSON that has not been read: what its parser has to do."""
    return sum(text.count(mark) for text in texts for mark in (b",", b"[", b"{"))


def _parse(limit: int, most_marks: float = math.inf) -> Generator[int, bytes, Message]:
    """Yields how many bytes it needs next, is sent them, and returns the message."""
    (size,) = struct.unpack(">Q", (yield 8))
    if size > limit:
        raise ValueError("a message of impossible size")
    head = yield size
    if marks(head) > most_marks:
        raise ValueError("a message of impossible length")
    try:
        message = json.loads(head)
    except RecursionError as error:
        raise ValueError("a message of impossible depth") from error
    lengths = message.pop("blobs", None) if isinstance(message, dict) else None
    if not isinstance(lengths, list) or not all(type(n) is int and n >= 0 for n in lengths) or sum(lengths) > limit:
        raise ValueError("a message of impossible blobs")
    blobs = []
    for length in lengths:
        blobs.append((yield length))
    return message, blobs


def _read_exactly(connection: socket.socket | int, size: int) -> bytes:
    parts, left = [], size
    while left:
        most = min(left, 1 << 20)
        part = os.read(connection, most) if isinstance(connection, int) else connection.recv(most)
        if not part:
            raise EOFError("the other end has gone")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
