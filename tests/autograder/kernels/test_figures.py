"""A figure is kept as the picture it is, and what is more than a picture is not kept."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from autograder.kernels.figures import MOST_BYTES, checked_figure


def png(image: Image.Image, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "png", **options)
    return stream.getvalue()


def picture(mode: str = "RGB", size: tuple[int, int] = (7, 5)) -> Image.Image:
    noise = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    return Image.fromarray(noise, "RGBA").convert(mode)


def kept(data: bytes) -> bytes:
    return base64.b64decode(checked_figure(base64.b64encode(data).decode()))


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def header(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_a_picture_of_any_kind_keeps_its_pixels(mode: str) -> None:
    image = picture("L").convert("I").convert("I;16") if mode == "I;16" else picture(mode)
    found = Image.open(io.BytesIO(kept(png(image))))
    assert found.mode == image.mode and np.array_equal(np.asarray(found), np.asarray(image))


def test_texts_and_bytes_behind_the_end_are_left_out() -> None:
    notes = PngInfo()
    notes.add_text("Comment", "<script>")
    plain, told = png(picture()), png(picture(), pnginfo=notes) + b"<script>"
    assert b"<script>" in told and kept(told) == kept(plain) == plain


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg onload='alert(1)'/>",
        b"GIF89a" + bytes(20),
        png(picture())[:-20],
        png(picture()).replace(b"IDAT", b"IDAX"),
        header(1, 1) + chunk(b"IDAT", zlib.compress(bytes(3))) + chunk(b"IEND", b""),
        header(1, 2) + chunk(b"IDAT", zlib.compress(bytes(2))) + chunk(b"IEND", b""),
        header(1, 1) + chunk(b"IDAT", zlib.compress(b"\x05\x00")) + chunk(b"IEND", b""),
        header(1, 1) + chunk(b"IDAT", b"no zlib") + chunk(b"IEND", b""),
        header(1, 1) + header(1, 1)[8:] + chunk(b"IDAT", zlib.compress(bytes(2))) + chunk(b"IEND", b""),
        header(1, 1) + chunk(b"EVIL", b"") + chunk(b"IDAT", zlib.compress(bytes(2))) + chunk(b"IEND", b""),
        header(0, 1) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b""),
        header(1 << 16, 1 << 16) + chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b""),
        png(picture("RGBA", (400, 400))),
    ],
    ids=[
        *("nothing", "svg", "gif", "cut off", "unknown chunk", "too many pixels", "too few", "unknown filter"),
        *("not compressed", "two headers", "critical chunk", "no width", "too large to show", "too many bytes"),
    ],
)
def test_what_is_no_picture_of_bounded_size_is_not_kept(data: bytes) -> None:
    assert checked_figure(base64.b64encode(data).decode()) == ""


def test_what_is_no_base64_is_not_kept() -> None:
    for data in (None, 3, [], "é", "a", "x" * (3 * MOST_BYTES)):
        assert checked_figure(data) == ""
