"""Notebooks in other formats than today's."""

from tests.attacks.handed_in import answers, notebook


@notebook("everything optional is missing", flags=("repaired",))
def bare_cells(notebook):
    bare = []
    for cell in notebook["cells"]:
        kept = {"cell_type": cell["cell_type"], "source": cell["source"].splitlines(keepends=True)}
        bare.append(kept | ({"metadata": cell["metadata"]} if cell["metadata"] else {}))
    return {"cells": bare}


# Saved by a Jupyter of the future.
@notebook("nbformat 4.99")
def minor_too_new(notebook):
    notebook |= {"nbformat_minor": 99, "future": {"cells": 1}}


# Worksheets and `input`, as ten years ago.
@notebook("notebook format 3", flags=("repaired",))
def nbformat3(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": notebook["cells"]}]}


@notebook("source is a number", rejected="not text")
def source_is_a_number(notebook):
    answers(notebook)[0]["source"] = 42


@notebook("source is a nested list", rejected="not text")
def source_is_nested(notebook):
    notebook["cells"][0]["source"] = [["# Title"]]
