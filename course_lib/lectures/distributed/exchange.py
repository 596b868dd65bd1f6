"""Data-parallel training by hand, on NumPy arrays and counted wires: the parameter server and the ring.

Lecture 17 shows the source of these functions; they stand in a module because a new process imports what it runs.
The task is the same for all: softmax regression, whose weights are one matrix, (features + 1, classes), biases last.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.lectures.distributed.processes import Wires

Array = NDArray[Any]


# The task


def softmax_gradient(weights: Array, x: Array, y: Array) -> Array:
    """The gradient of the mean cross-entropy of the examples `x`, (k, features), with the classes `y`, (k,)."""
    x = np.hstack([x, np.ones((len(x), 1))])
    scores = x @ weights
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    odds[np.arange(len(y)), y] -= 1
    return np.asarray(x.T @ odds / len(y))


def softmax_loss(weights: Array, x: Array, y: Array) -> float:
    """The mean cross-entropy."""
    scores = np.hstack([x, np.ones((len(x), 1))]) @ weights
    scores = scores - scores.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]))


def train_alone(weights: Array, x: Array, y: Array, rate: float, batch: int, steps: int) -> Array:
    """The reference: one process, the whole batch. Step k takes the k-th `batch` examples, round and round."""
    weights = weights.copy()
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(x)
        weights -= rate * softmax_gradient(weights, x[rows], y[rows])
    return weights


# The parameter server


def serve(weights: Array, wires: Wires, rate: float, steps: int) -> Array:
    """The server: collect a gradient from each worker, step along their mean, send the new weights to each."""
    for _ in range(steps):
        total = np.zeros(weights.size)
        for wire in wires.values():
            total += wire.receive()
        weights = weights - rate * (total / len(wires)).reshape(weights.shape)
        for wire in wires.values():
            wire.send(weights)
    return weights


def train_by_server(
    rank: int, wires: Wires, weights: Array, x: Array, y: Array, rate: float, batch: int, steps: int
) -> Array:
    """Process 0 is the server, the others are workers; worker k takes the k-th part of each batch."""
    if rank == 0:
        return serve(weights, wires, rate, steps)
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(x)
        mine = np.array_split(rows, len(wires))[rank - 1]
        wires[0].send(softmax_gradient(weights, x[mine], y[mine]))
        weights = wires[0].receive().reshape(weights.shape)
    return weights


# The ring


def swap(out: Array, rank: int, wires: Wires) -> Array:
    """Send `out` to the right and return what comes from the left. Even ranks send first, odd ranks receive first."""
    count = len(wires) + 1
    right, left = wires[(rank + 1) % count], wires[(rank - 1) % count]
    if rank % 2 == 0:
        right.send(out)
        return left.receive(out.dtype)
    into = left.receive(out.dtype)
    right.send(out)
    return into


def reduce_scatter(chunks: list[Array], rank: int, wires: Wires) -> None:
    """Add what comes from the left, pass the sum on. At the end chunk rank + 1 is complete, here and nowhere else."""
    count = len(chunks)
    for step in range(count - 1):
        chunks[(rank - step - 1) % count] += swap(chunks[(rank - step) % count], rank, wires)


def all_gather(chunks: list[Array], rank: int, wires: Wires) -> None:
    """Pass the complete chunks round the ring, until everyone has them all."""
    count = len(chunks)
    for step in range(count - 1):
        chunks[(rank - step) % count][:] = swap(chunks[(rank - step + 1) % count], rank, wires)


def ring_all_reduce(array: Array, rank: int, wires: Wires) -> None:
    """Replace the one-dimensional `array` by its sum over all processes, in place."""
    chunks = np.array_split(array, len(wires) + 1)  # views: a change of a chunk is a change of the array
    if wires:
        reduce_scatter(chunks, rank, wires)
        all_gather(chunks, rank, wires)


def train_by_ring(
    rank: int, wires: Wires, weights: Array, x: Array, y: Array, rate: float, batch: int, steps: int
) -> Array:
    """No server: every process adds up all gradients and takes the same step."""
    count = len(wires) + 1
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(x)
        mine = np.array_split(rows, count)[rank]
        gradient = softmax_gradient(weights, x[mine], y[mine]).ravel()
        ring_all_reduce(gradient, rank, wires)
        weights = weights - rate * (gradient / count).reshape(weights.shape)
    return weights


# Sharing the optimizer's state (ZeRO, stage 1)


def momentum_by_all_reduce(rank: int, wires: Wires, weights: Array, gradients: Array, rate: float) -> tuple[Array, int]:
    """SGD with momentum on `gradients[rank]`, (steps, size). Returns weights and how many numbers the state has."""
    count, weights, speed = len(wires) + 1, weights.copy(), np.zeros_like(weights)
    for gradient in gradients[rank].copy():
        ring_all_reduce(gradient, rank, wires)
        speed = 0.9 * speed + gradient / count
        weights -= rate * speed
    return weights, speed.size


def momentum_by_shares(rank: int, wires: Wires, weights: Array, gradients: Array, rate: float) -> tuple[Array, int]:
    """The same, but each process keeps the momentum of one chunk alone, and steps between the ring's two halves."""
    count, weights = len(wires) + 1, weights.copy()
    parts = np.array_split(weights, count)  # views again
    mine = (rank + 1) % count
    speed = np.zeros_like(parts[mine])
    for gradient in gradients[rank].copy():
        chunks = np.array_split(gradient, count)
        reduce_scatter(chunks, rank, wires)
        speed = 0.9 * speed + chunks[mine] / count
        parts[mine] -= rate * speed
        all_gather(parts, rank, wires)
    return weights, speed.size


# Without waiting


def serve_without_waiting(
    weights: Array, wires: Wires, rate: float, updates: int, order: Sequence[int] | None
) -> tuple[list[Array], list[int], list[int]]:
    """Step at once along each gradient that arrives, in any `order` or in the one given, round and round.

    Returns the weights before each update and after the last, the staleness of each gradient (how many updates
    happened while it was computed) and who sent it.
    """
    version, history, staleness, turns = dict.fromkeys(wires, 0), [weights], [], []
    for update in range(updates):
        turn = order[update % len(order)] if order else _first_ready(wires)
        weights = weights - rate * wires[turn].receive().reshape(weights.shape)
        staleness.append(update - version[turn])
        version[turn] = update + 1
        wires[turn].send(weights)
        history.append(weights)
        turns.append(turn)
    for wire in wires.values():
        wire.receive()  # a last gradient, which nobody needs
        wire.send(np.zeros(0))  # the end
    return history, staleness, turns


def _first_ready(wires: Wires) -> int:
    ready = wait([wire.connection for wire in wires.values()])
    return min(rank for rank, wire in wires.items() if wire.connection in ready)


def train_without_waiting(
    rank: int,
    wires: Wires,
    weights: Array,
    x: Array,
    y: Array,
    rate: float,
    batch: int,
    updates: int,
    order: Sequence[int] | None = None,
    pause: Sequence[float] = (),
) -> tuple[list[Array], list[int], list[int]] | None:
    """Process 0 serves; worker k takes every batch of its own k-th part of the data, and rests `pause[k - 1]` seconds.

    Returns what the server returns, and None from a worker.
    """
    if rank == 0:
        return serve_without_waiting(weights, wires, rate, updates, order)
    mine = np.arange(rank - 1, len(x), len(wires))  # one wire to the server, one to each other worker
    step, news = 0, weights.ravel()
    while news.size:
        weights = news.reshape(weights.shape)
        rows = mine[np.arange(step * batch, (step + 1) * batch) % len(mine)]
        time.sleep(pause[rank - 1] if pause else 0.0)
        wires[0].send(softmax_gradient(weights, x[rows], y[rows]))
        news, step = wires[0].receive(), step + 1
    return None


# What the lecture looks at


def ring_history(rank: int, wires: Wires) -> Array:
    """Who has contributed to which chunk, before the first step and after each: `(steps + 1, chunks)`.

    Process r brings the number 2**r in each chunk, so the bits of a sum say whose numbers are in it.
    """
    count = len(wires) + 1
    array, states = np.full(count, 2.0**rank), []
    right = wires[(rank + 1) % count]
    send = right.send

    def send_and_note(out: Array) -> None:
        states.append(array.copy())
        send(out)

    right.send = send_and_note  # type: ignore[method-assign, assignment]
    ring_all_reduce(array, rank, wires)
    return np.array([*states, array])


def ring_sum(rank: int, wires: Wires, arrays: Sequence[Array]) -> Array:
    """The ring on `arrays[rank]`."""
    array = arrays[rank].copy()
    ring_all_reduce(array, rank, wires)
    return array


def server_sum(rank: int, wires: Wires, arrays: Sequence[Array]) -> Array:
    """The same by a server, process 0, which adds up the arrays of the others and sends each of them the sum."""
    if rank == 0:
        total = np.sum([wire.receive() for wire in wires.values()], axis=0)
        for wire in wires.values():
            wire.send(total)
        return np.asarray(total)
    wires[0].send(arrays[rank - 1])
    return wires[0].receive()


def everyone_sends_first(rank: int, wires: Wires, size: int) -> int:
    """What `swap` avoids. Returns how many numbers arrived, if they do."""
    count = len(wires) + 1
    wires[(rank + 1) % count].send(np.zeros(size))
    return wires[(rank - 1) % count].receive().size


def exchange_seconds(rank: int, wires: Wires, sizes: Sequence[int], repeats: int = 5) -> list[float]:
    """The best time of a ring all-reduce for each of `sizes` (numbers of eight bytes)."""
    best = []
    for size in sizes:
        array, times = np.zeros(size), []
        for _ in range(repeats + 1):
            ring_all_reduce(np.zeros(len(wires) + 1), rank, wires)  # everyone is here
            start = time.perf_counter()
            ring_all_reduce(array, rank, wires)
            times.append(time.perf_counter() - start)
        best.append(min(times[1:]))
    return best


def step_seconds(rank: int, wires: Wires, side: int, products: int, size: int, repeats: int = 5) -> tuple[float, float]:
    """A training step in outline: this process's share of `products` matrix products, then a ring of `size` numbers.

    Returns the seconds of computing and of exchanging, those of the quickest step.
    """
    matrix, gradient, steps = np.ones((side, side), np.float32), np.zeros(size), []
    for _ in range(repeats + 1):
        ring_all_reduce(np.zeros(len(wires) + 1), rank, wires)
        start = time.perf_counter()
        for _ in range(products // (len(wires) + 1)):
            matrix @ matrix
        between = time.perf_counter()
        ring_all_reduce(gradient, rank, wires)
        steps.append((between - start, time.perf_counter() - between))
    return min(steps[1:], key=sum)
