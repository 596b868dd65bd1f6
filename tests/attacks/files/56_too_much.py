"""Notebooks that are too large, too long or too deep. What is large and honest is graded."""

import json
import os

from tests.attacks.handed_in import answers, code, content, folder, notebook


@content("JSON nested 10^5 deep", rejected="nested")
def deep_lists(honest):
    """Deeper than any parser's stack."""
    return b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@content("objects nested 10^6 deep", rejected="nested")
def deep_objects(honest):
    """The same with objects, never closed."""
    return b'{"a":' * 1_000_000


@notebook("an answer of 1 MB", rejected="characters of code")
def giant_answer(notebook):
    """A megabyte of code in one answer."""
    answers(notebook)[0]["source"] += "\nx = 1" * 200_000


@notebook("an attachment of 20 MB")
def giant_attachment(notebook):
    """A photograph of 20 MB in a text cell is honest, and dropped."""
    notebook["cells"][0]["attachments"] = {"photo.png": {"image/png": "A" * (20 << 20)}}


@notebook("outputs of 20 MB")
def giant_outputs(notebook):
    """A print in a loop is honest, and outputs are never looked at."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["line of some output\n"] * 100_000}]


@folder("a notebook of 512 MiB", rejected="MiB")
def half_a_gigabyte(folder, honest):
    """A sparse file of 512 MiB: no memory is taken for it."""
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    os.truncate(folder / f"{folder.name}.ipynb", 512 << 20)


@content("a number of ten million digits")
def huge_number(honest):
    """Python takes quadratic time for whole numbers of many digits."""
    data = json.loads(honest)
    data["metadata"]["n"] = "PLACE"
    return json.dumps(data).encode().replace(b'"PLACE"', b"7" * 10_000_000)


@content("10^5 cells", rejected="cells")
def many_cells(honest):
    """A hundred thousand cells."""
    return b'{"cells": [' + b'{"cell_type": "code", "source": "x = 1"},' * 100_000 + b"{}]}"


@content("10^7 values", rejected="values")
def many_values(honest):
    """Ten million empty lists in 30 MB: a gigabyte once parsed."""
    return b'{"cells": [' + b"[]," * 10_000_000 + b"1]}"


@notebook("brackets nested 40,000 deep in an added cell")
def nested_code(notebook):
    """Code that no parser can take: it is read, and fails when it runs."""
    notebook["cells"].append(code("x = " + "(" * 40_000 + ")" * 40_000))
