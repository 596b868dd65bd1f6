"""nbgrader's metadata: points, ids, roles and versions that are not the instructor's."""

import copy

from tests.attacks.handed_in import answers, code, notebook, tests_cells


# The copies have the answer's id; the last one that was worked on counts.
@notebook("every answer first in an unfinished version", flags=("duplicate-cell",))
def duplicate_answers(notebook):
    for cell in answers(notebook):
        unfinished = copy.deepcopy(cell) | {"source": "unfinished = True\n" + cell["source"]}
        notebook["cells"].insert(notebook["cells"].index(cell), unfinished)


# Copying a cell copies its id: an innocent Ctrl-C, Ctrl-V that stops nbgrader's whole batch.
@notebook("every tests cell twice", flags=("duplicate-cell",))
def duplicate_tests(notebook):
    for cell in tests_cells(notebook):
        notebook["cells"].insert(notebook["cells"].index(cell), copy.deepcopy(cell))


@notebook("nbgrader metadata that is no metadata")
def ids_of_odd_types(notebook):
    ids = [{"grade_id": 7}, {"grade_id": ["a"]}, {"grade_id": None, "points": {}}, {"grade_id": ""}]
    for number, odd in enumerate([None, 3, [], "text", *ids]):
        notebook["cells"].append(code(f"extra_{number} = 1") | {"metadata": {"nbgrader": odd, "tags": odd}})


@notebook("points of every tests cell set to 1000", flags=("changed-metadata",))
def points(notebook):
    for cell in tests_cells(notebook):
        cell["metadata"]["nbgrader"]["points"] = 1000


# In nbgrader this stops the grading of everybody after this student.
@notebook("metadata of a future version", flags=("changed-metadata",))
def schema_version(notebook):
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = 99


@notebook("grade, solution and locked turned round", flags=("changed-metadata",))
def swapped_flags(notebook):
    for cell in notebook["cells"]:
        meta = cell["metadata"].get("nbgrader", {})
        meta |= {key: not meta.get(key) for key in ("grade", "solution", "locked", "task")}


@notebook("ids of the solution cells passed round")
def swapped_ids(notebook):
    metas = [cell["metadata"]["nbgrader"] for cell in answers(notebook)]
    ids = [meta["grade_id"] for meta in metas]
    for meta, other in zip(metas, ids[1:] + ids[:1], strict=True):
        meta["grade_id"] = other
