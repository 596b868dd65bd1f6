"""Run each notebook once, keep its kernel while its tests ask questions, then let it go.

A test that takes `executed` is parametrized with the path of a notebook under `notebooks/`. The tests of one notebook
run one after the other, so that it is executed once and at most one kernel is alive.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
CELL_LIMIT_S = 120
QUICK = {
    "lectures/06_pytorch_autograd.ipynb",
    "assignments/a1_numpy_backprop/a1_numpy_backprop.ipynb",
    "release/a1_numpy_backprop/a1_numpy_backprop.ipynb",
}
"""executed by `make check` too, so that it notices when the machinery of all notebooks breaks"""


def notebooks_in(folder: str) -> list[str]:
    """The notebooks under `notebooks/FOLDER`, as this module's fixture takes them."""
    found = sorted((NOTEBOOKS / folder).rglob("*.ipynb"))
    return [path.relative_to(NOTEBOOKS).as_posix() for path in found if ".ipynb_checkpoints" not in path.parts]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
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
    return str(callspec.params.get("executed", "")) if callspec else ""


@dataclass(frozen=True)
class ExecutedNotebook:
    """A notebook that was executed from top to bottom, with its kernel still there to be asked."""

    path: Path
    notebook: NotebookNode
    client: NotebookClient
    wall_s: float
    """from the first cell to the end of the last"""

    @property
    def name(self) -> str:
        """The path as the tests are parametrized with it."""
        return self.path.relative_to(NOTEBOOKS).as_posix()

    @property
    def code_cells(self) -> list[NotebookNode]:
        """In order, with their outputs."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def outputs(self) -> list[NotebookNode]:
        """Of all cells, in order."""
        return [output for cell in self.code_cells for output in cell.outputs]

    def errors(self) -> dict[str, str]:
        """Cell id -> error, for the cells that ended in one."""
        pairs = ((cell, output) for cell in self.code_cells for output in cell.outputs)
        return {cell.id: f"{o.ename}: {o.evalue}" for cell, o in pairs if o.output_type == "error"}

    def run(self, code: str, limit_s: float = 600) -> str:
        """Run `code` after the last cell; what it writes to its output stream. Fails if it raises."""
        cells = self.notebook.cells
        cells.append(nbformat.v4.new_code_cell(code))
        self.client.timeout = limit_s
        try:
            outputs = self.client.execute_cell(cells[-1], len(cells) - 1).outputs
        finally:
            cells.pop()
        assert [f"{o.ename}: {o.evalue}" for o in outputs if o.output_type == "error"] == []
        return "".join(o.text for o in outputs if o.get("name") == "stdout")


@pytest.fixture(scope="session")
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExecutedNotebook]:
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
        yield ExecutedNotebook(path, notebook, client, time.perf_counter() - start)
