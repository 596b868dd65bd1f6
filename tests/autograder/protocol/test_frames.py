"""What our processes say to each other arrives whole, or is known not to have."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.protocol.frames import MAX_MESSAGE, MAX_REQUEST, Reader, pack, receive, send

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, other = socket.socketpair()
    yield one, other
    one.close()
    other.close()


WORDS = st.text(max_size=10)


@given(st.dictionaries(WORDS, st.integers() | WORDS | st.lists(st.booleans())), st.lists(st.binary(max_size=99)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_and_their_blobs_come_back_as_they_were(
    pair: Pair, message: dict[str, Any], blobs: list[bytes]
) -> None:
    message.pop("blobs", None)
    send(pair[0], message, tuple(blobs))
    assert receive(pair[1]) == (message, blobs)


def test_large_blobs_and_several_messages_keep_their_order(pair: Pair) -> None:
    big = bytes(range(256)) * 40_000
    writer = threading.Thread(target=lambda: [send(pair[0], {"n": n}, (big, b"", bytes([n]))) for n in range(3)])
    writer.start()
    for n in range(3):
        assert receive(pair[1]) == ({"n": n}, [big, b"", bytes([n])])
    writer.join()


def test_text_that_no_file_could_hold_can_be_said(pair: Pair) -> None:
    send(pair[0], {"text": "\ud800 ä \0"})
    assert receive(pair[1])[0] == {"text": "\ud800 ä \0"}


@pytest.mark.parametrize(
    "sent", [b"", b"\0" * 5, struct.pack(">Q", 10) + b"{}", struct.pack(">Q", 14) + b'{"blobs": [5]}x']
)
def test_an_end_in_the_middle_of_a_message_is_known(pair: Pair, sent: bytes) -> None:
    pair[0].sendall(sent)
    pair[0].close()
    with pytest.raises(EOFError):
        receive(pair[1])


def test_what_is_impossibly_large_or_not_our_language_is_refused(pair: Pair) -> None:
    pair[0].sendall(struct.pack(">Q", MAX_MESSAGE + 1))
    with pytest.raises(ValueError, match="impossible size"):
        receive(pair[1])
    pair[0].sendall(struct.pack(">Q", 3) + b"abc")
    with pytest.raises(json.JSONDecodeError):
        receive(pair[1])
    with pytest.raises(ValueError, match="impossible size"):
        Reader().feed(struct.pack(">Q", MAX_REQUEST + 1))
    with pytest.raises(json.JSONDecodeError):
        Reader().feed(struct.pack(">Q", 3) + b"abc")


@given(
    st.lists(st.tuples(st.dictionaries(WORDS, WORDS), st.lists(st.binary(max_size=9))), max_size=5),
    st.integers(min_value=1, max_value=40),
)
def test_a_reader_gives_the_same_messages_however_they_are_cut(
    messages: list[tuple[dict[str, Any], list[bytes]]], size: int
) -> None:
    for message, _ in messages:
        message.pop("blobs", None)
    sent = b"".join(pack(message, tuple(blobs)) for message, blobs in messages)
    reader, found = Reader(), []
    for start in range(0, len(sent), size):
        found += reader.feed(sent[start : start + size])
    assert found == messages


def test_a_head_that_would_take_long_to_read_is_refused_where_the_other_end_is_not_ours() -> None:
    many = pack({"x": [0] * 100})
    assert Reader().feed(many) == [({"x": [0] * 100}, [])]
    with pytest.raises(ValueError, match="impossible length"):
        Reader(most_marks=100).feed(many)


def test_from_a_pipe_no_byte_more_than_the_message_is_read() -> None:
    out, into = os.pipe()
    os.write(into, pack({"setup": 1}) + b"rest")
    assert receive(out) == ({"setup": 1}, [])
    assert os.read(out, 100) == b"rest"
    os.close(into)
    with pytest.raises(EOFError):
        receive(out)
    os.close(out)
