"""What is said of an exception: its own words, and the student's line."""

from __future__ import annotations

import linecache

import pytest

from autograder.protocol.probes import error_text, student_line

CELL = "/ipykernel_0/notebook_cell_7.py"
TRACED = f'''in user code:

    File "{CELL}", line 10, in step  *
        history.append(loss.numpy())
    File "/lib/keras/src/models.py", line 3, in call
        return x

    AttributeError: 'SymbolicTensor' object has no attribute 'numpy'
    (it has none)
'''


def raised(source: str, filename: str) -> BaseException:
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    with pytest.raises(Exception) as found:
        exec(compile(source, filename, "exec"))
    return found.value


def test_the_innermost_line_of_a_cell_is_the_students() -> None:
    error = raised("import json\njson.loads('{')\n", CELL)
    assert student_line(error) == f"{CELL}:2: json.loads('{{')"
    assert student_line(raised("1 / 0", "<probe p>")) == ""
    assert error_text(error).startswith("Expecting property name")


def test_a_message_that_holds_a_traceback_gives_its_end_and_the_students_line() -> None:
    error = AttributeError(TRACED)
    assert error_text(error) == "'SymbolicTensor' object has no attribute 'numpy'\n    (it has none)"
    assert student_line(error) == f"{CELL}:10: history.append(loss.numpy())"
    assert error_text(AttributeError("in user code: nothing more")) == "in user code: nothing more"


def test_an_error_of_a_graph_is_told_without_the_place_where_its_node_was_made() -> None:
    made = f'  File "{CELL}", line 5, in <module>\n' * 100
    error = ValueError(
        f"Graph execution error:\n\nDetected at node 'Read' defined at (most recent call last):\n{made}"
        f"Node: 'Read'\nCould not find variable v.\n\t [[{{{{node Read}}}}]]\n\n"
        f"Original stack trace for 'Read':\n{made}"
    )
    assert error_text(error) == "Could not find variable v.\n\t [[{{node Read}}]]"
    assert error_text(ValueError("Graph execution error: none")) == "Graph execution error: none"


def test_a_traceback_that_a_student_quotes_is_not_where_the_error_was_raised() -> None:
    error = raised(f"quoted = {TRACED[15:]!r}\nraise ValueError(quoted)\n", CELL)
    assert student_line(error) == f"{CELL}:2: raise ValueError(quoted)"
