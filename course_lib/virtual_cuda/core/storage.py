"""Which device a tensor is on: a mark on its storage.

Tensors stay ordinary CPU tensors. Views, `detach()`, `param.data = other` and the optimizer's state share or swap
storages, so they have the right device without any work; and because the mark is an attribute of the storage's Python
object, which lives exactly as long as the storage, the sum over live marks is the memory in use.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from course_lib.virtual_cuda.core.ledger import Ledger

storage_of = torch._C.TensorBase.untyped_storage
device_of = torch._C.StorageBase.device.__get__
"""what C++ thinks: "meta" for a tensor that has only a shape, which is on no device"""
is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
is_batched = torch._C._functorch.is_legacy_batchedtensor


class Mark:
    """On a storage: it is on a virtual device. Its memory is given back when the storage dies.

    Each device of a session has a subclass, whose instances are its marks, so that they need no index of their own,
    and the end of a session is one assignment: its marks then say that they are on the CPU.
    """

    __slots__ = ("size",)
    index: int
    ledger: Ledger

    def __init__(self, nbytes: int) -> None:
        self.size = 0
        if nbytes:
            self.ledger.take(nbytes)
            self.size = nbytes

    def __del__(self) -> None:
        if self.size:
            self.ledger.give(self.size)


def mark_class(ledger: Ledger) -> type[Mark]:
    """The marks of one device."""
    return type("Mark", (Mark,), {"__slots__": (), "ledger": ledger, "index": ledger.index})


class Pending:
    """On a storage that a composite operator or a backward formula made without saying where.

    C++ makes such helpers "on the device of self", which it takes for the CPU. Whoever uses one together with CUDA
    tensors inside the same call makes it theirs; after that call it is an ordinary CPU tensor.
    """

    __slots__ = ("call",)
    index = -2

    def __init__(self, call: tuple[int, int, int]) -> None:
        self.call = call
        """the session, and the Python instruction that was executing: its frame's id and its position"""


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
    except ValueError:
        # A lazy module's parameter refuses nearly every question, but not this one.
        with torch._C.DisableTorchFunctionSubclass():
            return storage_of(tensor)._vcuda


def index_of(tensor: torch.Tensor) -> int:
    """The virtual device's index, or -1 on the CPU."""
    return max(mark_of(tensor).index, -1)


def parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensors that hold the data of one without a storage: sparse layouts, functorch's wrappers, subclasses."""
    if is_wrapped(tensor):
        yield torch._C._functorch.get_unwrapped(tensor)
    elif is_batched(tensor):
        # Batched gradients. Removing a level that it does not have only expands it.
        for level in range(1, 65):
            tensor = torch._remove_batch_dim(tensor, level, 1, 0)
            if not is_batched(tensor):
                break
        yield tensor
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
    place(storage, ledger)


def place(storage: torch.UntypedStorage, ledger: Ledger | None) -> None:
    """The same for the storage itself."""
    if ledger is None:
        storage._vcuda = ON_CPU
    elif storage._vcuda.index != ledger.index and device_of(storage).type == "cpu":
        storage._vcuda = ledger.mark(storage.nbytes())
