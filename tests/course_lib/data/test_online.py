"""Downloads: checked, continued where they broke off, and refused in one sentence. The server is on this machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
import re
import struct
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib.data import online

CONTENT = bytes(range(256)) * 1000


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


MD5 = _md5(CONTENT)


class Shelf(BaseHTTPRequestHandler):
    """/whole knows no ranges, /ranges does, /breaks ends early, /wrong sends something else."""

    asked: list[str] = []  # noqa: RUF012 - emptied by the fixture

    def do_GET(self) -> None:
        begin = int((re.findall(r"\d+", self.headers.get("Range", "")) or [0])[0])
        self.asked.append(f"{self.path} {begin}")
        if self.path == "/away":
            self.send_error(404, "Not Found")
            return
        if self.path == "/ranges" and begin >= len(CONTENT):
            self.send_error(416)
            return
        body = CONTENT[begin:] if self.path in ("/ranges", "/breaks") else CONTENT
        self.send_response(206 if begin and self.path in ("/ranges", "/breaks") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = {"/breaks": body[:100_000], "/wrong": body[::-1]}.get(self.path, body)
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _served(handler: Any) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def url() -> Iterator[str]:
    Shelf.asked.clear()
    with _served(Shelf) as address:
        yield address


def test_a_file_is_downloaded_once_with_progress(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = online.fetch([f"{url}/whole"], tmp_path / "new" / "file.gz", MD5)
    assert path.read_bytes() == CONTENT
    assert capsys.readouterr().out.endswith("file.gz: 100% of 0.3 MB\n")
    online.fetch([f"{url}/whole"], path, MD5)
    assert Shelf.asked == ["/whole 0"] and capsys.readouterr().out == ""


def test_a_download_that_broke_off_is_continued(url: str, tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    with pytest.raises(online.DownloadFailed, match=r"broke after|IncompleteRead|more expected"):
        online.fetch([f"{url}/breaks"], path, MD5)
    assert not path.exists() and (tmp_path / "file.gz.part").stat().st_size == 100_000
    assert online.fetch([f"{url}/ranges"], path, MD5).read_bytes() == CONTENT
    assert Shelf.asked == ["/breaks 0", "/ranges 100000"]
    assert [p.name for p in tmp_path.iterdir()] == ["file.gz"]


@pytest.mark.parametrize(("there", "content", "page"), [
    ("file.gz.part", CONTENT[:500], "whole"),  # the server knows no ranges, and sends it all again
    ("file.gz.part", CONTENT, "ranges"),  # whole already
    ("file.gz", b"damaged", "whole"),
], ids=["a part", "the whole", "damaged"])  # fmt: skip
def test_what_lies_there_already_is_completed_taken_or_replaced(
    url: str, tmp_path: Path, there: str, content: bytes, page: str
) -> None:
    (tmp_path / there).write_bytes(content)
    assert online.fetch([f"{url}/{page}"], tmp_path / "file.gz", MD5).read_bytes() == CONTENT


def test_a_wrong_file_is_thrown_away_and_the_next_address_tried(url: str, tmp_path: Path) -> None:
    path = online.fetch([f"{url}/away", f"{url}/wrong", f"{url}/whole"], tmp_path / "file.gz", MD5)
    assert path.read_bytes() == CONTENT
    assert Shelf.asked == ["/away 0", "/wrong 0", "/whole 0"]


def test_a_failure_is_one_sentence_with_the_reason_and_the_way_out(url: str, tmp_path: Path) -> None:
    with pytest.raises(online.DownloadFailed) as failed:
        online.fetch([f"{url}/away", "http://127.0.0.1:9/nobody", f"{url}/wrong"], tmp_path / "file.gz", MD5)
    said = str(failed.value)
    assert said.startswith("file.gz could not be downloaded (Not Found; ")
    assert said.endswith("not the file that was expected); use the shipped data instead.") and "\n" not in said
    assert isinstance(failed.value, OSError)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_torchvision_still_says_where_the_files_are(name: str) -> None:
    datasets = pytest.importorskip("torchvision.datasets")
    source = getattr(datasets, name)
    assert source.mirrors and all(len(md5) == 32 for _, md5 in source.resources) and len(source.resources) == 4
    assert datasets.CIFAR10.url.endswith(datasets.CIFAR10.filename) and len(datasets.CIFAR10.tgz_md5) == 32


def _tiny_mnist(shelf: Path) -> list[tuple[str, str]]:
    """In MNIST's own format: two zero bytes, the type (8: bytes), the number of axes, their lengths, the values."""
    resources = []
    for name, count in {"train": 3, "t10k": 2}.items():
        images, labels = np.random.default_rng(0).integers(0, 256, (count, 28, 28)), np.arange(count)
        for kind, array in {"images-idx3": images, "labels-idx1": labels}.items():
            head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            content, file = gzip.compress(head + array.astype(np.uint8).tobytes()), f"{name}-{kind}-ubyte.gz"
            (shelf / file).write_bytes(content)
            resources.append((file, _md5(content)))
    return resources


def _tiny_cifar(shelf: Path) -> tuple[str, dict[str, str]]:
    pixels, buffer, sums = np.zeros((2, 3072), np.uint8), io.BytesIO(), {}
    batches = [f"data_batch_{k}" for k in range(1, 6)] + ["test_batch"]
    held: dict[str, Any] = {name: {"data": pixels, "labels": [0, 1]} for name in batches}
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in (held | {"batches.meta": {"label_names": ["cat", "dog"]}}).items():
            member, stored = tarfile.TarInfo(f"cifar-10-batches-py/{name}"), pickle.dumps(content)
            member.size, sums[name] = len(stored), _md5(stored)
            archive.addfile(member, io.BytesIO(stored))
    (shelf / "cifar-10-python.tar.gz").write_bytes(buffer.getvalue())
    return _md5(buffer.getvalue()), sums


@pytest.mark.slow
def test_mnist_and_cifar_10_come_in_one_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("torchvision.datasets")
    archive, sums = _tiny_cifar(tmp_path)
    pairs = [list(pair) for pair in sums.items()]
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with _served(partial(handler, directory=str(tmp_path))) as address:
        mnist = {"mirrors": [f"{address}/"], "resources": _tiny_mnist(tmp_path)}
        cifar = {"url": f"{address}/cifar-10-python.tar.gz", "tgz_md5": archive}
        cifar |= {"train_list": pairs[:5], "test_list": pairs[5:6]}
        cifar |= {"meta": {"filename": "batches.meta", "key": "label_names", "md5": sums["batches.meta"]}}
        for source, settings in ((datasets.MNIST, mnist), (datasets.CIFAR10, cifar)):
            for name, value in settings.items():
                monkeypatch.setattr(source, name, value)
        found = [load(tmp_path / "reader") for load in (online.mnist, online.cifar10)]
    parts = [(split.x_train, split.y_train, split.x_test, split.y_test) for split in found]
    shapes = [[(3, 28, 28), (3,), (2, 28, 28), (2,)], [(10, 3, 32, 32), (10,), (2, 3, 32, 32), (2,)]]
    assert [[a.shape for a in part] for part in parts] == shapes
    assert [[str(a.dtype) for a in part] for part in parts] == [["float32", "int64"] * 2] * 2
