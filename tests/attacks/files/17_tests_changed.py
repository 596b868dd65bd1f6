"""Tests cells edited, moved, deleted or made something else."""

from tests.attacks.handed_in import answers, notebook, tests_cells


@notebook("tests deleted", flags=("missing-cell",))
def deleted_tests(notebook):
    """A tests cell that is not there cannot fail."""
    gone = tests_cells(notebook)
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in gone]


@notebook("tests replaced by pass", flags=("edited-locked-cell",), smuggled=("SMUGGLED",))
def edited_tests(notebook):
    """Tests that ask nothing."""
    for cell in tests_cells(notebook):
        cell["source"] = "pass  # SMUGGLED"


@notebook("tests moved to the top", flags=("moved-cell",))
def moved_tests(notebook):
    """Tests that run before the answer test something else."""
    tests = tests_cells(notebook)
    notebook["cells"] = tests + [cell for cell in notebook["cells"] if cell not in tests]


@notebook("tests turned into markdown", flags=("changed-metadata",))
def tests_as_markdown(notebook):
    """A markdown cell is not executed, and so produces no error."""
    for cell in tests_cells(notebook):
        cell["cell_type"] = "markdown"


@notebook("tests turned into raw", flags=("changed-metadata",))
def tests_as_raw(notebook):
    """A raw cell is not executed, and so produces no error."""
    for cell in tests_cells(notebook):
        cell["cell_type"] = "raw"


@notebook(
    "solution wrapped in the tests cell",
    unanswered=True,
    flags=("edited-locked-cell", "missing-cell"),
    smuggled=("SMUGGLED",),
)
def wrapped_in_tests(notebook):
    """The answers stand in the tests cells, whose text is the instructor's, and nowhere else."""
    for tests, answer in zip(tests_cells(notebook), answers(notebook), strict=False):
        tests["source"] = "SMUGGLED = 1\n" + answer["source"] + "\n" + tests["source"]
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
