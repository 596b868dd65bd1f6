"""Python looked at without running it: right for ordinary code, an answer for any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from autograder.submissions.python_text import (
    defined_names,
    essence,
    forbidden_imports,
    parse,
    program_facts,
    remembers_calls,
    same_program,
)


def test_names_are_those_bound_at_the_top_level() -> None:
    source = (
        "import os\nx, y = 1, 2\nz: int = 3\n_hidden = 4\nasync def f():\n    inner = 5\nclass C: pass\na.b = c[0] = 6"
    )
    assert defined_names(source) == {"x", "y", "z", "f", "C"}


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1",
        "!ls -l | wc\nx = 1",
        "files = !ls\nx = 1",
        "t = %timeit -o pass\nx = 1",
        "if True:\n    %time y = 2\nx = 1",
        "x?\nx = 1",
        "?x\nx = 1",
        "%%time\nx = 1",
        "%%capture out --no-stderr\nx = 1",
    ],
)
def test_cells_with_magics_are_seen_as_ipython_sees_them(cell: str) -> None:
    """The oracle is IPython's own transformer; ours must be linear, theirs need not be."""
    assert TransformerManager().transform_cell(cell) != cell
    assert "x" in defined_names(cell)


def test_a_cell_in_another_language_defines_nothing() -> None:
    assert parse("%%bash\nx=1") is None
    assert program_facts("%%bash\nx=1").defined == frozenset()


def test_a_question_in_a_string_is_not_a_magic() -> None:
    assert parse("x = 'why?'\n%time 1") is not None
    assert defined_names("x = 'why?'\n%time 1") == {"x"}


def test_the_essence_of_code_knows_no_layout_and_no_comments() -> None:
    assert essence("x = 1  # one\n\n", "code") == essence("x=1", "code")
    assert essence("# nothing\n\n", "code") == ()
    assert essence("x = '# one'", "code") != essence("x = '# two'", "code")
    assert essence("x = (", "code") == essence("# open\nx  = (", "code")
    assert essence("a  b\n", "markdown") == ("a", "b")


def test_programs_are_the_same_but_for_comments_and_layout() -> None:
    assert same_program("x = 1 # a", "x=1")
    assert not same_program("x = 1", "x = 2")
    assert not same_program("x = (", "x = (")


@pytest.mark.parametrize(
    "source",
    [
        "seen = []\ndef f(x):\n    seen.append(x)",
        "rng: object = default_rng(0)\nf = lambda: rng.normal()",
        "made = None\ndef f():\n    global made",
        "def f(x, seen={}):\n    return x",
        "@functools.lru_cache(None)\ndef f(x):\n    return x",
        "class Step:\n    made = {}",
    ],
)
def test_a_program_may_remember_its_calls(source: str) -> None:
    assert remembers_calls(["import numpy", source])


def test_functions_of_their_arguments_remember_nothing() -> None:
    assert not remembers_calls(
        ["SHAPE = (2, 3)\ndef f(x, scale=1.0, y=None):\n    kept = []\n    return SHAPE", "x = f(1)"]
    )


def test_a_part_of_a_module_is_the_module() -> None:
    assert forbidden_imports("import torch.nn.functional as F\nimport torchvision", ("torch",)) == ("torch",)
    assert forbidden_imports("from keras import ops", ("keras.ops",)) == ("keras.ops",)


@settings(max_examples=300, deadline=None)
@given(source=st.text(alphabet="ab \n\t%!?=#'\"()[]{}\\:;.,0\x00\u2028é", max_size=60))
def test_any_text_gets_an_answer(source: str) -> None:
    defined_names(source)
    essence(source, "code")
    same_program(source, source + " ")
    forbidden_imports(source, ("a", "b"))
