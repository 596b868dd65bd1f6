"""Tags: nbclient leaves out cells with some, and untested code then has full marks in nbgrader."""

from tests.attacks.handed_in import notebook, tests_cells


@notebook("tests tagged skip-execution", flags=("skip-tag",))
def skip_tag(notebook):
    for cell in tests_cells(notebook):
        cell["metadata"]["tags"] = ["skip-execution", "otter_ignore", "raises-exception"]
