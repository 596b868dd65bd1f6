"""The back end is tried out before it is named, and Grappler's result computes what went in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib import frameworks
from course_lib.lectures import compilers

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True, scope="module")
def prepared() -> None:
    frameworks.prepare("torch", "tensorflow")


def test_without_a_compiler_that_works_the_graph_is_captured_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def broken(function: Any, **options: Any) -> Any:
        raise RuntimeError("Python.h: no such file\nand more")

    monkeypatch.setattr(torch, "compile", broken)
    for found, reason in ((None, "no C++ compiler"), ("/bin/c++", "(Python.h: no such file)")):
        monkeypatch.setattr(compilers.shutil, "which", lambda name, found=found: found)
        backend, why = compilers.torch_backend()
        assert backend == "aot_eager" and reason in why


def test_the_back_end_that_is_named_works(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    backend, _ = compilers.torch_backend()
    x = torch.linspace(-1, 1, 7)
    try:
        assert torch.allclose(torch.compile(torch.tanh, backend=backend)(x), x.tanh())
    finally:
        torch.compiler.reset()


def test_grappler_shows_the_graph_before_and_after() -> None:
    import tensorflow as tf

    def twice(x: Any) -> Any:
        tf.exp(x)
        return tf.tanh(x) + tf.tanh(x) * (1.0 + tf.ones([3]))

    concrete = tf.function(twice).get_concrete_function(tf.TensorSpec([None, 3]))
    before, after = (
        [node.op for node in graph.node] for graph in compilers.grappler(concrete, np.ones((2, 3), np.float32))
    )
    assert (before.count("Tanh"), before.count("Exp")) == (2, 1)
    assert (after.count("Tanh"), after.count("Exp")) == (1, 0)
