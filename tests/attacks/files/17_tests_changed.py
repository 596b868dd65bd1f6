"""Tests cells edited, moved, deleted or made something else."""

from tests.attacks.handed_in import answers, notebook, tests_cells


@notebook("tests replaced by pass", flags=("edited-locked-cell",), smuggled=("SMUGGLED",))
def edited_tests(notebook):
    for cell in tests_cells(notebook):
        cell["source"] = "pass  # SMUGGLED"


# Cells of these types are not executed, and so produce no error.
def turned_into(kind):
    def turn(notebook):
        for cell in tests_cells(notebook):
            cell["cell_type"] = kind

    return turn


tests_as_markdown = notebook("tests turned into markdown", flags=("changed-metadata",))(turned_into("markdown"))
tests_as_raw = notebook("tests turned into raw", flags=("changed-metadata",))(turned_into("raw"))


@notebook("tests deleted", flags=("missing-cell",))
def deleted_tests(notebook):
    gone = tests_cells(notebook)
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in gone]


@notebook("tests moved to the top", flags=("moved-cell",))
def moved_tests(notebook):
    tests = tests_cells(notebook)
    notebook["cells"] = tests + [cell for cell in notebook["cells"] if cell not in tests]


# The answers stand in the tests cells, whose text is the instructor's, and nowhere else.
@notebook(
    "solution wrapped in the tests cell",
    unanswered=True,
    flags=("edited-locked-cell", "missing-cell"),
    smuggled=("SMUGGLED",),
)
def wrapped_in_tests(notebook):
    for tests, answer in zip(tests_cells(notebook), answers(notebook), strict=False):
        tests["source"] = "SMUGGLED = 1\n" + answer["source"] + "\n" + tests["source"]
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("solution")]
