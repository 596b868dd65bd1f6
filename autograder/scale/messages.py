"""Length-prefixed JSON and bytes over a unix socket, between the run and its judges. Both ends are ours."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

MAX_MESSAGE = 1 << 30


def send(connection: socket.socket, message: dict[str, Any], blobs: tuple[bytes, ...] = ()) -> None:
    """Send one message with its blobs."""
    head = json.dumps({**message, "blobs": [len(b) for b in blobs]}).encode()  # ASCII, so any text can travel
    connection.sendall(struct.pack(">Q", len(head)) + head + b"".join(blobs))


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[bytes]]:
    """The next message. Raises EOFError if the other end has gone, ValueError if it does not speak this language."""
    (size,) = struct.unpack(">Q", _exactly(connection, 8))
    if size > MAX_MESSAGE:
        raise ValueError("a message of impossible size")
    message = json.loads(_exactly(connection, size))
    return message, [_exactly(connection, n) for n in message.pop("blobs")]


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts, left = [], size
    while left:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            raise EOFError("the other end has gone")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
