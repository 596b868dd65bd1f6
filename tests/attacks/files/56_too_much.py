"""Notebooks that are too large, too long or too deep. What is large and honest is graded."""

import json
import os

from tests.attacks.handed_in import answers, code, content, folder, notebook, submit

MANY_CELLS = b'{"cells": [' + b'{"cell_type": "code", "source": "x = 1"},' * 100_000 + b"{}]}"

deep_lists = content("JSON nested 10^5 deep", rejected="nested")(
    lambda honest: b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
)
deep_objects = content("objects nested 10^6 deep", rejected="nested")(lambda honest: b'{"a":' * 1_000_000)
many_cells = content("10^5 cells", rejected="cells")(lambda honest: MANY_CELLS)
# In 30 MB; a gigabyte once parsed.
many_values = content("10^7 values", rejected="values")(lambda honest: b'{"cells": [' + b"[]," * 10_000_000 + b"1]}")


@notebook("an answer of 1 MB", rejected="characters of code")
def giant_answer(notebook):
    answers(notebook)[0]["source"] += "\nx = 1" * 200_000


# A photograph in a text cell is honest, and dropped.
@notebook("an attachment of 20 MB")
def giant_attachment(notebook):
    notebook["cells"][0]["attachments"] = {"photo.png": {"image/png": "A" * (20 << 20)}}


# A print in a loop is honest, and outputs are never looked at.
@notebook("outputs of 20 MB")
def giant_outputs(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["line of some output\n"] * 100_000}]


# A sparse file: no memory is taken for it.
@folder("a notebook of 512 MiB", rejected="MiB")
def half_a_gigabyte(folder, honest):
    os.truncate(submit(folder, honest), 512 << 20)


# Python takes quadratic time for whole numbers of many digits.
@content("a number of ten million digits")
def huge_number(honest):
    data = json.loads(honest)
    data["metadata"]["n"] = "PLACE"
    return json.dumps(data).encode().replace(b'"PLACE"', b"7" * 10_000_000)


# Code that no parser can take: it is read, and fails when it runs.
@notebook("brackets nested 40,000 deep in an added cell")
def nested_code(notebook):
    notebook["cells"].append(code("x = " + "(" * 40_000 + ")" * 40_000))
