"""MNIST, FashionMNIST and CIFAR-10, for readers with a network; in the form of the shipped data.

A download can be interrupted and goes on where it stopped. Every file is checked before use. torchvision, which knows
the addresses and the formats, is imported at the first call.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.data.digits import ImageSplit

__all__ = ["DownloadFailed", "cifar10", "fashion_mnist", "fetch", "mnist"]

CHUNK = 1 << 16
PATIENCE_S = 30.0


class DownloadFailed(OSError):
    """A file could not be had; the message says which and what to do."""


def mnist(folder: str | Path = "downloads") -> ImageSplit:
    """60 000 and 10 000 handwritten digits, 28 x 28, ten classes, in the form of `load_digits`.

    Downloads what `folder` lacks, about 12 MB. Raises DownloadFailed without a network.
    """
    return _gray("MNIST", Path(folder))


def fashion_mnist(folder: str | Path = "downloads") -> ImageSplit:
    """As `mnist`, with photographs of clothes; about 31 MB."""
    return _gray("FashionMNIST", Path(folder))


def cifar10(folder: str | Path = "downloads") -> ImageSplit:
    """50 000 and 10 000 color photographs, `(n, 3, 32, 32)`, otherwise as `mnist`; about 170 MB."""
    from torchvision import datasets

    source = datasets.CIFAR10
    fetch([source.url], Path(folder) / source.filename, source.tgz_md5)
    train, test = (source(folder, train=train, download=True) for train in (True, False))
    return _split(train.data.transpose(0, 3, 1, 2), train.targets, test.data.transpose(0, 3, 1, 2), test.targets)


def _gray(name: str, folder: Path) -> ImageSplit:
    from torchvision import datasets

    source = getattr(datasets, name)
    for file, md5 in source.resources:
        fetch([mirror + file for mirror in source.mirrors], folder / name / "raw" / file, md5)
    train, test = (source(folder, train=train, download=True) for train in (True, False))
    return _split(train.data.numpy(), train.targets, test.data.numpy(), test.targets)


def _split(x_train: Any, y_train: Any, x_test: Any, y_test: Any) -> ImageSplit:
    def images(pixels: Any) -> Any:
        return np.ascontiguousarray(pixels, np.float32) / 255

    return ImageSplit(images(x_train), np.asarray(y_train, np.int64), images(x_test), np.asarray(y_test, np.int64))


def fetch(urls: Sequence[str], path: Path, md5: str) -> Path:
    """Have the file at `path` with this checksum: already there, or from the first of `urls` that gives it.

    What is there in part is completed, in `path` with `.part` added. Prints one line of progress for each file. Raises
    DownloadFailed.
    """
    if path.is_file() and _md5(path) == md5:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    reasons = []
    for url in urls:
        try:
            _continue(url, part)
        except (OSError, http.client.HTTPException) as error:
            reasons.append(str(getattr(error, "reason", error)))
            continue
        if _md5(part) == md5:
            part.replace(path)
            return path
        part.unlink()
        reasons.append("not the file that was expected")
    raise DownloadFailed(f"{path.name} could not be downloaded ({'; '.join(reasons)}); use the shipped data instead.")


def _continue(url: str, part: Path) -> None:
    """Append to `part` what it lacks, or start it again where the server sends the whole file."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=PATIENCE_S)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is missing
            return
        raise
    with answer:
        goes_on = answer.status == 206
        done = have if goes_on else 0
        total = done + int(answer.headers.get("Content-Length") or 0)
        with part.open("ab" if goes_on else "wb") as file:
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                done += len(chunk)
                share = f"{done / total:4.0%} of " if total else ""
                print(f"\r{part.stem}: {share}{max(total, done) / 1e6:.1f} MB", end="", flush=True)
    print()
    if done < total:
        raise OSError(f"the connection broke after {done} of {total} bytes")


def _md5(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
