"""Figures that a student's cell displayed: PNG alone, taken apart and put together again, so that nothing else gets in.

A file is read here by its chunks (PNG specification, third edition, section 5) and never decoded by a library in C: the
pixels are only inflated, and counted. What comes out draws the picture and holds nothing besides: no text, no
animation, no bytes behind the end, no size that a browser would choke on.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator

MOST_BYTES = 400_000
"""of one figure; matplotlib's of 6.4 x 4.8 inches have 10,000 to 100,000"""
MOST_PIXELS = 4_000_000

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DRAWS = (b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"IDAT", b"IEND")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""color type -> samples for each pixel"""


def checked_figure(data: object) -> str:
    """The PNG that a message of the kernel holds (base64), rebuilt, as base64; empty where it is none, or too large."""
    if not isinstance(data, str) or len(data) > 2 * MOST_BYTES:
        return ""
    try:
        chunks = list(_chunks(base64.b64decode(data)))
        if chunks[0][0] != b"IHDR" or chunks[-1] != (b"IEND", b"") or not _is_drawn(chunks):
            return ""
    except (ValueError, binascii.Error, zlib.error, struct.error, IndexError):
        return ""
    rebuilt = _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return base64.b64encode(rebuilt).decode() if len(rebuilt) <= MOST_BYTES else ""


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and body of those that draw, up to the end of the image."""
    if not png.startswith(_SIGNATURE):
        raise ValueError("no PNG")
    place, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        size, kind = struct.unpack_from(">I4s", png, place)
        body = png[place + 8 : place + 8 + size]
        if len(body) != size:
            raise ValueError("cut off")
        if kind in _DRAWS:
            yield kind, body
        elif kind[0] & 0x20 == 0:
            raise ValueError("a critical chunk that is not in the specification")
        place += size + 12


def _is_drawn(chunks: list[tuple[bytes, bytes]]) -> bool:
    """Whether the pixels are as many as the header says: no more, which would be a bomb, and no fewer."""
    if [kind for kind, _ in chunks].count(b"IHDR") != 1:
        return False
    width, height, depth, color, *methods = struct.unpack(">IIBBBBB", chunks[0][1])
    if not 0 < width * height <= MOST_PIXELS or color not in _CHANNELS or depth not in (1, 2, 4, 8, 16) or any(methods):
        return False  # an interlaced one too, which nothing in a notebook makes
    row = 1 + (width * depth * _CHANNELS[color] + 7) // 8
    inflate = zlib.decompressobj()
    pixels = inflate.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"), row * height + 1)
    return len(pixels) == row * height and max(pixels[::row]) <= 4  # each row begins with its filter's number, 0 to 4
