"""Rings and servers give the sum, whatever the number of processes and the size, with the bytes of the formulas.

They run in threads here, on the same wires: what they compute does not depend on who runs them.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from course_lib.lectures.distributed import Wire, exchange


def in_threads(worker: Callable[..., Any], count: int, *arguments: Any) -> tuple[list[Any], list[int]]:
    """What `distributed.run` does, in threads: results, and the bytes that each sent."""
    wires: list[dict[int, Wire]] = [{} for _ in range(count)]
    for low in range(count):
        for high in range(low + 1, count):
            one, other = multiprocessing.Pipe()
            wires[low][high], wires[high][low] = Wire(one), Wire(other)
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(worker, rank, wires[rank], *arguments) for rank in range(count)]
        results = [future.result(timeout=60) for future in futures]
    sent = [sum(wire.sent for wire in ends.values()) for ends in wires]
    for ends in wires:
        for wire in ends.values():
            wire.connection.close()
    return results, sent


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [1, 4, 7, 60, 60_000])
def test_a_ring_gives_everyone_the_same_sum_for_the_bytes_of_the_formula(count: int, size: int) -> None:
    draw = np.random.default_rng(count * size)
    arrays = [draw.standard_normal(size) for _ in range(count)]
    before = [array.copy() for array in arrays]
    results, sent = in_threads(exchange.ring_sum, count, arrays)
    for result in results:
        np.testing.assert_allclose(result, np.sum(arrays, axis=0), rtol=1e-12, atol=1e-12)
        assert np.array_equal(result, results[0])
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True))
    assert sum(sent) == 2 * (count - 1) * size * 8
    if size % count == 0:
        assert set(sent) == {2 * (count - 1) * size * 8 // count}
    single, sent = in_threads(exchange.ring_sum, count, [np.ones(size, np.float32)] * count)
    assert single[0].dtype == np.float32 and set(single[0]) == {count} and sum(sent) == 2 * (count - 1) * size * 4


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_server_gives_everyone_the_sum_and_sends_it_to_each(workers: int) -> None:
    arrays = [np.full(10, 10.0**k) for k in range(workers)]
    results, sent = in_threads(exchange.server_sum, workers + 1, arrays)
    assert all(np.array_equal(result, np.sum(arrays, axis=0)) for result in results)
    assert sent == [workers * 80] + [80] * workers


@pytest.fixture
def task() -> tuple[Any, ...]:
    draw = np.random.default_rng(0)
    return draw.standard_normal((6, 3)), draw.standard_normal((40, 5)), draw.integers(0, 3, 40), 0.3, 12, 7


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_training_by_ring_or_server_equals_training_alone(task: tuple[Any, ...], count: int) -> None:
    alone = exchange.train_alone(*task)
    by_ring, _ = in_threads(exchange.train_by_ring, count, *task)
    by_server, _ = in_threads(exchange.train_by_server, count + 1, *task)
    for results in (by_ring, by_server):
        for weights in results:
            np.testing.assert_allclose(weights, alone, rtol=0, atol=1e-13)
            assert np.array_equal(weights, results[0])


def test_the_gradient_is_that_of_the_loss(task: tuple[Any, ...]) -> None:
    weights, x, y, *_ = task
    gradient = exchange.softmax_gradient(weights, x, y)
    for index in np.ndindex(weights.shape):
        nudge = np.zeros_like(weights)
        nudge[index] = 1e-6
        slope = exchange.softmax_loss(weights + nudge, x, y) - exchange.softmax_loss(weights - nudge, x, y)
        assert abs(slope / 2e-6 - gradient[index]) < 1e-8


@pytest.mark.parametrize("count", [2, 3])
def test_sharing_the_momentum_changes_nothing_but_the_state(count: int) -> None:
    draw = np.random.default_rng(1)
    weights, gradients = draw.standard_normal(12), draw.standard_normal((count, 4, 12))
    whole, whole_sent = in_threads(exchange.momentum_by_all_reduce, count, weights, gradients, 0.1)
    shared, shared_sent = in_threads(exchange.momentum_by_shares, count, weights, gradients, 0.1)
    assert all(np.array_equal(a, b) for (a, _), (b, _) in zip(whole, shared, strict=True))
    assert ({size for _, size in whole}, {size for _, size in shared}) == ({12}, {12 // count})
    assert whole_sent == shared_sent


def test_workers_that_take_turns_are_stale_by_the_number_of_the_others(task: tuple[Any, ...]) -> None:
    weights, x, y, rate, _, _ = task
    [served, *nothing], _ = in_threads(exchange.train_without_waiting, 4, weights, x, y, rate, 2, 9, [1, 2, 3])
    history, staleness, turns = served
    assert nothing == [None] * 3
    assert (staleness, turns) == ([0, 1, 2, 2, 2, 2, 2, 2, 2], [1, 2, 3] * 3)
    first = weights - rate * exchange.softmax_gradient(weights, x[[0, 3]], y[[0, 3]])
    second = first - rate * exchange.softmax_gradient(weights, x[[1, 4]], y[[1, 4]])  # taken at the first weights
    assert np.array_equal(history[1], first) and np.array_equal(history[2], second)
    [(history, staleness, turns), *_], _ = in_threads(exchange.train_without_waiting, 3, weights, x, y, rate, 2, 20)
    assert (len(history), len(staleness), len(turns)) == (21, 20, 20) and set(turns) <= {1, 2}, "without an order"


def test_the_history_of_a_ring_names_who_is_in_a_sum() -> None:
    histories, _ = in_threads(exchange.ring_history, 3)
    assert [history[0].tolist() for history in histories] == [[1, 1, 1], [2, 2, 2], [4, 4, 4]]
    assert all((history[-1] == 7).all() and len(history) == 5 for history in histories)


def test_timings_are_positive_and_one_for_each_size() -> None:
    results, _ = in_threads(exchange.exchange_seconds, 2, [1, 100], 1)
    assert all(len(times) == 2 and min(times) > 0 for times in results)
    results, _ = in_threads(exchange.step_seconds, 2, 8, 4, 10, 1)
    assert all(min(pair) >= 0 for pair in results)
