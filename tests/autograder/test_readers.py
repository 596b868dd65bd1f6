"""What reads a file or a message that others wrote takes any bytes: it answers, or says no in the way it promises.

Valid bytes are edited, since random ones get no further than the first check. Each example is held to seconds of
computing, and each test to megabytes of memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import resource
import socket
import struct
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from autograder.errors import BadReply, CannotWrite, WrongUse
from autograder.gradebook.exports import FORMS, export, read_results
from autograder.protocol.frames import Reader, pack, receive
from autograder.protocol.wire import Handle, RaisedError, Tensor, decode, encode
from autograder.records import Report, from_data, to_data
from autograder.runs.journal import Journal
from autograder.runs.run import _old_results, _scores
from autograder.submissions.intake import find_submissions
from autograder.submissions.repair import Unreadable, read_notebook
from tests import sampling
from tests.autograder.runs.test_journal import entry

MOST_S, MOST_BYTES = 5, 256 << 20
EXAMPLES = {"check": 1, "test": 4, "all": 100}[sampling.size]
TOKENS = [*'{["],:\0', "null", "-1", "1e999", "NaN", "9" * 400, "9" * 5000, "[" * 3000, "\\ud800"]
BYTES = [token.encode() for token in TOKENS] + [b"\xff\xfe", b"\xff" * 4, b"PK\x01\x02", struct.pack("<I", 1 << 30)]


def fuzz(examples: int) -> Any:
    """`examples` of a hundred; fewer in a smaller test run."""
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=max(5, examples * EXAMPLES), deadline=None, suppress_health_check=quiet)


def edited(whole: bytes) -> st.SearchStrategy[bytes]:
    """`whole` with some pieces replaced: by a few bytes, by what has a meaning somewhere, or by another piece of it."""
    place = st.integers(0, len(whole))
    piece = st.binary(max_size=6) | st.sampled_from(BYTES) | place.map(lambda at: whole[at : at + 60])
    edits = st.lists(st.tuples(place, st.integers(0, 12), piece), min_size=1, max_size=6)
    return edits.map(lambda chosen: _apply(whole, chosen)) | place.map(lambda at: whole[:at])


def _apply(whole: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, dropped, put in edits:
        whole = whole[:at] + put + whole[at + dropped :]
    return whole


@contextlib.contextmanager
def seconds() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < MOST_S


@pytest.fixture(autouse=True)
def megabytes() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < MOST_BYTES


def cell(source: str, kind: str = "code", grade_id: str = "f") -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id, "points": 1}, "tags": ["a"]}
    return {"cell_type": kind, "source": source, "metadata": metadata, "outputs": []}


NOTEBOOK = json.dumps(
    {"cells": [cell("x = 1  # é\n"), cell("text", "markdown", "g")], "nbformat": 4, "metadata": {}}, ensure_ascii=False
)


@fuzz(40)
@given(edited(NOTEBOOK.encode()) | edited(NOTEBOOK.encode("utf-16")))
def test_a_notebook_is_read_or_unreadable(data: bytes) -> None:
    with seconds(), contextlib.suppress(Unreadable):
        for one in read_notebook(data).cells:
            one.source.encode()


def packed(*names: str) -> bytes:
    """A zip of the files of some students: packed and stored, and a folder."""
    with zipfile.ZipFile(into := io.BytesIO(), "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, NOTEBOOK, 8 * (number % 2))
        archive.mkdir("zoe")
    return into.getvalue()


@pytest.mark.slow
@fuzz(8)
@given(data=edited(packed("ada/little.ipynb", "bob/little/little.ipynb", "cyd.ipynb", "../dan.ipynb")))
def test_a_zip_is_a_class_or_cannot_be_opened(little: Any, tmp_path: Path, data: bytes) -> None:
    assignment, path = little.load(), tmp_path / "class.zip"
    path.write_bytes(data)
    with seconds(), contextlib.suppress(WrongUse):
        for student in find_submissions(path, assignment).students:
            student.digests()
            json.dumps(to_data(student.read(assignment))).encode()
            for name in student.files:
                with contextlib.suppress(OSError):
                    list(student.pieces(name))
    assert list(tmp_path.glob("*.ipynb")) == []


VALUE = [1.5, {"a": (2**70, None, True), 3: {"set"}}, np.ones((2, 3)), np.float32(1), b"bytes", 1j, "é"]
VALUE += [Handle(3, "T"), RaisedError("E", "no"), Tensor(np.ones(2), "torch", "bfloat16", strides=(1,)), float("nan")]
TREE, BUFFERS = encode(VALUE)


@fuzz(60)
@given(edited(json.dumps(TREE).encode()), st.integers(0, len(BUFFERS)))
def test_a_reply_is_a_value_or_a_bad_reply(text: bytes, came: int) -> None:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return
    with seconds(), contextlib.suppress(BadReply):
        encode(decode(tree, BUFFERS[:came]))


@fuzz(60)
@example(pack({}).replace(b"blobs", b"blobz"), 1)
@example(struct.pack(">Q", 1) + b"0", 1)
@example(struct.pack(">Q", 3000) + b"[" * 3000, 50)
@example(pack({}, (b"",)).replace(b"0]", b"-1]").replace(b"\x0e{", b"\x0f{"), 1)
@given(edited(pack({"a": 1}, (b"blob", b"")) + pack({"b": [None]}, (b"x",))), st.integers(1, 50))
def test_a_stream_is_messages_or_no_language_of_ours(sent: bytes, size: int) -> None:
    with seconds():
        reader, read = Reader(), []
        with contextlib.suppress(ValueError):
            for at in range(0, len(sent), size):
                read += reader.feed(sent[at : at + size])
        ours, theirs = socket.socketpair()
        with ours, theirs, contextlib.suppress(ValueError, EOFError):
            theirs.sendall(sent[: 1 << 15])
            theirs.shutdown(socket.SHUT_WR)
            received = [receive(ours, 1 << 20) for _ in read]
            assert len(sent) > 1 << 15 or received == read


ENTRY = entry("bob")
LINES = b"".join(
    json.dumps({k: to_data(getattr(one, k)) for k in ("key", "report", "submission")}).encode() + b"\n"
    for one in (entry("ann"), ENTRY)
)


@fuzz(10)
@given(data=edited(LINES))
@example(LINES.replace(b'"score": 1.0', b'"score": ' + b"9" * 400))
def test_a_journal_is_read_as_far_as_it_is_whole_and_goes_on(tmp_path: Path, data: bytes) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_bytes(data)
    with seconds():
        journal.entries()
        journal.add(entry("new"))
        assert journal.entries()["key-new"] == entry("new")


def results(*reports: Report) -> bytes:
    run = {"finished": "2026-03-01T12:00:00+00:00"}
    entries = [to_data(report) for report in reports]
    return json.dumps({"version": 1, "assignment": "a1", "run": run, "submissions": entries}).encode()


ANN = dataclasses.replace(ENTRY.report, student="=ann", reason="\ud800")


@fuzz(40)
@example(results(ANN).replace(b'"score": 1.0', b'"score": ' + b"9" * 400))
@example(results(ANN).replace(b'"score": 1.0', b'"score": "1"'))
@example(results(ANN).replace(b'"notebook": "', b'"notebook": "\\ud800'))
@example(results(ANN).replace(b"2026-03-01T12:00:00+00:00", b"../outside"))
@example(b"[" * 3000)
@given(data=edited(results(ENTRY.report, ANN)))
def test_results_are_read_and_exported_or_are_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "results.json").write_bytes(data)
    with seconds():
        with contextlib.suppress(WrongUse):
            old = _old_results(tmp_path / "results.json")
            assert ".." not in old["run"]["finished"] and "/" not in old["run"]["finished"]
            sorted(_scores(old)), [f"{score:g}" for score in _scores(old).values()]
        with contextlib.suppress(WrongUse):
            assert [from_data(Report, to_data(one.report)) for one in read_results(tmp_path)[1]]
            for form in FORMS:
                with contextlib.suppress(CannotWrite):
                    export(tmp_path, form, tmp_path / form)
