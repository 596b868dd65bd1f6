"""Look into folders and zips that strangers filled, without ever opening what is not a plain file.

Both are seen as trees of entries. A folder is walked by file descriptors that follow no link, so that nothing can be
swapped for a link between the look and the opening; a zip is read in memory and never extracted.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import stat
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Protocol

from autograder.submissions.repair import MAX_NOTEBOOK_BYTES

MAX_FILES = 2_000
"""entries below one student's folder"""
MAX_DEPTH = 12
MAX_LIST_BYTES = 8 << 20
"""the list at the end of a zip, which is read in one piece: about 80,000 files; each costs a kilobyte of memory"""
PIECE_BYTES = 1 << 20

_NOT_FOLLOWED = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
_KINDS = {
    stat.S_IFLNK: "is a symbolic link",
    stat.S_IFIFO: "is a named pipe",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


@dataclass(frozen=True)
class SourceEntry:
    """One file or folder as listed. `parts` is its path below the place that was searched."""

    parts: tuple[str, ...]
    is_folder: bool = False
    size: int = 0
    problem: str = ""
    """why it may not be opened, as a phrase: `is a symbolic link`"""
    identity: tuple[int, int] | None = None
    """device and inode, of a file with several hard links"""
    key: str = ""
    """name inside a zip, as written there"""
    zipped_in: SourceEntry | None = None
    """the student's own zip that it lies in"""

    @property
    def name(self) -> str:
        return self.parts[-1]


class Source(Protocol):
    """A tree of entries."""

    def children(self, parts: tuple[str, ...]) -> list[SourceEntry]:
        """What lies directly in the folder `parts`, sorted by name. OSError if it cannot be listed."""

    def pieces(self, entry: SourceEntry) -> Iterator[bytes]:
        """The bytes of a file, at most `MAX_NOTEBOOK_BYTES`. OSError with a sentence if they cannot be had."""


def files_below(source: Source, folder: SourceEntry, depth: int = MAX_DEPTH) -> list[SourceEntry]:
    """Every file below a folder; what may not or cannot be opened stands there with its problem."""
    found: list[SourceEntry] = []
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        if len(current.parts) - len(folder.parts) > depth:
            return [*found, SourceEntry(current.parts, problem=f"lies more than {depth} folders deep")]
        try:
            children = source.children(current.parts)
        except OSError as error:
            found.append(SourceEntry(current.parts, problem=f"cannot be opened ({error.strerror or error})"))
            continue
        waiting += [child for child in children if child.is_folder]
        found += [child for child in children if not child.is_folder]
        if len(found) + len(waiting) > MAX_FILES:
            return [*found[:MAX_FILES], SourceEntry(folder.parts, problem=f"holds more than {MAX_FILES:,} files")]
    return sorted(found, key=lambda entry: entry.parts)


def files_in_zip(source: Source, entry: SourceEntry) -> list[SourceEntry]:
    """The files in a zip that a student handed in; one that cannot be opened is there itself, with its problem."""
    try:
        with _ListReader(io.BytesIO(b"".join(source.pieces(entry)))) as file, zipfile.ZipFile(file) as archive:
            tree = _tree(archive.infolist())
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or error
        return [replace(entry, parts=(), problem=f"cannot be opened ({said})")]
    files = [replace(file, zipped_in=entry) for children in tree.values() for file in children if not file.is_folder]
    if len(files) > MAX_FILES:
        return [replace(entry, parts=(), problem=f"holds more than {MAX_FILES:,} files")]
    return files


def _pieces_in_zip(source: Source, entry: SourceEntry) -> Iterator[bytes]:
    assert entry.zipped_in is not None
    _refuse_large(entry.name, entry.size)
    packed = io.BytesIO(b"".join(source.pieces(entry.zipped_in)))
    yield from _unpacked(lambda: zipfile.ZipFile(packed), entry)


def _unpacked(archive: Callable[[], zipfile.ZipFile], entry: SourceEntry) -> Iterator[bytes]:
    """The bytes of a file in a zip. OSError with a sentence if they cannot be had."""
    try:
        with archive().open(entry.key) as file:
            yield from _bounded_pieces(file, entry.name)
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise OSError(f"{entry.name} is damaged inside the zip ({error}). Download the zip again") from error


@dataclass(frozen=True)
class Files(Mapping[str, bytes]):
    """Files of one submission by name; each is read when it is asked for. Can be sent to another process."""

    source: Source
    entries: Mapping[str, SourceEntry]

    def __getitem__(self, name: str) -> bytes:
        return b"".join(self.pieces_of(name))

    def pieces_of(self, name: str) -> Iterator[bytes]:
        """The content of one file, never held whole here. OSError with a sentence if it cannot be had."""
        entry = self.entries[name]
        return _pieces_in_zip(self.source, entry) if entry.zipped_in else self.source.pieces(entry)

    @functools.cached_property
    def digests(self) -> Mapping[str, str]:
        """Name -> SHA-256 of the content, hexadecimal; nothing for what cannot be read."""
        return {name: self._digest(name) for name in self.entries}

    def _digest(self, name: str) -> str:
        total = hashlib.sha256()
        try:
            for piece in self.pieces_of(name):
                total.update(piece)
        except OSError:
            return ""
        return total.hexdigest()

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


@dataclass(frozen=True)
class Folder:
    """A folder on disk. `root` itself may be a link: the instructor named it."""

    root: Path

    def children(self, parts: tuple[str, ...]) -> list[SourceEntry]:
        with self._opened(parts, os.O_DIRECTORY) as descriptor, os.scandir(descriptor) as listing:
            found = [_entry(parts, item.name, item.stat(follow_symlinks=False)) for item in listing]
        return sorted(found, key=lambda entry: entry.name)

    def pieces(self, entry: SourceEntry) -> Iterator[bytes]:
        with self._opened(entry.parts) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{entry.name} is not a plain file")
            _refuse_large(entry.name, status.st_size)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                yield from _bounded_pieces(file, entry.name)

    @contextmanager
    def _opened(self, parts: tuple[str, ...], flags: int = 0) -> Iterator[int]:
        """A descriptor of what lies at `parts`, reached step by step without following any link."""
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for depth, part in enumerate(parts, 1):
                step = os.O_DIRECTORY if depth < len(parts) else flags
                following = os.open(part, _NOT_FOLLOWED | step, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = following
            yield descriptor
        finally:
            os.close(descriptor)


def _entry(parts: tuple[str, ...], name: str, status: os.stat_result) -> SourceEntry:
    kind = stat.S_IFMT(status.st_mode)
    return SourceEntry(
        parts=(*parts, name),
        is_folder=kind == stat.S_IFDIR,
        size=status.st_size,
        problem="" if kind in (stat.S_IFDIR, stat.S_IFREG) else _KINDS.get(kind, "is not a plain file"),
        identity=(status.st_dev, status.st_ino) if kind == stat.S_IFREG and status.st_nlink > 1 else None,
    )


def _bounded_pieces(file: IO[bytes], name: str) -> Iterator[bytes]:
    """What the file holds, which may be more than was said of it."""
    total = 0
    while piece := file.read(PIECE_BYTES):
        total += len(piece)
        _refuse_large(name, total)
        yield piece


def _refuse_large(name: str, size: int) -> None:
    if size > MAX_NOTEBOOK_BYTES:
        limit = MAX_NOTEBOOK_BYTES >> 20
        raise OSError(f"{name} has {size >> 20:,} MiB; the limit is {limit} MiB. Clear all outputs and hand in again")


class _ListReader(io.BufferedReader):
    """A zip as `zipfile` may read it: its list of entries has whatever size the zip says."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_LIST_BYTES:
            limit = f"the limit is {MAX_LIST_BYTES >> 20} MiB, about 80,000 files"
            raise OSError(f"its list of files has {size >> 20:,} MiB; {limit}. Unpack it and name the folder")
        return super().read(size)


@dataclass
class Zip:
    """A zip archive. Raises OSError or zipfile.BadZipFile on construction if it is none."""

    path: Path
    _tree: dict[tuple[str, ...], list[SourceEntry]] = field(init=False, repr=False)
    _open: tuple[int, zipfile.ZipFile] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        with _ListReader(io.FileIO(self.path)) as file, zipfile.ZipFile(file) as archive:
            self._tree = _tree(archive.infolist())

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_open": None}

    def children(self, parts: tuple[str, ...]) -> list[SourceEntry]:
        return sorted(self._tree.get(parts, []), key=lambda entry: entry.name)

    def pieces(self, entry: SourceEntry) -> Iterator[bytes]:
        _refuse_large(entry.name, entry.size)
        yield from _unpacked(self._archive, entry)

    def _archive(self) -> zipfile.ZipFile:
        """Opened once in each process: a forked one would share the place in the file with its parent."""
        if self._open is None or self._open[0] != os.getpid():
            self._open = (os.getpid(), zipfile.ZipFile(self.path))
        return self._open[1]


def _tree(infos: list[zipfile.ZipInfo]) -> dict[tuple[str, ...], list[SourceEntry]]:
    """Folder -> what lies in it. What may not be opened keeps its place in the tree, with its problem."""
    overlapping = _overlapping(infos)
    files: dict[tuple[str, ...], SourceEntry] = {}
    for info in infos:
        parts, problem = _safe_parts(info.filename)
        if info.is_dir() and not problem:
            continue
        problem = problem or ("overlaps another entry" if info.header_offset in overlapping else _zip_problem(info))
        if parts in files:
            problem = "is there twice in the zip"
        files[parts] = SourceEntry(parts, size=info.file_size, problem=problem, key=info.filename)
    folders = {parts[:length] for parts in files for length in range(1, len(parts))}
    tree: dict[tuple[str, ...], list[SourceEntry]] = defaultdict(list)
    for parts, entry in files.items():
        if parts not in folders:  # a name that is file and folder at once stays a folder, which nothing can escape from
            tree[parts[:-1]].append(entry)
    for parts in folders:
        tree[parts[:-1]].append(SourceEntry(parts, is_folder=True))
    return dict(tree)


def _safe_parts(name: str) -> tuple[tuple[str, ...], str]:
    """The path of a zip entry, and what is wrong with it. One that leads elsewhere becomes a name of its own."""
    steps = name.replace("\\", "/").split("/")
    drive = len(steps[0]) == 2 and steps[0][1] == ":"
    if steps[0] == "" or drive or ".." in steps or "\x00" in name:
        # Never under the name of the student whose folder it aims at.
        kept = "_".join(step for step in steps if step not in ("", ".", ".."))
        return (f"outside_{kept}",), "has a path that leads out of the zip"
    parts = tuple(step for step in steps if step not in ("", "."))
    if len(parts) > 2 * MAX_DEPTH:
        return parts[: 2 * MAX_DEPTH], "lies too many folders deep"
    return parts or ("_",), ""


def _zip_problem(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind in _KINDS:
        return _KINDS[kind]
    if info.flag_bits & 0x41:
        return "is encrypted"
    # The other methods cannot be unpacked piece by piece, so that a small entry could fill the memory.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed by a method other than deflate"
    return ""


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """Offsets of entries that share bytes with another, by which a small zip can hold petabytes."""
    found: set[int] = set()
    end = previous = -1
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            found |= {info.header_offset, previous}
        end = max(end, info.header_offset + 30 + info.compress_size)
        previous = info.header_offset
    return found


def is_zip(path: Path) -> bool:
    """Whether a file begins as a zip does, whatever it is called."""
    with path.open("rb") as file, closing(file):
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
