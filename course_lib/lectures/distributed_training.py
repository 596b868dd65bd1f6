"""The exercises of lecture 17: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations. The server
and the ring are checked in threads whose wires notice at once when everybody waits for everybody; the training with
PyTorch in this process, and then in two real ones.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import itertools
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from course_lib.exercises import attempt_or_solution
from course_lib.lectures import distributed
from course_lib.lectures.distributed.exchange import softmax_gradient, swap

if TYPE_CHECKING:  # the processes of the server and of the ring import this module, and need no PyTorch
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler

Array = NDArray[Any]

__all__ = [
    "check_average_gradients",
    "check_overlapped",
    "check_reduce_scatter_step",
    "check_ring",
    "check_server",
    "check_train_ddp",
]

NOTHING_RETURNED = "returns None. Is there a `return`?"


# The solutions


def parameter_server(wires, weights, lr, steps):
    """Run process 0: collect the gradients of all workers, update, send the new weights; `steps` times.

    wires: dict from a worker's rank to the wire that leads to it. weights: (65, 10).
    Returns the last weights, (65, 10).
    """
    for _ in range(steps):
        total = np.zeros(weights.size)
        for wire in wires.values():
            total += wire.receive()
        gradient = total.reshape(weights.shape) / len(wires)
        weights = weights - lr * gradient
        for wire in wires.values():
            wire.send(weights)
    return weights


def reduce_scatter_step(chunks, step):
    """Every process sends one chunk to its right neighbor, which adds it to its own chunk of the same number.

    chunks: chunks[rank][k] is chunk k of process `rank`, an array; changed in place. step: 0, 1, ..., n - 2.
    """
    n = len(chunks)
    for rank in range(n):
        right = (rank + 1) % n
        k = (rank - step) % n
        chunks[right][k] += chunks[rank][k]


def ring_all_reduce(array, rank, wires):
    """The sum of `array` over all processes, of the same shape. Does not change `array`."""
    n = len(wires) + 1
    chunks = np.array_split(array.flatten(), n)
    for step in range(n - 1):
        k = (rank - step) % n
        chunks[(k - 1) % n] += swap(chunks[k], rank, wires)
    for step in range(n - 1):
        k = (rank + 1 - step) % n
        chunks[(k - 1) % n] = swap(chunks[k], rank, wires)
    return np.concatenate(chunks).reshape(array.shape)


def average_gradients(model):
    """Replace the gradient of each parameter by its mean over all processes."""
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def train_ddp(dataset, path, batch_size=64, lr=0.5, epochs=3):
    """What each process of torchrun does: train nn.Linear(64, 10) together with the others.

    dataset: pairs of an image, (64,), and its class. batch_size: of all processes together. path: where process 0
    saves the state_dict of the plain layer. Returns that state_dict, in every process.
    """
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())  # a different start in each process, on purpose
    model = DistributedDataParallel(nn.Linear(64, 10))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size // dist.get_world_size(), sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), path)
    dist.destroy_process_group()
    return model.module.state_dict()


def overlapped(compute_ms, send_ms):
    """When each gradient is sent, if one is sent at a time, in this order, and as early as possible.

    compute_ms, send_ms: for each layer, in the order of the backward pass, how long it computes and how long it sends.
    Returns a list with a pair (begin, end) for each layer.
    """
    spans = []
    ready, free = 0, 0
    for compute, send in zip(compute_ms, send_ms, strict=True):
        ready += compute
        begin = max(ready, free)
        free = begin + send
        spans.append((begin, free))
    return spans


def _average_gradients_in_any_process(model):
    """`average_gradients`, whose name from PyTorch this module imports only where it is needed."""
    import torch.distributed as dist

    globals().update(dist=dist)
    average_gradients(model)


def _train_ddp_in_any_process(dataset, path, batch_size=64, lr=0.5, epochs=3):
    """`train_ddp`, whose names from PyTorch this module imports only where they are needed."""
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler

    classes = {kind.__name__: kind for kind in (DistributedDataParallel, DataLoader, DistributedSampler)}
    globals().update(classes, torch=torch, dist=dist, F=F, nn=nn)
    return train_ddp(dataset, path, batch_size, lr, epochs)


# Processes played by threads


class Deadlock(RuntimeError):
    """Every process that has not ended waits for another one."""


class _Network:
    """Wires between `count` threads. A send waits for its receiver if `rendezvous`; and a deadlock is found at once."""

    def __init__(self, count: int, rendezvous: bool) -> None:
        self.count, self.rendezvous = count, rendezvous
        self.changed = threading.Condition()
        self.mail: dict[tuple[int, int], list[bytes]] = {}
        self.waiting: dict[int, Callable[[], bool]] = {}
        self.ended: set[int] = set()
        self.dead = False

    def wait_until(self, rank: int, ready: Callable[[], bool]) -> None:
        """Called with the lock held."""
        self.waiting[rank] = ready
        self.look()
        while not ready() and not self.dead:
            self.changed.wait()
        self.waiting.pop(rank)
        if self.dead and not ready():
            raise Deadlock("every process waits for another one")

    def look(self) -> None:
        """Whether anybody can still go on."""
        stuck = len(self.waiting) + len(self.ended) == self.count and bool(self.waiting)
        if stuck and not any(ready() for ready in list(self.waiting.values())):
            self.dead = True
        self.changed.notify_all()

    def end(self, rank: int) -> None:
        with self.changed:
            self.ended.add(rank)
            self.look()

    def left_over(self) -> int:
        return sum(map(len, self.mail.values()))


class _Wire:
    def __init__(self, network: _Network, here: int, there: int) -> None:
        self.network, self.here, self.there = network, here, there
        self.sent = self.received = 0

    def send(self, array: Any) -> None:
        network = self.network
        message = np.asarray(array).tobytes()
        with network.changed:
            box = network.mail.setdefault((self.here, self.there), [])
            box.append(message)
            self.sent += len(message)
            network.look()
            if network.rendezvous:
                network.wait_until(self.here, lambda: not any(one is message for one in box))

    def receive(self, dtype: Any = np.float64) -> Array:
        network = self.network
        with network.changed:
            box = network.mail.setdefault((self.there, self.here), [])
            network.wait_until(self.here, lambda: bool(box))
            message = box.pop(0)
            self.received += len(message)
            network.look()
        return np.frombuffer(message, dtype).copy()


class _Ran:
    """What came of `functions[rank](rank, wires)` in threads: values and bytes sent by rank, deadlock, leftovers."""

    def __init__(self, *functions: Callable[[int, dict[int, Any]], Any], rendezvous: bool = False) -> None:
        count = len(functions)
        network = _Network(count, rendezvous)
        self.values: list[Any] = [None] * count
        self.deadlock = False
        errors: list[Exception] = []
        ranks = range(count)
        wires = [{other: _Wire(network, rank, other) for other in ranks if other != rank} for rank in ranks]

        def call(rank: int) -> None:
            try:
                self.values[rank] = functions[rank](rank, wires[rank])
            except Deadlock:
                self.deadlock = True
            except Exception as error:
                errors.append(error)
            finally:
                network.end(rank)

        threads = [threading.Thread(target=call, args=(rank,), daemon=True) for rank in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        if errors:
            raise errors[0]
        self.sent = [sum(wire.sent for wire in ends.values()) for ends in wires]
        self.left_over = network.left_over()


def _task(steps: int = 3, workers: int = 2, rows: int = 4) -> tuple[Array, list[list[tuple[Array, Array]]]]:
    """Weights (65, 10), the shape that the task promises, and for each worker a list of `steps` batches."""
    random = np.random.default_rng(3)
    weights = 0.1 * random.standard_normal((65, 10))
    batches = [
        [(random.standard_normal((rows, 64)), random.integers(0, 10, rows)) for _ in range(steps)]
        for _ in range(workers)
    ]
    return weights, batches


def _train(weights: Array, batches: Any, lr: float, scale: float = 1.0) -> Array:
    """What one process gets from the mean of the workers' gradients, times `scale`."""
    for pairs in zip(*batches, strict=True):
        gradients = [softmax_gradient(weights, x, y) for x, y in pairs]
        weights = weights - lr * scale * np.mean(gradients, axis=0)
    return weights


def _near(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-9, atol=1e-11))


# The checks


def check_server(server: Any) -> Any:
    """`parameter_server(wires, weights, lr, steps)`, with the workers of the lecture."""
    lr = 0.3

    def work(wire: Any, weights: Array, batches: Any) -> Array:
        for x, y in batches:
            wire.send(softmax_gradient(weights, x, y))
            weights = wire.receive().reshape(weights.shape)
        return weights

    @cache
    def ran(workers: int = 2) -> Any:
        weights, batches = _task(workers=workers)

        def serves(rank: int, wires: Any) -> Any:
            return server(wires, weights.copy(), lr, len(batches[0]))

        def works(rank: int, wires: Any) -> Any:
            return work(wires[0], weights.copy(), batches[rank - 1])

        return _Ran(serves, *[works] * workers)

    def like(value: Any, scale: float = 1.0, workers: int = 2) -> bool:
        weights, batches = _task(workers=workers)
        return _near(value, _train(weights, batches, lr, scale))

    return attempt_or_solution(
        "parameter_server", server, parameter_server,
        (lambda: not ran().deadlock,
         "Your server and the workers wait for each other. In each of `steps` steps the server receives one array from "
         "every worker and then sends one array to each."),
        (lambda: ran().values[0] is not None, f"`parameter_server` {NOTHING_RETURNED}"),
        (lambda: ran().left_over == 0,
         "With your server, some messages are sent that nobody receives. In each step it receives one array from every "
         "worker and sends one array to each."),
        (lambda: np.shape(ran().values[0]) == (65, 10),
         "Your server should return an array of the shape of `weights`. A received array has one dimension."),
        (lambda: not like(ran().values[0], scale=2.0),
         "Your server subtracts lr times the *sum* of the gradients. Divide the sum by the number of workers."),
        (lambda: not like(ran().values[0], scale=-1.0), "Your server steps uphill: subtract lr * gradient."),
        (lambda: not like(ran().values[0], scale=2 / 3),
         "Your server divides by 3 where there are 2 workers. `wires` has one entry for each worker, and none for the "
         "server itself."),
        (lambda: _near(ran().values[1], ran().values[0]),
         "The workers do not have the weights that your server returns. At the end of each step, when all gradients "
         "have arrived, send the new weights to every worker."),
        (lambda: like(ran().values[0]),
         "The weights of your server are not those of training in one process. Update with the mean of all gradients, "
         "once a step."),
        (lambda: like(ran(3).values[0], workers=3),
         "With 3 workers the weights of your server are wrong. Does it take all of `wires.values()`?"),
    )  # fmt: skip


def check_reduce_scatter_step(scatter: Any) -> Any:
    """`reduce_scatter_step(chunks, step)` changes `chunks` in place."""

    def filled(n: int) -> list[list[Array]]:
        random = np.random.default_rng(n)
        return [[random.integers(1, 100, 2).astype(float) for _ in range(n)] for _ in range(n)]

    def run(step_function: Any, chunks: list[list[Array]], steps: int) -> list[list[Array]]:
        chunks = [[np.array(chunk) for chunk in own] for own in chunks]
        for step in range(steps):
            step_function(chunks, step)
        return chunks

    def same(chunks: Any, others: Any) -> bool:
        pairs = zip(itertools.chain(*chunks), itertools.chain(*others), strict=True)
        return all(_near(one, other) for one, other in pairs)

    def scattered(n: int) -> list[list[Array]]:
        return run(reduce_scatter_step, filled(n), n - 1)

    def touched(chunks: Any, before: Any) -> list[set[int]]:
        return [
            {k for k, (new, old) in enumerate(zip(a, b, strict=True)) if not _near(new, old)}
            for a, b in zip(chunks, before, strict=True)
        ]

    def first_touched() -> list[set[int]]:
        return touched(run(scatter, filled(4), 1), filled(4))

    def sources_right() -> bool:
        """What arrives at `rank` in step 0 is a chunk of its left neighbor."""
        before = filled(4)
        for rank, own in enumerate(run(scatter, before, 1)):
            for k, chunk in enumerate(own):
                arrived = chunk - before[rank][k]
                if not _near(chunk, before[rank][k]) and not _near(arrived, before[(rank - 1) % len(own)][k]):
                    return False
        return True

    def from_right() -> bool:
        after, before = run(scatter, filled(4), 1), filled(4)
        changed = [(rank, k) for rank, ks in enumerate(touched(after, before)) for k in ks]
        return bool(changed) and all(_near(after[r][k] - before[r][k], before[(r + 1) % 4][k]) for r, k in changed)

    def overwrites() -> bool:
        after, before = run(scatter, filled(4), 1), filled(4)
        changed = [(rank, k) for rank, ks in enumerate(touched(after, before)) for k in ks]
        return bool(changed) and all(_near(after[r][k], before[(r - 1) % 4][k]) for r, k in changed)

    one_each = [{3}, {0}, {1}, {2}]  # step 0 of four processes: process r receives chunk r - 1
    return attempt_or_solution(
        "reduce_scatter_step", scatter, reduce_scatter_step,
        (lambda: not same(run(scatter, filled(4), 1), filled(4)),
         "`reduce_scatter_step` changes nothing in `chunks`. It returns nothing: change chunks[rank][k] itself."),
        (lambda: all(len(ks) == 1 for ks in first_touched()),
         "In one reduce-scatter step exactly one chunk of every process should change; with your function and four "
         "processes, in step 0, that is not so."),
        (lambda: not from_right(),
         "Your `reduce_scatter_step` sends to the left neighbor, rank - 1. It should send to the right one."),
        (lambda: not overwrites(),
         "Your `reduce_scatter_step` replaces the chunk. Add what arrives to the process's own chunk."),
        (sources_right,
         "In step 0 of your `reduce_scatter_step`, what is added is not the same chunk of the left neighbor."),
        (lambda: first_touched() == one_each,
         "In step 0 process r sends chunk r, so process 1 receives chunk 0 from process 0, and process 0 receives "
         "chunk 3 from process 3. Your `reduce_scatter_step` adds to other chunks."),
        (lambda: same(run(scatter, filled(4), 2), run(reduce_scatter_step, filled(4), 2)),
         "Step 0 of your `reduce_scatter_step` is right, step 1 is not. Each process now sends the chunk that it "
         "received in step 0: with four processes, process 0 sends chunk 3."),
        (lambda: all(same(run(scatter, filled(n), n - 1), scattered(n)) for n in (2, 3, 5)),
         "`reduce_scatter_step` is right for 4 processes but not for 2, 3 or 5. The number is len(chunks)."),
    )  # fmt: skip


def check_ring(reduce: Any) -> Any:
    """`ring_all_reduce(array, rank, wires)`."""

    def arrays(n: int, shape: tuple[int, ...]) -> list[Array]:
        return [np.random.default_rng(10 * n + rank).standard_normal(shape) for rank in range(n)]

    @cache
    def reduced(n: int, *shape: int) -> tuple[Any, bool]:
        given = arrays(n, shape)
        ran = _Ran(*[lambda rank, wires: reduce(given[rank], rank, wires)] * n, rendezvous=True)
        return ran, all(np.array_equal(a, b) for a, b in zip(given, arrays(n, shape), strict=True))

    def sums(n: int, *shape: int) -> bool:
        return all(_near(value, sum(arrays(n, shape))) for value in reduced(n, *shape)[0].values)

    def only_scattered(n: int, size: int) -> bool:
        """Whether the values are those after the first half of the way."""
        chunks = [np.array_split(array, n) for array in arrays(n, (size,))]
        for step in range(n - 1):
            reduce_scatter_step(chunks, step)
        return all(_near(v, np.concatenate(own)) for v, own in zip(reduced(n, size)[0].values, chunks, strict=True))

    def gathered(n: int, size: int, first: int = 1, add: bool = False) -> bool:
        """Whether the values are those of an all-gather that begins with chunk rank + `first`, or that adds."""
        chunks = [np.array_split(array, n) for array in arrays(n, (size,))]
        for step in range(n - 1):
            reduce_scatter_step(chunks, step)
        for step in range(n - 1):
            sent = [chunks[rank][(rank + first - step) % n].copy() for rank in range(n)]
            for rank in range(n):
                own = chunks[(rank + 1) % n]
                k = (rank + first - step) % n
                own[k] = own[k] + sent[rank] if add else sent[rank]
        return all(_near(v, np.concatenate(own)) for v, own in zip(reduced(n, size)[0].values, chunks, strict=True))

    return attempt_or_solution(
        "ring_all_reduce", reduce, ring_all_reduce,
        (lambda: not reduced(4, 8)[0].deadlock,
         "With your `ring_all_reduce` all processes wait for each other. Do all call `swap` equally often?"),
        (lambda: reduced(4, 8)[0].values[0] is not None, f"`ring_all_reduce` {NOTHING_RETURNED}"),
        (lambda: reduced(4, 8)[1],
         "Your `ring_all_reduce` changes the array that it is given: array_split returns views, and += writes into "
         "them. Split a copy; array.flatten() makes one."),
        (lambda: np.shape(reduced(4, 8)[0].values[0]) == (8,),
         "For an array of shape (8,), your `ring_all_reduce` returns another shape."),
        (lambda: not only_scattered(4, 8),
         "Your `ring_all_reduce` does the reduce-scatter, and each process has one complete chunk. The all-gather is "
         "missing or changes nothing."),
        (lambda: not gathered(4, 8, first=0),
         "The all-gather of your `ring_all_reduce` begins with chunk `rank`, which is not complete. After the "
         "reduce-scatter, process `rank` has the complete chunk rank + 1."),
        (lambda: not gathered(4, 8, add=True),
         "The all-gather of your `ring_all_reduce` adds. The chunk that arrives is complete, so it replaces the old "
         "one."),
        (lambda: sums(4, 8),
         "The result is not the sum over all processes, for 4 processes and 8 numbers. In the first half, use the "
         "chunk numbers of your `reduce_scatter_step`. `swap` sends chunk k and returns the left neighbor's chunk "
         "k - 1, which belongs to your own chunk k - 1."),
        (lambda: sums(2, 6) and sums(3, 6), "It is right for 4 processes but not for 2 or 3: n is len(wires) + 1."),
        (lambda: sums(3, 7), "It fails for 7 numbers and 3 processes, where the chunks have different lengths."),
        (lambda: sums(2, 3, 4), "It fails for an array of shape (3, 4). Flatten it first and reshape the result."),
        (lambda: reduced(4, 8)[0].sent == [2 * 3 * 2 * 8] * 4,
         "The sum is right, but each of 4 processes should send 6 chunks of 2 numbers, 96 bytes, and yours sends "
         "another number of bytes."),
    )  # fmt: skip


@contextmanager
def _as_process(rank: int, count: int, port: int) -> Iterator[None]:
    """The environment that torchrun gives to a process; and no process group is left behind."""
    import torch
    import torch.distributed as dist

    told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment = {"GLOO_SOCKET_IFNAME": "lo"} | {name: str(value) for name, value in told.items()}
    with mock.patch.dict(os.environ, environment), torch.random.fork_rng(devices=[]):
        torch.manual_seed(1234 + rank)
        try:
            yield
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def averaging_process(rank: int, wires: Any, port: int, function: Any) -> Any:
    """In a process of its own: the gradients after `function(model)`, as arrays, and whether the weights stayed."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    with _as_process(rank, len(wires) + 1, port):
        dist.init_process_group("gloo")
        model = _with_gradients(rank)
        before = [p.detach().clone() for p in model.parameters()]
        function(model)
        kept = all(map(torch.equal, before, model.parameters()))
        gradients = [None if p.grad is None else p.grad.numpy().copy() for p in model.parameters()]
        dist.destroy_process_group()
    return gradients, kept


def _with_gradients(rank: int) -> nn.Sequential:
    """Two layers, whose gradients are different numbers in each process and in each parameter."""
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    for k, p in enumerate(model.parameters()):
        p.grad = torch.arange(1.0, p.numel() + 1).reshape(p.shape) * (k + 1) * (2 * rank**2 + 1)
    return model


def check_average_gradients(attempt: Any) -> Any:
    """`average_gradients(model)` is called by every process, after its own `backward`."""
    import torch.distributed as dist

    def local(rank: int) -> list[Array]:
        return [np.asarray(p.grad) for p in _with_gradients(rank).parameters()]

    @cache
    def alone() -> Any:
        """One process, this one: the gradients afterward."""
        with _as_process(0, 1, _free_port()):
            dist.init_process_group("gloo")
            model = _with_gradients(0)
            attempt(model)
            return [p.grad for p in model.parameters()]

    @cache
    def together() -> Any:
        """For each of two processes its gradients and whether its weights stayed; None if one fails or waits."""
        try:
            return [o.value for o in distributed.run(averaging_process, 2, _free_port(), attempt, timeout=20)]
        except (TimeoutError, distributed.WorkerError):
            return None

    def near(scale: float = 1.0, rows: slice = slice(None)) -> bool:
        wanted = [scale * np.mean(parts, axis=0) for parts in zip(*map(local, range(2)), strict=True)]
        return all(_close(found[rows], wanted[rows]) for found, _ in together())

    def still_local() -> bool:
        return all(_close(found, local(rank)) for rank, (found, _) in enumerate(together()))

    def _close(found: Any, wanted: Any) -> bool:
        return all(g is not None and np.allclose(g, w, rtol=1e-5) for g, w in zip(found, wanted, strict=True))

    return attempt_or_solution(
        "average_gradients", attempt, _average_gradients_in_any_process,
        (lambda: all(grad is not None for grad in alone()),
         "After your `average_gradients`, a gradient is None. dist.all_reduce changes its argument and returns "
         "nothing, so do not assign what it returns."),
        (lambda: _close(alone(), local(0)),
         "With a single process the mean is the gradient itself, but yours changes it. Divide by "
         "dist.get_world_size(), not by a fixed number."),
        (lambda: together() is not None,
         "With one process it works, with two it fails or never ends. Every process must call dist.all_reduce for each "
         "parameter; is there an `if` that asks for the rank?"),
        (lambda: all(kept for _, kept in together()), "The weights changed. Only p.grad should change."),
        (lambda: not still_local(),
         "Every process still has its own gradients. Call dist.all_reduce(p.grad) for each p of model.parameters(); "
         "it changes the tensor that it is given, so do not give it a copy."),
        (lambda: not near(scale=2.0),
         "The gradients are the *sum* over all processes. Divide by dist.get_world_size()."),
        (lambda: not near(scale=1 / 2), "You divide by the number of processes twice."),
        (lambda: near() or not near(rows=slice(2)),
         "Only the first layer has the mean gradients. Go through all of model.parameters()."),
        (near, "With two processes, the gradients are not their means over the processes."),
    )  # fmt: skip


def check_overlapped(attempt: Any) -> Any:
    """`overlapped(compute_ms, send_ms)` says when each gradient is sent."""

    def plan(compute: Sequence[float], send: Sequence[float]) -> Any:
        return attempt(list(compute), list(send))

    def gives(compute: Sequence[float], send: Sequence[float], wanted: Any) -> bool:
        found = np.asarray(plan(compute, send), float)
        return found.shape == np.shape(wanted) and bool(np.allclose(found, wanted))

    example = [2, 2, 2], [3, 3, 3]

    def shape(count: int = 3) -> Any:
        return np.shape(plan([2] * count, [3] * count))

    def keeps() -> bool:
        compute, send = [1, 2, 3], [4, 5, 6]
        attempt(compute, send)
        return (compute, send) == ([1, 2, 3], [4, 5, 6])

    return attempt_or_solution(
        "overlapped", attempt, overlapped,
        (lambda: plan(*example) is not None, f"`overlapped` {NOTHING_RETURNED}"),
        (keeps, "Your `overlapped` changes the lists that it is given."),
        (lambda: shape() == (3, 2), "For three layers, the result should be a list of three pairs (begin, end)."),
        (lambda: not gives(*example, [(6, 9), (9, 12), (12, 15)]),
         "Your plan begins to send only when all gradients are computed. Send each as soon as it is ready."),
        (lambda: not gives(*example, [(0, 3), (3, 6), (6, 9)]),
         "Your plan sends the first gradient from the beginning, but it is ready only after it has been computed."),
        (lambda: not gives(*example, [(2, 5), (4, 7), (6, 9)]),
         "Your plan sends two gradients at the same time. If the connection is not free, a gradient has to wait."),
        (lambda: not gives(*example, [(2, 3), (5, 3), (8, 3)]),
         "Your pairs are (begin, duration). The second number should be the end, begin + duration."),
        (lambda: not gives(*example, [(2, 5), (7, 10), (12, 15)]),
         "Your backward pass waits until a gradient is sent. It should go on: the gradients are ready at 2, 4 and 6."),
        (lambda: gives(*example, [(2, 5), (5, 8), (8, 11)]),
         "For three layers with 2 ms of computing and 3 ms of sending each, the result should be "
         "[(2, 5), (5, 8), (8, 11)], as in the text."),
        (lambda: not gives([3, 3], [1, 1], [(3, 4), (4, 5)]),
         "The example of the text is right. But where sending is faster than computing, your plan sends a gradient "
         "before it is ready."),
        (lambda: gives([3, 3], [1, 1], [(3, 4), (6, 7)]),
         "The example of the text is right, but not two layers with 3 ms of computing and 1 ms of sending each: "
         "[(3, 4), (6, 7)]."),
        (lambda: gives([1, 4, 2, 1], [3, 1, 5, 2], [(1, 4), (5, 6), (7, 12), (12, 14)]),
         "Layers of equal length are right, but not layers of different length. Each has its own two numbers."),
    )  # fmt: skip


def ddp_process(rank: int, wires: Any, port: int, function: Any, dataset: Any, path: str, options: Any) -> Any:
    """In a process of its own: what `function` returns, as arrays, whether it saved, left its group, and its seed."""
    import torch

    torch.set_num_threads(1)
    with _as_process(rank, len(wires) + 1, port):
        state = function(dataset, f"{path}.{rank}", **options)
        left = not torch.distributed.is_initialized()
        seed = torch.initial_seed()
    arrays = {name: value.detach().numpy().copy() for name, value in state.items()}
    return arrays, Path(f"{path}.{rank}").exists(), left, seed


def check_train_ddp(attempt: Any) -> Any:
    """`train_ddp(dataset, path, batch_size, lr, epochs)` trains in every process of torchrun."""
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.utils.data import DistributedSampler, TensorDataset

    options = {"batch_size": 8, "lr": 0.2, "epochs": 2}
    generator = torch.Generator().manual_seed(5)
    dataset = TensorDataset(torch.randn(24, 64, generator=generator), torch.arange(24) % 10)

    def read(file: Path) -> Any:
        try:
            return torch.load(file)
        except Exception:  # a whole model, for example
            return "no state_dict"

    @cache
    def alone() -> Any:
        """One process, this one: the state_dict, what was saved, whether the group was left behind."""
        with tempfile.TemporaryDirectory() as folder, _as_process(0, 1, _free_port()):
            file = Path(folder, "weights.pt")
            state = attempt(dataset, str(file), **options)
            saved = read(file) if file.exists() else None
            state = {k: v.detach().clone() for k, v in state.items()} if isinstance(state, dict) else state
            return state, saved, dist.is_initialized()

    @cache
    def together() -> Any:
        """Two processes: for each the weights, whether it saved, whether it left its group, and its seed."""
        with tempfile.TemporaryDirectory() as folder:
            given = (_free_port(), attempt, dataset, str(Path(folder, "weights.pt")), options)
            return [outcome.value for outcome in distributed.run(ddp_process, 2, *given)]

    def reference(
        seed: int = 0, batch: int = 8, lr: float = 0.2, epochs: int = 2, shuffle: bool = True, clear: bool = True,
        same_order: bool = False, ranks: int = 1,
    ) -> dict[str, Any]:  # fmt: skip
        """Training in one process, or what a mistake makes of it."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = nn.Linear(64, 10)
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        sampler: Any = DistributedSampler(dataset, ranks, 0, shuffle=shuffle)
        for epoch in range(epochs):
            sampler.set_epoch(0 if same_order else epoch)
            order = torch.tensor(list(sampler))
            for rows in order.split(batch):
                x, y = dataset.tensors[0][rows], dataset.tensors[1][rows]
                if clear:
                    optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
        return model.state_dict()

    def equal(state: Any, other: Any) -> bool:
        return all(np.allclose(np.asarray(state[name]), np.asarray(other[name]), atol=2e-6) for name in other)

    def one(**mistake: Any) -> bool:
        return not equal(alone()[0], reference(**mistake))

    def two(**mistake: Any) -> bool:
        return not equal(together()[0][0], reference(**mistake))

    return attempt_or_solution(
        "train_ddp", attempt, _train_ddp_in_any_process,
        (lambda: alone()[0] is not None, f"`train_ddp` {NOTHING_RETURNED}"),
        (lambda: not alone()[2],
         "The process group still exists when your function returns. Call dist.destroy_process_group() before."),
        (lambda: isinstance(alone()[0], dict), "Return a state_dict, that of the plain layer."),
        (lambda: not any(name.startswith("module.") for name in alone()[0]),
         "The names in your state_dict begin with \"module.\": it is that of the wrapper. The layer is model.module."),
        (lambda: set(alone()[0]) == {"weight", "bias"} and tuple(alone()[0]["weight"].shape) == (10, 64),
         "The state_dict should be that of one layer, nn.Linear(64, 10): `weight` and `bias`."),
        (lambda: alone()[1] is not None, "Process 0 saved nothing at `path`. Use torch.save(..., path)."),
        (lambda: isinstance(alone()[1], dict) and set(alone()[1]) == {"weight", "bias"},
         "What was saved is not the state_dict of the plain layer. The layer is model.module."),
        (lambda: equal(alone()[1], alone()[0]), "The saved weights are not those at the end of training."),
        (lambda: one(epochs=0), "The weights are those of the start, so nothing was trained."),
        (lambda: one(seed=1234),
         "The training is right, but it does not start from torch.manual_seed(dist.get_rank()). Seed before you make "
         "the layer."),
        (lambda: one(same_order=True),
         "The images come in the same order in every epoch. Call sampler.set_epoch(epoch) at the start of each."),
        (lambda: one(shuffle=False), "The images are not shuffled. DistributedSampler shuffles unless told otherwise."),
        (lambda: one(clear=False), "The gradients of all steps pile up. Call optimizer.zero_grad() in every step."),
        (lambda: one(epochs=1), "Only one epoch was trained, where `epochs` is 2."),
        (lambda: one(batch=64) and one(lr=0.5) and one(epochs=3),
         "Your function does not use one of its arguments batch_size, lr and epochs, but a fixed number."),
        (lambda: equal(alone()[0], reference()),
         "Already with a single process the weights are not those of plain training. Compare: seed, then layer, then "
         "sampler; plain SGD with `lr`; cross_entropy of the logits; zero_grad, backward, step; the sampler's order."),
        (lambda: equal(together()[0][0], together()[1][0]),
         "Two processes end with different weights, so their gradients were not averaged. Wrap the layer in "
         "DistributedDataParallel and call the wrapper, model(x), in the forward pass."),
        (lambda: two(batch=16),
         "With two processes the batch is twice as large as `batch_size`, because each process takes that many images. "
         "Divide by dist.get_world_size()."),
        (lambda: together()[0][1] and not together()[1][1],
         "With two processes, process 1 saves too, or process 0 does not. Only the process of rank 0 should save."),
        (lambda: all(left for _, _, left, _ in together()),
         "With two processes, one of them does not call dist.destroy_process_group(). Every process should."),
        (lambda: two(batch=4),
         "With two processes both see the same images, so one of them adds nothing. Give the loader a "
         "DistributedSampler(dataset), which deals each process its own part."),
        (lambda: equal(together()[0][0], reference()),
         "With one process the weights are right, with two they are not. Does each process take its own part of every "
         "batch, from DistributedSampler(dataset), without a further factor on loss or lr?"),
        (lambda: together()[1][3] == 1,
         "The training is right, but both processes create the same layer. Seed with the process's rank, "
         "torch.manual_seed(dist.get_rank()), because the lecture now asks what DDP does with different layers."),
    )  # fmt: skip
