"""Measured slopes agree with derivatives known from calculus."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.checks.oracles import slopes


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 2)])
def test_slopes_of_smooth_functions_are_their_derivatives(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    weights = np.random.default_rng(1).normal(size=shape)
    found = slopes(lambda v: float(np.sum(weights * np.sin(v))), x)
    assert found.shape == shape
    np.testing.assert_allclose(found, weights * np.cos(x), atol=1e-9)


def test_a_polynomial_of_degree_four_is_measured_exactly() -> None:
    x = np.array([2.0, -1.0])
    np.testing.assert_allclose(slopes(lambda v: float(np.sum(v**4)), x, h=0.5), 4 * x**3, rtol=1e-12)


def test_the_point_stays_where_it_is_even_if_the_function_writes_into_it() -> None:
    x = np.array([1.0, 2.0])

    def greedy(v: np.ndarray) -> float:
        value = float(v[0] * v[1])
        v[:] = 99
        return value

    np.testing.assert_allclose(slopes(greedy, x), [2.0, 1.0], atol=1e-9)
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_an_answer_cannot_call_it() -> None:
    answer = compile("slopes(lambda v: float(v.sum()), x)", "/tmp/ipykernel_7/1234.py", "eval")
    with pytest.raises(RuntimeError, match="for the checks of the course"):
        eval(answer, {"slopes": slopes, "x": np.ones(2)})
