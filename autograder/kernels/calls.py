"""The judge's end of the socket on which a kernel answers calls; `student_side.kernel` has the other end.

Jupyter's own messages would do, but they are signed, passed from thread to thread and followed by others: that was half
of what a call cost. What comes from there is bounded here: in bytes, and in what the parser has to do.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import Any

from autograder.protocol.frames import MAX_MARKS, Message, Reader, pack

PIECE = 1 << 16


class CallChannel:
    """One call at a time; nothing here waits."""

    def __init__(self, path: str, limit: int) -> None:
        """path: of the kernel's socket. limit: bytes of an answer's head, and of its blobs together."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._socket.setblocking(False)
        self._reader = Reader(limit, MAX_MARKS)
        self._unsent = memoryview(b"")
        self._number = 0
        self._answer: Message | None = None
        self.lost_at = 0.0
        """when the other end had gone, or did not keep to the rules"""

    @property
    def lost(self) -> bool:
        """Whether nothing more can be sent or will come."""
        return self.lost_at > 0

    def _lose(self) -> None:
        self.lost_at = self.lost_at or time.monotonic()

    def fileno(self) -> int:
        """For a poller."""
        return self._socket.fileno()

    @property
    def sending(self) -> bool:
        """Whether a part of the question still waits until the kernel reads."""
        return bool(self._unsent) and not self.lost

    def ask(self, request: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Send a request as far as there is room; `send` goes on."""
        self._number += 1
        self._answer = None
        self._unsent = memoryview(pack({"number": self._number, "request": request}, tuple(buffers)))
        self.send()

    def send(self) -> None:
        """Send what there is room for."""
        try:
            while self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._lose()

    def receive(self, most: int) -> int:
        """Take in what has come, about `most` bytes of it; how many they were."""
        taken = 0
        try:
            while taken < most and not self.lost:
                piece = self._socket.recv(PIECE)
                taken += len(piece)
                if not piece:
                    self._lose()
                for message, blobs in self._reader.feed(piece):
                    # With another number it answers an earlier call, which was given up, or none.
                    if message.get("number") == self._number and self._answer is None:
                        self._answer = message, blobs
        except BlockingIOError:
            pass
        except (OSError, ValueError):
            self._lose()
        return taken

    def answer(self) -> tuple[dict[str, Any], list[bytes]] | None:
        """What the last request was answered, once it is whole."""
        if self._answer is None:
            return None
        message, blobs = self._answer
        content = message.get("content")
        return content if isinstance(content, dict) else {}, blobs

    def close(self) -> None:
        """Say nothing more."""
        self._socket.close()
