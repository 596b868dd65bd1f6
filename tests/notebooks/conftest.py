"""Run each notebook once, keep its kernel while its tests ask questions, then let it go.

A test that takes `ran` is parametrised with the path of a notebook under `notebooks/`. The tests of one notebook run
one after the other, so that it is executed once and at most one kernel is alive.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import re
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
CELL_LIMIT_S = 120
QUICK = {
    "lectures/03_pytorch_tensors.ipynb",
    "assignments/a1_numpy_backprop/a1_numpy_backprop.ipynb",
    "release/a1_numpy_backprop/a1_numpy_backprop.ipynb",
}
"""what `make test-fast` executes, so that it notices when the machinery of all notebooks breaks"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests of one notebook together, also under pytest-xdist (`--dist loadgroup`); most are slow ones."""
    places = [place for place, item in enumerate(items) if _notebook_of(item)]
    for place in places:
        if _notebook_of(items[place]) not in QUICK:
            items[place].add_marker(pytest.mark.slow)
    together = sorted((items[place] for place in places), key=_notebook_of)
    for place, item in zip(places, together, strict=True):
        item.add_marker(pytest.mark.xdist_group(_notebook_of(item)))
        items[place] = item


def _notebook_of(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("ran", "")) if callspec else ""


@dataclass(frozen=True)
class Ran:
    """A notebook that was executed from top to bottom, with its kernel still there to be asked."""

    path: Path
    notebook: NotebookNode
    client: NotebookClient
    wall_s: float
    """from the first cell to the end of the last"""

    def value(self, expression: str) -> Any:
        """What `expression` is after the last cell. Arrays come back as lists."""
        code = f"import json as _json; print(_json.dumps({expression}, default=lambda value: value.tolist()))"
        outputs = self._ask(code)
        assert {o.output_type for o in outputs} == {"stream"}, f"{expression}: {outputs[0].get('evalue')}"
        return json.loads("".join(output.text for output in outputs))

    def do(self, statements: str) -> None:
        """Run `statements` after the last cell."""
        assert [output for output in self._ask(statements) if output.output_type == "error"] == []

    def _ask(self, code: str) -> list[NotebookNode]:
        cells = self.notebook.cells
        cells.append(nbformat.v4.new_code_cell(code))
        try:
            return list(self.client.execute_cell(cells[-1], len(cells) - 1).outputs)
        finally:
            cells.pop()

    @functools.cached_property
    def prose(self) -> str:
        """All text cells in one line, so that a sentence is found wherever it is wrapped."""
        text = " ".join(
            cell.source.replace("\n> ", "\n") for cell in self.notebook.cells if cell.cell_type == "markdown"
        )
        return re.sub(r"\s+", " ", text)

    def code(self, tag: str) -> list[str]:
        """The sources of the code cells with this tag, in order."""
        cells = (cell for cell in self.notebook.cells if cell.cell_type == "code")
        return [cell.source for cell in cells if tag in cell.metadata.get("tags", [])]

    def printed(self, inside: str) -> str:
        """What the one code cell that contains `inside` printed or showed, as text."""
        [cell] = [cell for cell in self.notebook.cells if cell.cell_type == "code" and inside in cell.source]
        return "".join(
            o.text if o.output_type == "stream" else o.get("data", {}).get("text/plain", "") for o in cell.outputs
        )

    def errors(self) -> dict[str, str]:
        """Cell id -> error, for the cells that ended in one."""
        cells = (cell for cell in self.notebook.cells if cell.cell_type == "code")
        pairs = itertools.chain.from_iterable(((cell, output) for output in cell.outputs) for cell in cells)
        return {cell.id: f"{o.ename}: {o.evalue}" for cell, o in pairs if o.output_type == "error"}

    def failing_on_purpose(self) -> list[NotebookNode]:
        """The cells that announce that they fail."""
        cells = (cell for cell in self.notebook.cells if cell.cell_type == "code")
        return [cell for cell in cells if "with on_purpose" in cell.source]

    def say(self, exercise: int, answer: str, *, errors_as_text: bool = False) -> str:
        """What the check of an exercise (tag `check`) prints if the reader writes `answer`.

        errors_as_text: an error of the answer's own is printed, too, as a reader would see it.
        """
        self.do(answer)
        check = textwrap.indent(self.code("check")[exercise - 1], "    ")
        if errors_as_text:
            handler = "except Exception as error:\n    print(type(error).__name__, error)"
            check = textwrap.indent(f"try:\n{check}\n{handler}", "    ")
        self.do(f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as said:\n{check}")
        return str(self.value("said.getvalue()"))

    def assert_waits(self, exercise: int, kind: str = "Exercise") -> str:
        """The cell before an exercise's check is a stub, and the check waits for it. Returns the stub's source."""
        places = [place for place, cell in enumerate(self.notebook.cells) if "check" in cell.metadata.get("tags", [])]
        stub = str(self.notebook.cells[places[exercise - 1] - 1].source)
        assert "raise NotImplementedError" in stub
        assert self.say(exercise, stub) == f"{kind} {exercise}: waits for you.\n"
        # A busy machine cuts one line into two messages.
        shown = self.notebook.cells[places[exercise - 1]].outputs
        assert "".join(output.text for output in shown) == f"{kind} {exercise}: waits for you.\n"
        return stub

    def assert_figures(self, parts: Sequence[str]) -> None:
        """There are as many figures as `parts`, and the description of each, made from what it draws, has its part."""
        outputs = [output for cell in self.notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        said = [output.metadata["image/png"]["alt"] for output in outputs if "image/png" in output.get("data", {})]
        assert len(said) == len(parts)
        assert [part for part, description in zip(parts, said, strict=True) if part not in description] == []

    def unchecked_numbers(self, facts: Iterable[str], stated: Iterable[str] = ()) -> list[str]:
        """Numbers in the text that stand in no checked sentence, each with its surroundings.

        stated: sentences that nothing can be computed for; one that the text no longer has is listed as well.

        Formulas are left out, and whole numbers of one digit, the numbers of sections, lectures and list items, and the
        line about time and what comes before, which has a test of its own (`test_contents.py`).
        """
        text, stated = self.prose, list(stated)
        missing = [f"no longer in the text: {sentence}" for sentence in stated if sentence not in text]
        for sentence in sorted([*facts, *stated], key=len, reverse=True):
            text = text.replace(sentence, " ")
        for uninteresting in (
            r"\*Before this: .*?\*",
            r"\$\$.*?\$\$",
            r"\$.*?\$",
            r"\]\(\S*\)",
            r"<[^>]*>",
            r"[Ll]ectures? \d+",
            r"# \d+ ·",
        ):
            text = re.sub(uninteresting, " ", text)
        found = re.finditer(r"(?<![\w.])(\d[\d,]*(\.\d+)?(e[+-]?\d+)?( ?%)?)", text)
        return missing + [
            text[max(0, m.start() - 30) : m.end() + 30] for m in found if not re.fullmatch(r"\d,*", m.group().strip())
        ]


@pytest.fixture(scope="session")
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """The notebook at `notebooks/PARAM`, executed in an empty folder: it may lean on nothing but what is installed."""
    path = NOTEBOOKS / request.param
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, timeout=CELL_LIMIT_S, kernel_name="python3", allow_errors=True, resources=resources
    )
    # The checkout's course_lib, not another that may be installed; one thread, as on the smallest machine.
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "IPYTHONDIR": str(folder / ".ipython")}
    with contextlib.ExitStack() as stack:
        stack.enter_context(client.setup_kernel(env=env, cwd=str(folder)))
        start = time.perf_counter()
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
        yield Ran(path, notebook, client, time.perf_counter() - start)
