"""Fair timing in one line: warm up once, repeat, keep the best, and wait for the GPU where there is one.

The best of several runs is reported because everything that disturbs a run makes it longer, never shorter.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(
    function: Callable[..., object],
    *arguments: object,
    repeats: int = 5,
    synchronize: Callable[[], object] | None = None,
) -> float:
    """Seconds of wall time for `function(*arguments)`: the best of `repeats` after one call to warm up.

    `synchronize` is called before the clock is read. A GPU needs it (`torch.cuda.synchronize`): without it,
    the clock shows how long it took to ask for the work, not to do it. Raises ValueError if `repeats` < 1.
    """
    if repeats < 1:
        raise ValueError(f"best_seconds: repeats is {repeats}; at least one timed call is needed")
    wait = synchronize or _nothing
    function(*arguments)
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        function(*arguments)
        wait()
        times.append(time.perf_counter() - start)
    return min(times)


def _nothing() -> None:
    """Stands in where nothing needs waiting for."""
