"""The class that `make demo` grades can be built from today's assignment and its bank."""

from __future__ import annotations

from pathlib import Path

from autograder.assignment import load_assignment
from autograder.submissions.intake import find_submissions
from tests import sample_class


def test_of_twelve_students_the_last_handed_in_half_a_file(tmp_path: Path) -> None:
    sample_class.main(tmp_path)
    assignment = load_assignment(sample_class.NAME, sample_class.ROOT)
    read = [one.read(assignment) for one in find_submissions(tmp_path, assignment).students]
    assert len(read) == 12
    assert [one.student for one in read if one.rejected] == ["lena"]
    assert [one.student for one in read if one.flags] == []
