"""Ready-made functions are seen at work in any thread, by any name, and work afterwards as before."""

from __future__ import annotations

import colorsys
import threading
import types

import pytest

from course_lib.checks.delegation import calls_of, functions_of


def add(a: int, b: int = 2, *, c: int = 3) -> int:
    return a + b + c


def closed(k: int) -> types.FunctionType:
    def inside() -> int:
        return k

    return inside  # type: ignore[return-value]


KNOWN_BEFORE = [add]


def test_calls_are_seen_by_any_name_and_in_any_thread_and_answer_as_before() -> None:
    with calls_of([add, closed(4), colorsys.rgb_to_hsv]) as seen:  # type: ignore[list-item]
        assert seen == set()
        answers: list[int] = []
        thread = threading.Thread(target=lambda: answers.append(KNOWN_BEFORE[0](1, c=5)))
        thread.start()
        thread.join()
        assert answers == [8] and add(1) == 6 and closed(4)() == 4
        assert seen == {"add"}
        assert colorsys.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0) and seen == {"add", "rgb_to_hsv"}
    assert add(1) == 6 and add.__defaults__ == (2,) and add.__kwdefaults__ == {"c": 3}
    assert seen == {"add", "rgb_to_hsv"}


def test_an_exception_passes_and_everything_is_put_back() -> None:
    code = add.__code__
    with pytest.raises(TypeError), calls_of([add]):  # type: ignore[list-item]
        add()  # type: ignore[call-arg]
    assert add.__code__ is code


def test_functions_of_a_module_are_its_own() -> None:
    names = {f.__name__ for f in functions_of(colorsys)}
    assert {"rgb_to_hsv", "hls_to_rgb"} <= names
    assert functions_of(types.SimpleNamespace) == []


@pytest.mark.slow
def test_an_optimizer_that_was_hidden_is_seen() -> None:
    import importlib

    import torch

    module = importlib.import_module("torch.optim.sgd")
    step = torch.optim.SGD([p := torch.nn.Parameter(torch.ones(2))], lr=1.0).step
    p.grad = torch.ones(2)
    with calls_of(functions_of(module, torch.optim.SGD)) as seen:
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    assert "_single_tensor_sgd" in seen and p.tolist() == [0.0, 0.0]
