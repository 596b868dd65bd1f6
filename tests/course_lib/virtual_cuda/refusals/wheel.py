"""What is compiled into the installed torch: the constant strings of its libraries, a source for wordings.

A library of Linux is an ELF file; its strings are in the sections whose names begin with `.rodata`.
"""

from __future__ import annotations

import functools
import re
import struct
from pathlib import Path

import torch

FOLDER = Path(torch.__file__).parent / "lib"
LIBRARIES = ("libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so", "libc10.so", "libc10_cuda.so")


@functools.cache
def constants(library: str) -> bytes:
    """The read-only data of a library; nothing if this build has no such library, or not as an ELF file."""
    path = FOLDER / library
    if not path.exists():
        return b""
    with path.open("rb") as file:
        header = file.read(64)
        if header[:5] != b"\x7fELF\x02":
            return b""
        (table,), (size, count, names) = struct.unpack_from("<Q", header, 40), struct.unpack_from("<3H", header, 58)
        file.seek(table)
        sections = [struct.unpack_from("<II4Q", file.read(size)) for _ in range(count)]
        file.seek(sections[names][4])
        titles = file.read(sections[names][5])
        found = b""
        for title, _, _, _, start, length in sections:
            if titles[title:].startswith(b".rodata"):
                file.seek(start)
                found += file.read(length) + b"\0"
    return found


def is_readable() -> bool:
    """Whether the libraries can be read here."""
    return bool(constants("libtorch_cpu.so"))


def says(words: str) -> bool:
    """Whether these words are in any library."""
    return any(words.encode() in constants(library) for library in LIBRARIES)


def methods() -> set[str]:
    """Names of CUDA's generated wrappers, as their checks print them; none in a build without CUDA."""
    return {name.decode() for name in re.findall(rb"(?<=\0)wrapper_CUDA_\w+(?=\0)", constants("libtorch_cuda.so"))}
