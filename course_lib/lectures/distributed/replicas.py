"""What each process of a `DistributedDataParallel` run does. Lecture 17 shows the source of these functions.

`distributed.run(in_group, 2, (function, settings), ...)` lets two processes meet and call `function(rank, **settings)`
for each pair, one after the other: to start a process and to import PyTorch takes longer than all of them.
"""

# torch types neither `backward` nor `TCPStore`.
# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from course_lib.lectures.distributed.processes import Wires

Array = NDArray[Any]


@contextmanager
def group(rank: int, wires: Wires) -> Iterator[None]:
    """Let the processes meet over loopback. The system chooses a free port for process 0, which tells the others."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    torch.set_num_threads(1)
    count, limit = len(wires) + 1, timedelta(seconds=60)
    if rank == 0:
        store = dist.TCPStore("127.0.0.1", 0, count, is_master=True, wait_for_workers=False, timeout=limit)
        for wire in wires.values():
            wire.send(np.array([store.port]))
    else:
        store = dist.TCPStore("127.0.0.1", int(wires[0].receive(int)[0]), count, is_master=False, timeout=limit)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=count, timeout=limit)
    try:
        yield
    finally:
        dist.destroy_process_group()


def in_group(rank: int, wires: Wires, *calls: tuple[Callable[..., Any], dict[str, Any]]) -> list[Any]:
    """The results of `function(rank, **settings)` for each pair in `calls`."""
    with group(rank, wires):
        return [function(rank, **settings) for function, settings in calls]


def part_of(rows: Array, rank: int) -> Array:
    """This process's share of the rows of a batch."""
    return np.array_split(rows, dist.get_world_size())[rank]


def train(
    rank: int,
    x: Array,
    y: Array,
    rate: float,
    batch: int,
    steps: int,
    dtype: str = "float64",
    init_sync: bool = True,
) -> tuple[Array, Array, Array]:
    """The weights of one linear layer: as this process made it, as DDP left it, after `steps` steps."""
    torch.manual_seed(rank)  # a different start in each process, on purpose
    net = nn.Linear(64, 10).to(getattr(torch, dtype))
    made = weights_of(net)
    replica = DistributedDataParallel(net, init_sync=init_sync)
    wrapped = weights_of(net)
    optimizer = torch.optim.SGD(replica.parameters(), lr=rate)
    images, classes = torch.from_numpy(x).to(net.weight.dtype), torch.from_numpy(y)
    for step in range(steps):
        mine = part_of(np.arange(step * batch, (step + 1) * batch) % len(x), rank)
        loss = F.cross_entropy(replica(images[mine]), classes[mine])  # the mean over this process's share
        optimizer.zero_grad()
        loss.backward()  # returns when the gradients are averaged over all processes
        optimizer.step()
    return made, wrapped, weights_of(net)


def weights_of(layer: nn.Linear) -> Array:
    """A copy of the weights of `layer` in the layout of `exchange`: (in + 1, out), biases last."""
    return np.vstack([layer.weight.detach().T.numpy(), layer.bias.detach().numpy()])


def statistics(rank: int, batches: Sequence[Array], steps: int) -> dict[str, list[float]]:
    """BatchNorm on `batches[rank]`, (k, 1): its running mean and its first result, after each of `steps` passes."""
    norm = nn.BatchNorm1d(1)
    replica = DistributedDataParallel(norm)
    found: dict[str, list[float]] = {"running mean": [], "first result": []}
    for _ in range(steps):
        result = replica(torch.from_numpy(batches[rank]).float())
        result.sum().backward()
        assert norm.running_mean is not None
        found["running mean"].append(norm.running_mean.item())
        found["first result"].append(result[0].item())
    return found


def uneven(rank: int, x: Array, y: Array, sizes: Sequence[int], weighted: bool) -> Array:
    """The gradient of one linear layer, (in, out), when process r has `sizes[r]` of the examples."""
    net = nn.Linear(64, 10).double()
    nn.init.zeros_(net.weight)
    nn.init.zeros_(net.bias)
    replica = DistributedDataParallel(net)
    mine = slice(sum(sizes[:rank]), sum(sizes[: rank + 1]))
    loss = F.cross_entropy(replica(torch.from_numpy(x[mine]).double()), torch.from_numpy(y[mine]))
    if weighted:
        loss = loss * sizes[rank] * len(sizes) / sum(sizes)
    loss.backward()
    assert net.weight.grad is not None
    return net.weight.grad.T.numpy().copy()


def note_exchanges(replica: DistributedDataParallel) -> list[int]:
    """A list that gets the bytes of each all-reduce of `replica` from now on."""
    exchanged: list[int] = []

    def hook(state, bucket):  # type: ignore[no-untyped-def]  # DDP refuses annotations that are strings
        exchanged.append(bucket.buffer().nbytes)
        return allreduce_hook(state, bucket)

    replica.register_comm_hook(None, hook)
    return exchanged


def accumulate(
    rank: int, x: Array, y: Array, pieces: int, scale: bool = True, quiet: bool = True
) -> tuple[Array, list[int]]:
    """The gradient, (in, out), of a batch in several `pieces`, and the bytes of each all-reduce that it took.

    scale: divide each loss by the number of pieces. quiet: exchange only after the last piece.
    """
    net = nn.Linear(64, 10).double()
    nn.init.zeros_(net.weight)
    nn.init.zeros_(net.bias)
    replica = DistributedDataParallel(net)
    exchanged = note_exchanges(replica)
    for piece, rows in enumerate(np.array_split(part_of(np.arange(len(x)), rank), pieces), start=1):
        last = piece == pieces
        with nullcontext() if last or not quiet else replica.no_sync():
            loss = F.cross_entropy(replica(torch.from_numpy(x[rows]).double()), torch.from_numpy(y[rows]))
            (loss / pieces if scale else loss).backward()
    assert net.weight.grad is not None
    return net.weight.grad.T.numpy().copy(), exchanged


class TwoHeads(nn.Module):
    """A trunk with two heads, of which each pass uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.left(self.trunk(x)))  # and never `right`


def two_heads(rank: int, find: bool) -> int:
    """Train the network with an unused head for two steps. find: let DDP look for what a pass did not use."""
    torch.manual_seed(0)
    replica = DistributedDataParallel(TwoHeads(), find_unused_parameters=find)
    steps = 0
    for _ in range(2):
        replica(torch.ones(8, 4)).sum().backward()
        steps += 1
    return steps


def buckets(rank: int, cap_mb: float) -> tuple[list[int], list[int]]:
    """Bytes of each parameter of a deep network, first layer first, and of each all-reduce of one backward pass."""
    net = nn.Sequential(*(nn.Linear(128, 128, bias=False) for _ in range(8)))
    replica = DistributedDataParallel(net, bucket_cap_mb=cap_mb)
    exchanged = note_exchanges(replica)
    for _ in range(2):
        exchanged.clear()  # DDP rearranges the buckets after the first pass, in the order in which gradients came
        replica(torch.ones(4, 128)).sum().backward()
    return [p.numel() * p.element_size() for p in net.parameters()], exchanged
