"""A student's function gets copies, is caught when it writes into them, and may keep any cache it likes."""

from __future__ import annotations

import threading
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from course_lib.checks.calling import call, parts, plain
from course_lib.checks.outcome import CheckFailed


def test_a_function_that_reads_gets_its_value_through() -> None:
    x, params = np.arange(3.0), {"W": np.ones(3)}
    assert call(lambda x, params: float(x @ params["W"]), x, params) == 3.0


def test_a_changed_argument_is_named_and_the_original_is_safe() -> None:
    def fill(scores: np.ndarray) -> None:
        scores[:] = 7

    scores = np.ones(2)
    with pytest.raises(CheckFailed, match="changed its argument scores"):
        call(fill, scores)
    with pytest.raises(CheckFailed, match="argument scores"):
        call(fill, scores=scores)
    np.testing.assert_array_equal(scores, [1, 1])


def test_a_changed_array_inside_a_dict_is_named() -> None:
    def step(x: np.ndarray, params: dict[str, np.ndarray]) -> None:
        params["W1"] -= 0.1

    with pytest.raises(CheckFailed, match=r'argument params\["W1"\]'):
        call(step, np.ones(1), {"W1": np.ones(2)})
    with pytest.raises(CheckFailed, match='removed "W1" from its argument params'):
        call(lambda x, params: params.clear(), np.ones(1), {"W1": np.ones(2)})


def test_an_argument_put_back_up_to_rounding_is_unchanged() -> None:
    def there_and_back(x: np.ndarray) -> None:
        x += 1e-5
        x -= 2e-5
        x += 1e-5

    call(there_and_back, np.array([0.1, 0.7, 3.3]))


def test_a_cache_that_cannot_be_copied_is_handed_on_as_it_is() -> None:
    cache = (threading.Lock(), lambda dscores: 2 * dscores)
    assert call(lambda dscores, cache: cache[1](dscores), 3.0, cache) == 6.0


@pytest.mark.parametrize(("returned", "words"), [
    (None, "returned None; it should return the tuple (loss, dscores). Hint: Is there a `return`?"),
    (np.ones(2), "returned a ndarray"), ({"loss": 1}, "returned a dict"), ((1, 2, 3), "returned 3 values"),
])  # fmt: skip
def test_a_wrong_number_of_values_is_told(returned: Any, words: str) -> None:
    assert parts("f()", [1, 2], ("loss", "dscores")) == (1, 2)
    with pytest.raises(CheckFailed) as failure:
        parts("f(scores, labels)", returned, ("loss", "dscores"))
    assert words in str(failure.value)


def test_subclasses_count_as_what_they_are_based_on() -> None:
    pair = namedtuple("pair", "loss dscores")
    got = plain(OrderedDict(W=np.ones(2).view(np.recarray), both=pair(1.0, [np.float32(2)])))
    assert [type(part) for part in (got, got["W"], got["both"], got["both"][1])] == [dict, np.ndarray, tuple, list]
    assert got["both"] == (1.0, [2.0])
    assert plain(pair) is pair, "what is none of these stays as it is"
