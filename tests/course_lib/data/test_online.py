"""Downloads: checked, continued where they broke off, and refused in one sentence. The server is on this machine."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from course_lib.data import online

CONTENT = bytes(range(256)) * 1000
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


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


@pytest.fixture
def url() -> Iterator[str]:
    Shelf.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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


def test_a_server_without_ranges_sends_it_all_again(url: str, tmp_path: Path) -> None:
    (tmp_path / "file.gz.part").write_bytes(CONTENT[:500])
    assert online.fetch([f"{url}/whole"], tmp_path / "file.gz", MD5).read_bytes() == CONTENT


def test_a_part_that_is_whole_already_is_taken(url: str, tmp_path: Path) -> None:
    (tmp_path / "file.gz.part").write_bytes(CONTENT)
    assert online.fetch([f"{url}/ranges"], tmp_path / "file.gz", MD5).read_bytes() == CONTENT


def test_a_wrong_file_is_thrown_away_and_the_next_address_tried(url: str, tmp_path: Path) -> None:
    path = online.fetch([f"{url}/away", f"{url}/wrong", f"{url}/whole"], tmp_path / "file.gz", MD5)
    assert path.read_bytes() == CONTENT
    assert Shelf.asked == ["/away 0", "/wrong 0", "/whole 0"]


def test_a_damaged_file_is_downloaded_again(url: str, tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(b"damaged")
    assert online.fetch([f"{url}/whole"], tmp_path / "file.gz", MD5).read_bytes() == CONTENT


def test_a_failure_is_one_sentence_with_the_reason_and_the_way_out(url: str, tmp_path: Path) -> None:
    with pytest.raises(online.DownloadFailed) as failed:
        online.fetch([f"{url}/away", "http://127.0.0.1:9/nobody", f"{url}/wrong"], tmp_path / "file.gz", MD5)
    said = str(failed.value)
    assert said.startswith("file.gz could not be downloaded (Not Found; ")
    assert said.endswith("not the file that was expected); use the shipped data instead.") and "\n" not in said
    assert isinstance(failed.value, OSError)


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_torchvision_still_says_where_the_files_are(name: str) -> None:
    datasets = pytest.importorskip("torchvision.datasets")
    source = getattr(datasets, name)
    assert source.mirrors and all(len(md5) == 32 for _, md5 in source.resources) and len(source.resources) == 4
    assert datasets.CIFAR10.url.endswith(datasets.CIFAR10.filename) and len(datasets.CIFAR10.tgz_md5) == 32
