"""Which device a tensor is on: a mark on its storage.

Tensors stay ordinary CPU tensors. Views, `detach()`, `param.data = other` and the optimiser's state share or swap
storages, so they have the right device without any work; and because the mark is an attribute of the storage's Python
object, which lives exactly as long as the storage, the sum over live marks is the memory in use.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterator

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

BLOCK = 512
"""bytes: CUDA's caching allocator rounds every request up to a multiple of this"""

storage_of = torch._C.TensorBase.untyped_storage
is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor


class Ledger:
    """The memory of one virtual device, in bytes."""

    def __init__(self, index: int, limit: int | None = None) -> None:
        self.index = index
        self.limit = limit
        self.peak = 0
        self.allocations = 0
        """made so far"""
        self._allocated = 0
        # Freeing happens in __del__, at any moment and in any thread: a deque's append is safe there, a lock is not.
        self._freed: collections.deque[int] = collections.deque()
        self._lock = threading.Lock()

    def allocated(self) -> int:
        """Bytes in live storages, each rounded up to 512."""
        with self._lock:
            self._drain()
            return self._allocated

    def take(self, size: int) -> None:
        """Count an allocation. Raises torch.OutOfMemoryError beyond the limit."""
        with self._lock:
            self._drain()
            if self.limit is not None and self._allocated + size > self.limit:
                free = self.limit - self._allocated
                in_use = self._allocated
            else:
                self._allocated += size
                self.allocations += 1
                if self._allocated > self.peak:
                    self.peak = self._allocated
                return
        raise torch.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {words(size)}. GPU {self.index} has a total capacity of "
            f"{words(self.limit)} of which {words(free)} is free. Of the allocated memory {words(in_use)} is allocated "
            "by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. (virtual CUDA)"
        )

    def give(self, size: int) -> None:
        """Count a freed allocation; safe in a finaliser."""
        self._freed.append(size)

    def reset_peak(self) -> None:
        """Start a new peak from what is in use now."""
        self.peak = self.allocated()

    def _drain(self) -> None:
        while self._freed:
            self._allocated -= self._freed.popleft()


def words(size: int) -> str:
    """`20.00 MiB`, as the CUDA allocator writes sizes."""
    if size < 1 << 10:
        return f"{size} bytes"
    for unit, shift in (("GiB", 30), ("MiB", 20)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.2f} {unit}"
    return f"{size / (1 << 10):.2f} KiB"


class Mark:
    """On a storage: it is on virtual device `index`. Its memory is given back when the storage dies."""

    __slots__ = ("_ledger", "index", "size")
    index: int

    def __init__(self, ledger: Ledger, nbytes: int) -> None:
        size = (nbytes + BLOCK - 1) // BLOCK * BLOCK
        self.size = 0
        self._ledger = ledger
        self.index = ledger.index
        ledger.take(size)
        self.size = size

    def __del__(self) -> None:
        if self.size:
            self._ledger.give(self.size)


class Pending:
    """On a storage that a composite operator or a backward formula made without saying where.

    C++ makes such helpers "on the device of self", which it takes for the CPU. Whoever uses one together with CUDA
    tensors inside the same call makes it theirs; after that call it is an ordinary CPU tensor.
    """

    __slots__ = ("call",)
    index = -2

    def __init__(self, call: tuple[int, int]) -> None:
        self.call = call
        """the Python instruction that was executing: its frame's id and its position"""


class OnCpu:
    """The mark of every storage that has no other: while virtual CUDA is on, an attribute of `torch.UntypedStorage`."""

    index = -1


ON_CPU = OnCpu()


def mark_of(tensor: torch.Tensor) -> Mark | Pending | OnCpu:
    """The mark of a tensor's storage."""
    try:
        return storage_of(tensor)._vcuda
    except NotImplementedError:
        for part in parts(tensor):
            return mark_of(part)
        return ON_CPU


def index_of(tensor: torch.Tensor) -> int:
    """The virtual device's index, or -1 on the CPU."""
    return max(mark_of(tensor).index, -1)


def parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensors that hold the data of one without a storage: sparse layouts, functorch's wrappers, subclasses."""
    if is_wrapped(tensor):
        yield torch._C._functorch.get_unwrapped(tensor)
    elif is_traceable_wrapper_subclass(tensor):
        for name in tensor.__tensor_flatten__()[0]:
            yield getattr(tensor, name)
    elif tensor.layout is torch.sparse_coo:
        yield tensor._values()
        yield tensor._indices()
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.values(), tensor.crow_indices(), tensor.col_indices())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.values(), tensor.ccol_indices(), tensor.row_indices())


def put(tensor: torch.Tensor, ledger: Ledger | None) -> None:
    """Mark the tensor's storage as being on a device (`None`: on the CPU), whatever it was marked as before."""
    try:
        storage = storage_of(tensor)
    except NotImplementedError:
        for part in parts(tensor):
            put(part, ledger)
        return
    if ledger is None:
        storage._vcuda = ON_CPU
    elif storage._vcuda.index != ledger.index:
        storage._vcuda = Mark(ledger, storage.nbytes())
