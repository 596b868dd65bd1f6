"""What notebooks and assignments import from us is public: a listed module, or a name in a package's `__all__`."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[1]

MODULES = {
    *(f"course_lib.{name}" for name in ("checks", "compare", "data", "devices", "exercises", "frameworks", "lectures")),
    *(f"course_lib.{name}" for name in ("parity", "playground", "plots", "timing", "virtual_cuda")),
    # The visible checks of each assignment, and what they share with the hidden ones.
    "course_lib.checks.a1_numpy_backprop",
    "course_lib.checks.a2_autograd_engine",
    "course_lib.checks.a3_pytorch_autograd",
    "course_lib.checks.a4_modules_and_optimizers",
    "course_lib.checks.a5_data_pipeline",
    "course_lib.checks.a6_cuda_training",
    "course_lib.checks.a7_tensorflow_graphs",
    "course_lib.checks.a8_keras",
    "course_lib.checks.a9_debugging_clinic",
    "course_lib.checks.clinic",
    "course_lib.checks.delegation",
    "course_lib.checks.oracles",
    "course_lib.checks.programs",
    "course_lib.checks.training",
    "course_lib.data.online",
    # Extras go on with what a lecture made.
    "course_lib.lectures.custom_modules",
    "course_lib.lectures.datasets_and_dataloaders",
    "course_lib.lectures.from_pseudocode_to_code",
    "course_lib.lectures.hardware_and_frameworks",
    # What runs in other processes must be importable there by its own name.
    "course_lib.lectures.distributed.exchange",
    "course_lib.lectures.distributed.launch",
    "course_lib.lectures.distributed.replicas",
}
"""public as a whole: every name in them that does not begin with an underscore"""
PACKAGES = {"autograder.judge", "course_lib.data", "course_lib.lectures", "course_lib.lectures.distributed"}
"""public is what their `__all__` holds"""


def imports(source: str) -> Iterator[tuple[str, str]]:
    """(module, name) of all imports of ours; the name is empty where a whole module is imported."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found = [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found = [(alias.name, "") for alias in node.names]
        else:
            continue
        yield from ((module, name) for module, name in found if module.split(".")[0] in ("autograder", "course_lib"))


def sources() -> Iterator[tuple[Path, str]]:
    for path in sorted((ROOT / "notebooks").rglob("*.py")):
        # Some wrong answers are no Python.
        if "bank" not in path.parts:
            yield path, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code" and ("course_lib" in text or "autograder" in text):
                yield path, TransformerManager().transform_cell(text)


def is_public(module: str, name: str) -> bool:
    if module == "course_lib":
        return not name or f"{module}.{name}" in MODULES
    if module in PACKAGES and name in importlib.import_module(module).__all__:
        return True
    return f"{module}.{name}" in MODULES or (module in MODULES and not name.startswith("_"))


def test_notebooks_and_assignments_import_public_names_alone() -> None:
    found = {(path.relative_to(ROOT), *one) for path, source in sources() for one in imports(source)}
    assert {module for _, module, _ in found} >= {"autograder.judge", "course_lib", "course_lib.data"}
    deep = sorted(f"{path}: from {module} import {name}" for path, module, name in found if not is_public(module, name))
    assert not deep, "\n".join(deep)


@pytest.mark.slow
def test_every_public_name_is_there() -> None:
    for module in PACKAGES:
        package = importlib.import_module(module)
        assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert [m for m in MODULES if not _exists(m)] == []


def _exists(module: str) -> bool:
    path = ROOT.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
