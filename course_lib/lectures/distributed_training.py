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
from collections.abc import Callable, Iterator
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
    from torch.utils.data import DataLoader, DistributedSampler, Subset

Array = NDArray[Any]

__all__ = [
    "check_evaluate",
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


def evaluate(model, dataset, batch_size=100):
    """The accuracy of `model` on all of `dataset`, which the processes share. Each returns the same number."""
    model.eval()
    rows = range(dist.get_rank(), len(dataset), dist.get_world_size())  # the part of this process
    loader = DataLoader(Subset(dataset, rows), batch_size)
    counts = torch.zeros(2)  # right answers, images
    with torch.no_grad():
        for x, y in loader:
            counts[0] += (model(x).argmax(dim=1) == y).sum()
            counts[1] += len(y)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


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


def _evaluate_in_any_process(model, dataset, batch_size=100):
    """`evaluate`, whose names from PyTorch this module imports only where they are needed."""
    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, Subset

    globals().update(torch=torch, dist=dist, DataLoader=DataLoader, Subset=Subset)
    return evaluate(model, dataset, batch_size)


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
        self.messages: list[bytes] = []

    def send(self, array: Any) -> None:
        network = self.network
        message = np.asarray(array).tobytes()
        with network.changed:
            box = network.mail.setdefault((self.here, self.there), [])
            box.append(message)
            self.messages.append(message)
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
        self.messages = [[message for wire in ends.values() for message in wire.messages] for ends in wires]
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
         "once a step. Does the sum begin at zero in every step, and is every gradient added?"),
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
        """What arrives at `rank` in step 0 is its left neighbor's chunk of the same number, as it was before."""
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
         "In step 0, what is added to a chunk should be the left neighbor's chunk of the same number, as it was before "
         "the step. In your `reduce_scatter_step`, do the four processes send four different chunks?"),
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

    def means(n: int, size: int) -> bool:
        return all(_near(value, sum(arrays(n, (size,))) / n) for value in reduced(n, size)[0].values)

    def scatters(n: int, size: int) -> bool:
        """Whether every process sends the right chunks in the reduce-scatter."""
        given = arrays(n, (size,))
        right = _Ran(*[lambda rank, wires: ring_all_reduce(given[rank], rank, wires)] * n).messages
        pairs = zip(reduced(n, size)[0].messages, right, strict=True)
        return all(mine[: n - 1] == wanted[: n - 1] for mine, wanted in pairs)

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
        (lambda: not means(4, 8),
         "Your `ring_all_reduce` returns the mean of the arrays. Return their sum; training divides it later."),
        (lambda: sums(4, 8) or scatters(4, 8),
         "The result is not the sum over all processes, for 4 processes and 8 numbers. In the first half, use the "
         "chunk numbers of your `reduce_scatter_step`. `swap` sends chunk k and returns the left neighbor's chunk "
         "k - 1, which belongs to your own chunk k - 1."),
        (lambda: sums(4, 8),
         "Your `ring_all_reduce` sends the right chunks in the reduce-scatter, but the result is not the sum. Look at "
         "the all-gather: its loop is the same, begun with chunk rank + 1, and what arrives replaces your own chunk "
         "k - 1."),
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


class _SevenImages:
    """Of one pixel each, all equal; some have the class 1, which `_always_one` answers. Notes what is asked for."""

    classes = (0, 1, 0, 1, 0, 1, 1)

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, row: int) -> Any:
        import torch

        self.asked.append(int(row))
        return torch.ones(1), torch.tensor(self.classes[row])


def _always_one(recorded: list[bool]) -> nn.Module:
    """A model that answers class 1, and adds for each batch whether a graph was recorded."""
    import torch
    from torch import nn

    model = nn.Linear(1, 2)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.0], [1.0]]))
        model.bias.zero_()
    model.register_forward_hook(lambda *_: recorded.append(torch.is_grad_enabled()))
    return model


def evaluating_process(rank: int, wires: Any, port: int, function: Any) -> Any:
    """In a process of its own: what `function` returns, which images it asked for, and whether it recorded a graph."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    with _as_process(rank, len(wires) + 1, port):
        dist.init_process_group("gloo")
        dataset, recorded = _SevenImages(), [False]
        value = function(_always_one(recorded), dataset, batch_size=3)
        dist.destroy_process_group()
    return value if value is None else float(value), dataset.asked, any(recorded)


def check_evaluate(attempt: Any) -> Any:
    """`evaluate(model, dataset, batch_size)` is called by every process, and returns the accuracy on all images."""
    import torch.distributed as dist

    @cache
    def alone() -> Any:
        """What one process returns, this one."""
        with _as_process(0, 1, _free_port()):
            dist.init_process_group("gloo")
            return attempt(_always_one([]), _SevenImages(), batch_size=3)

    @cache
    def together() -> Any:
        """For each of two processes what it returns, its images, and whether it recorded a graph; None if they fail."""
        try:
            return [o.value for o in distributed.run(evaluating_process, 2, _free_port(), attempt, timeout=20)]
        except (TimeoutError, distributed.WorkerError):
            return None

    def near(found: Any, wanted: float) -> bool:
        return found is not None and abs(float(found) - wanted) < 1e-4

    def both(first: float, second: float) -> bool:
        return near(together()[0][0], first) and near(together()[1][0], second)

    def images() -> list[int]:
        return sorted(together()[0][1] + together()[1][1])

    return attempt_or_solution(
        "evaluate", attempt, _evaluate_in_any_process,
        (lambda: alone() is not None, f"`evaluate` {NOTHING_RETURNED}"),
        (lambda: isinstance(alone(), int | float), "Return a Python number: the `.item()` of a tensor with one entry."),
        (lambda: not near(alone(), 4), "You return the number of right answers. Divide it by the number of images."),
        (lambda: not near(alone(), 2 / 3),
         "You average the accuracies of the batches, but the last batch may be smaller. Add up counts, and divide "
         "once, after the loop."),
        (lambda: near(alone(), 4 / 7),
         "With a single process and 7 images in batches of 3, of which the model gets 4 right, your function does not "
         "return 4/7. Count right answers and images over all batches, and divide after the loop."),
        (lambda: together() is not None,
         "With one process it works, with two it fails or never ends. Every process should call dist.all_reduce "
         "equally often, but the processes may have different numbers of batches. So call it after the loop, in every "
         "rank."),
        (lambda: set(images()) == set(range(7)), "With two processes, some images are evaluated by neither."),
        (lambda: len(images()) < 14,
         "With two processes, each evaluates all images, so sharing gains nothing. Go through `loader`, which has the "
         "part of this process."),
        (lambda: len(images()) == 7,
         "With two processes and 7 images, one image is evaluated twice. DistributedSampler repeats images; go through "
         "`loader`."),
        (lambda: not both(1 / 4, 1),
         "Each of two processes returns the accuracy of its own part. Call dist.all_reduce on the counts before you "
         "divide; it changes its argument and returns nothing."),
        (lambda: not both(4 / 4, 4 / 3),
         "You add up the right answers of all processes, but not their images. All-reduce both counts."),
        (lambda: not both(5 / 8, 5 / 8),
         "You average the accuracies of the two processes, but their parts have 4 and 3 images. All-reduce the counts, "
         "and divide afterward."),
        (lambda: not both(5 / 4, 5 / 4),
         "You add up the accuracies of the two processes. All-reduce the counts, and divide afterward."),
        (lambda: not both(4 / 14, 4 / 14),
         "Each of two processes counts all images of the data set. It should count those of its own part, `len(y)`."),
        (lambda: near(together()[0][0], together()[1][0]),
         "The two processes return different numbers. After dist.all_reduce, each has the sums."),
        (lambda: both(4 / 7, 4 / 7),
         "With one process the accuracy is right, with two it is not. All-reduce the right answers and the images, "
         "once each, and divide afterward."),
        (lambda: not any(recorded for *_, recorded in together()),
         "The accuracy is right, but your function records a graph for a backward pass that never comes. Run the loop "
         "under torch.no_grad()."),
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
         "Two processes end with different weights: they did not begin with equal ones, or their gradients were not "
         "averaged. Wrap the layer in DistributedDataParallel, which does both, and call the wrapper, model(x)."),
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
