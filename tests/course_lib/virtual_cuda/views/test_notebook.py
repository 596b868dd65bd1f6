"""In a real kernel: the extension switches on and off, and `%%cuda_log` shows what a cell did, line by line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import virtual_cuda

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cuda_log")]

CELLS = {
    "load": "%load_ext course_lib.virtual_cuda",
    "again": "%load_ext course_lib.virtual_cuda",
    "helper": "import torch\n\ndef read(x):\n    return x.item()",
    "logged": "%%cuda_log\nx = torch.ones(3)\nx = x.cuda()\nfor _ in range(12):\n    read(x.sum())\nx.cpu()",
    "figure": "%%cuda_log timeline\ny = (x * 2).relu()\ny.sum().item()",
    "elsewhere": "x.tolist()",
    "hidden": "%%cuda_log\n%matplotlib inline\nx + 1;  # not shown",
    "log": "from course_lib import virtual_cuda\nlog = virtual_cuda.enable()\nvirtual_cuda.disable()\nlog",
    "fails": "%%cuda_log\ntorch.ones(2).cuda() + torch.ones(2)",
    "wrong word": "%%cuda_log chart\n1 / 0",
    "unload": "%unload_ext course_lib.virtual_cuda\nprint(torch.cuda.is_available(), virtual_cuda.is_enabled())",
    "reload": "%load_ext course_lib.virtual_cuda\nprint(torch.ones(1).cuda().device)",
}


@pytest.fixture(scope="module")
def outputs() -> Iterator[dict[str, list[nbformat.NotebookNode]]]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    notebook.cells[list(CELLS).index("fails")].metadata["tags"] = ["raises-exception"]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    yield {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def said(outputs: list[nbformat.NotebookNode]) -> str:
    return "".join(one.get("text", "") for one in outputs)


def shown(outputs: list[nbformat.NotebookNode], kind: str) -> str:
    return next(one.data[kind] for one in outputs[::-1] if "data" in one)


def test_it_says_once_that_the_device_is_virtual(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    everything = [said(one) for one in outputs.values()]
    assert everything[0].startswith("Virtual CUDA: there is no GPU here.")
    assert sum("there is no GPU" in text for text in everything) == 1
    assert not any(one.get("name") == "stderr" for cell in outputs.values() for one in cell)


def test_a_cell_s_log_names_cells_and_lines(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    text = shown(outputs["logged"], "text/plain")
    assert re.search(r"cpu to cuda:0 +cell \[4\], line 3 +1 +12 B +yes +x = x\.cuda\(\)", text)
    assert re.search(r"item +cell \[3\], line 4 +12 +return x\.item\(\)", text), "the function's own cell and line"
    assert re.search(r"copy to host +cell \[4\], line 6 +1 +x\.cpu\(\)", text)
    assert "`.item()` at cell [3], line 4 makes the host wait 12 times." in text
    page = shown(outputs["logged"], "text/html")
    assert "<table>" in page and "cell [3], line 4" in page and "<script" not in page


def test_a_cell_s_log_holds_that_cell_only(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    text = shown(outputs["figure"], "text/plain")
    assert re.search(r"item +cell \[5\], line 3 +1 ", text) and "cell [4]" not in text and "Copies" not in text
    assert "cuda:0: 3 kernels" in text, "mul, relu and sum were traced"
    page = shown(outputs["figure"], "text/html")
    assert '<img alt="Timeline of' in page and "data:image/png;base64," in page


def test_the_value_of_a_logged_cell_is_still_shown(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    values = [one.data["text/plain"] for one in outputs["logged"] if "data" in one]
    assert values[0] == "tensor([1., 1., 1.])" and len(values) == 2


def test_a_semicolon_hides_the_value_of_a_logged_cell_and_not_its_log(
    outputs: dict[str, list[nbformat.NotebookNode]],
) -> None:
    [only] = [one.data["text/plain"] for one in outputs["hidden"] if "data" in one]
    assert only.startswith("In ") and "Kernels: " in only
    assert shown(outputs["log"], "text/plain"), "and the next cell shows its value again"


def test_the_whole_log_is_a_table(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    text, page = shown(outputs["log"], "text/plain"), shown(outputs["log"], "text/html")
    assert "tolist" in text and "cell [6], line 1" in text and "cell [6], line 1" in page


def test_an_unknown_word_is_refused_in_words(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    assert said(outputs["wrong word"]) == "%%cuda_log knows the word 'timeline', not 'chart'; the cell was not run.\n"


def test_unloading_switches_off_and_loading_on_again(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    assert said(outputs["unload"]) == "False False\n"
    assert said(outputs["reload"]) == "cuda:0\n"


def test_a_logged_cell_that_fails_has_one_traceback(outputs: dict[str, list[nbformat.NotebookNode]]) -> None:
    (error,) = outputs["fails"]
    assert error.output_type == "error" and "Expected all tensors to be on the same device" in error.evalue


def test_a_kernel_of_make_lab_switches_on_when_torch_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Path(virtual_cuda.__file__).with_name("ipython_kernel_config.py")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv(virtual_cuda.VARIABLE, "1")
    (tmp_path / "profile_default").mkdir()
    shutil.copy(config, tmp_path / "profile_default")
    sources = (
        "import sys\nprint('torch' in sys.modules)",
        "import torch\nprint(torch.ones(1).cuda().device)",
        "%%cuda_log\ntorch.ones(1).cuda()",
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    before, importing, logged = (cell.outputs for cell in notebook.cells)
    assert said(before) == "False\n", "a notebook without torch does not pay for it"
    first, second = said(importing).splitlines()
    assert first.startswith("Virtual CUDA: there is no GPU here.") and second == "cuda:0"
    assert "cpu to cuda:0" in shown(logged, "text/plain")
