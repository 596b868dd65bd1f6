"""What honest students hand in that a reader may stumble over."""

import copy

from tests.attacks.handed_in import answers, code, notebook, tests_cells


@notebook("answers in new cells")
def answers_in_new_cells(notebook):
    for cell in answers(notebook):
        notebook["cells"].insert(notebook["cells"].index(cell) + 1, code(cell["source"]))
        cell["source"] = ""


# As some editors and platforms save it.
@notebook("no metadata at all")
def metadata_stripped(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}


# The id of the copied cell comes along.
@notebook("locked cells pasted and written over")
def pasted_cells(notebook):
    for cell in tests_cells(notebook):
        place = notebook["cells"].index(cell)
        notebook["cells"].insert(place + 1, copy.deepcopy(cell) | {"source": f"tried_{place} = 'printing'"})


@notebook("added cells that print and explain")
def print_debugging(notebook):
    says = {"cell_type": "markdown", "metadata": {}, "source": "It works: 1 < 2."}
    cells = enumerate(notebook["cells"])
    notebook["cells"] = [one for n, cell in cells for one in (cell, code(f"print({n})  # does it work?"), says)]
