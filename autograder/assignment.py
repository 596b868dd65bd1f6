"""Read the instructor's side of an assignment: the only truth for ids, points, order, locked cells and kernel.

An assignment is a folder of nbgrader source notebooks. With a `checks.py` beside them it is one of ours and is judged
apart; without it is foreign and graded by its own test cells. What students received in place of each cell is
worked out by nbgrader's own preprocessors, so that "not attempted" means here what it means there.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import difflib
import hashlib
import logging
import math
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.errors import BadAssignment, WrongUse
from autograder.imports import without
from autograder.records import CPU, CUDA, VIRTUAL_CUDA, Assignment, Cell, Limits, Notebook, Role

SETTINGS = "assignment.toml"
NBGRADER_SETTINGS = "nbgrader_config.py"
_EXECUTES = ("Execute", "ExecutePreprocessor", "NotebookClient")
"""classes by which nbgrader takes a cell's time limit from its configuration, the one that counts most first"""
_NOT_PUBLIC = frozenset({"checks.py", "probes.py", "faults.py", SETTINGS, "bank"})
_KNOWN_SETTINGS = frozenset(
    {"device", "forbidden", "forbidden_scores_zero", "keras_backend", "skip", "asks_nothing", "limits"}
)
_KERAS_BACKENDS = ("", "tensorflow", "torch", "jax", "numpy")
_AUTOTEST = "AUTOTEST"
_quiet = logging.Logger("nbgrader-preprocessors", level=logging.CRITICAL + 1)


def load_assignment(name_or_path: str | Path, root: Path) -> Assignment:
    """The assignment NAME under `root/notebooks/assignments/`, or the folder at a path.

    Raises WrongUse if there is no such assignment, BadAssignment if its files contradict each other or cannot be read.
    """
    folder = find_folder(name_or_path, root)
    notebooks = tuple(_read_notebook(path) for path in _notebook_paths(folder))
    assignment = Assignment(
        name=folder.name,
        folder=folder,
        notebooks=notebooks,
        checks=_if_file(folder / "checks.py"),
        probes=_if_file(folder / "probes.py"),
        faults=_if_file(folder / "faults.py"),
        files=tuple(_public_files(folder)),
    )
    if assignment.checks is None:
        assignment = dataclasses.replace(assignment, limits=_nbgrader_limits(folder))
    return dataclasses.replace(assignment, **_read_settings(folder / SETTINGS, notebooks, assignment.limits))


def digest(assignment: Assignment) -> str:
    """SHA-256, hexadecimal, over everything that can change a grade: sources, checks, settings, data, limits."""
    total = hashlib.sha256(repr(assignment.limits).encode())
    for name, path in grading_files(assignment).items():
        # Names and contents have fixed or stated lengths, so that no two folders can run into one another.
        total.update(hashlib.sha256(name.encode(errors="surrogateescape")).digest())
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def grading_files(assignment: Assignment) -> dict[str, Path]:
    """All files that grading reads: path within the folder -> where it is."""
    paths = [*_notebook_paths(assignment.folder), assignment.folder / SETTINGS, *assignment.files]
    paths += [p for p in (assignment.checks, assignment.probes, assignment.faults) if p is not None]
    return {path.relative_to(assignment.folder).as_posix(): path for path in sorted(set(paths)) if path.is_file()}


def find_folder(name_or_path: str | Path, root: Path) -> Path:
    """The folder of an assignment, as an absolute path. Raises WrongUse, naming what there is instead."""
    shelf = root / "notebooks" / "assignments"
    named = shelf / str(name_or_path)
    # A bare name means the course's own assignment, even where the working folder happens to hold one of that name.
    candidates = [Path(name_or_path)] if _is_path(name_or_path) else [named, Path(name_or_path)]
    for candidate in candidates:
        try:
            if candidate.is_dir():
                folder = candidate.resolve()
                if any(folder.glob("*.ipynb")):
                    return folder
                raise WrongUse(_no_notebooks(folder))
            if candidate.is_file():
                raise WrongUse(f"{candidate} is a file. Name the folder that holds the assignment's source notebooks.")
        except OSError as error:
            raise WrongUse(f"The assignment folder {candidate} cannot be opened: {error.strerror}.") from error
    raise WrongUse(_unknown(str(name_or_path), known_assignments(root), shelf))


def known_assignments(root: Path) -> list[str]:
    """Names of the assignments under `root/notebooks/assignments/`, sorted."""
    shelf = root / "notebooks" / "assignments"
    if not shelf.is_dir():
        return []
    return sorted(folder.name for folder in shelf.iterdir() if folder.is_dir() and any(folder.glob("*.ipynb")))


def _is_path(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, Path) or "/" in name_or_path or "\\" in name_or_path or name_or_path in (".", "..")


def _unknown(name: str, known: list[str], shelf: Path) -> str:
    if not known:
        return f"There is no assignment '{name}': {shelf} holds none, and no folder has that path."
    near = [k for k in known if k.startswith(name)] or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(repr(n) for n in near[:3])}?" if near and name else ""
    return f"There is no assignment '{name}'.{hint} Known: {', '.join(known)}; or give the path of a folder."


def _no_notebooks(folder: Path) -> str:
    inside = sorted({p.parent.relative_to(folder).as_posix() for p in folder.glob("*/*.ipynb")})
    inside += sorted({p.parent.relative_to(folder).as_posix() for p in folder.glob("source/*/*.ipynb")})
    hint = f" Did you mean {folder / inside[-1]}?" if inside else ""
    return f"{folder} holds no notebook (*.ipynb), so it is not an assignment.{hint}"


def _if_file(path: Path) -> Path | None:
    return path if path.is_file() else None


def _notebook_paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.ipynb") if path.is_file() and not path.name.startswith("."))


def _public_files(folder: Path) -> Iterator[Path]:
    """Everything beside the notebooks that students get too: data, pictures, helper modules."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith((".", "__pycache__")) or path.name.endswith((".pyc", "~"))
        if not hidden and path.name not in _NOT_PUBLIC and path.suffix != ".ipynb":
            yield from _files_below(path)


def _files_below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from _public_files(path)


# --- notebooks ---------------------------------------------------------------------------------------------------


def _read_notebook(path: Path) -> Notebook:
    source = _parse(path)
    _check_metadata(path.name, source)
    released = _release(path.name, source)
    pairs = zip(source.cells, released.cells, strict=True)
    kernel_name = source.metadata.get("kernelspec", {}).get("name", "") or "python3"
    return Notebook(path.stem, tuple(_cell(cell, left.source) for cell, left in pairs), kernel_name)


def _parse(path: Path) -> Any:
    """The notebook as nbformat 4, its nbgrader metadata brought to the newest schema."""
    # jsonschema builds 38 grammars with it, a second of work, for a format of addresses that no schema of these names.
    with without("rfc3987_syntax"):
        import nbformat
    from nbgrader.nbgraderformat import MetadataValidator

    try:
        with warnings.catch_warnings():  # nbformat warns of missing cell ids, which nothing here uses
            warnings.simplefilter("ignore")
            text = path.read_text(encoding="utf-8-sig")
            notebook = nbformat.reads(text, as_version=4)
            nbformat.validate(notebook)
            validator = MetadataValidator()
            validator.log = _quiet
            notebook = validator.upgrade_notebook_metadata(notebook)
    except Exception as error:  # nbformat, jsonschema and json each raise their own
        finding = str(error).strip().splitlines() or [type(error).__name__]
        raise BadAssignment(
            f"{path} cannot be read as a notebook: {finding[0]}. Open and save it in Jupyter."
        ) from error
    _check_language(path.name, notebook)
    return notebook


def _check_language(name: str, notebook: Any) -> None:
    spec, info = notebook.metadata.get("kernelspec", {}), notebook.metadata.get("language_info", {})
    language = str(spec.get("language") or info.get("name") or "python")
    if not language.lower().startswith(("python", "ipython")):
        raise BadAssignment(f"{name} is written in {language}. This grader runs Python notebooks only.")


def _check_metadata(name: str, notebook: Any) -> None:
    """Refuse what would make a grade ambiguous, with a sentence of our own; nbgrader's validator has the last word."""
    from nbgrader.nbgraderformat import MetadataValidator

    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells, 1):
        meta = cell.metadata.get("nbgrader")
        if meta is None or _role(cell) is Role.PLAIN:
            continue
        grade_id = meta.get("grade_id")
        if not isinstance(grade_id, str) or not grade_id:
            raise BadAssignment(f"{name}: cell {number} has nbgrader metadata but no grade_id. Give it one.")
        if grade_id in seen:
            raise BadAssignment(f"{name}: grade_id '{grade_id}' is used by two cells. Rename one of them.")
        seen.add(grade_id)
        _check_points(name, grade_id, meta, _role(cell))
        if _AUTOTEST in cell.source and _role(cell) is Role.TESTS:
            raise BadAssignment(
                f"{name}: cell '{grade_id}' still holds an {_AUTOTEST} line, which tests nothing before nbgrader has "
                "replaced it. Write the assertions out, or instantiate them with `nbgrader generate_assignment`."
            )
    try:
        MetadataValidator().validate_nb(notebook)
    except Exception as error:
        raise BadAssignment(f"{name}: nbgrader refuses its cell metadata: {str(error).splitlines()[0]}") from error


def _check_points(name: str, grade_id: str, meta: dict[str, Any], role: Role) -> None:
    if role not in (Role.TESTS, Role.MANUAL, Role.TASK):
        return
    points = meta.get("points")
    if points is None:
        raise BadAssignment(f"{name}: cell '{grade_id}' is graded but has no points. Set them (0 is allowed).")
    if isinstance(points, bool) or not isinstance(points, (int, float)) or not 0 <= points < math.inf:
        raise BadAssignment(f"{name}: cell '{grade_id}' has points {points!r}. Points are a number from 0 upwards.")


def _release(name: str, notebook: Any) -> Any:
    """What students received, cell for cell, by nbgrader's own preprocessors."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

    released = copy.deepcopy(notebook)
    released.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    try:
        for preprocessor in (ClearSolutions, ClearHiddenTests, ClearMarkScheme):
            released, _ = preprocessor(log=_quiet).preprocess(released, {})
    except RuntimeError as error:
        raise BadAssignment(f"{name}: {' '.join(str(error).split())}") from error
    return released


def _cell(cell: Any, released: str) -> Cell:
    role = _role(cell)
    meta = cell.metadata.get("nbgrader", {})
    graded = role in (Role.TESTS, Role.MANUAL, Role.TASK)
    return Cell(
        kind=cell.cell_type,
        source=cell.source,
        role=role,
        grade_id=None if role is Role.PLAIN else meta["grade_id"],
        points=float(meta["points"]) if graded else 0.0,
        released=released,
        tags=tuple(str(tag) for tag in cell.metadata.get("tags", ())),
    )


def _role(cell: Any) -> Role:
    meta = cell.metadata.get("nbgrader", {})
    if meta.get("task"):
        return Role.TASK
    if meta.get("grade"):
        return Role.MANUAL if meta.get("solution") else Role.TESTS
    if meta.get("solution"):
        return Role.SOLUTION
    return Role.LOCKED if meta.get("locked") else Role.PLAIN


def on_device(assignment: Assignment, asked: str = "auto") -> Assignment:
    """The assignment with the device that its kernels will offer.

    asked: `auto` (virtual CUDA where `assignment.toml` wants CUDA, else the CPU), `virtual`, `cuda` or `cpu`.
    """
    if asked == "auto":
        asked = "virtual" if assignment.device in (CUDA, VIRTUAL_CUDA) else CPU
    return dataclasses.replace(assignment, device=VIRTUAL_CUDA if asked == "virtual" else asked)


# --- assignment.toml -----------------------------------------------------------------------------------------------


def _read_settings(path: Path, notebooks: tuple[Notebook, ...], limits: Limits) -> dict[str, Any]:
    """The fields of Assignment that `assignment.toml` sets. An unknown key is refused: it is most likely misspelt."""
    if not path.is_file():
        return {}
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadAssignment(f"{path} cannot be read: {error}") from error
    _refuse_unknown(path.name, settings, _KNOWN_SETTINGS)
    grade_ids = {cell.grade_id for notebook in notebooks for cell in notebook.cells if cell.grade_id}
    skip = _names(settings, "skip")
    for grade_id in skip:
        if grade_id not in grade_ids:
            raise BadAssignment(f"{path.name}: skip names '{grade_id}', but no cell has that grade_id.")
    zero = settings.get("forbidden_scores_zero", False)
    if not isinstance(zero, bool):
        raise BadAssignment(f"{path.name}: forbidden_scores_zero is {zero!r}; it must be true or false.")
    device = settings.get("device", CPU)
    if device not in (CPU, CUDA):
        raise BadAssignment(f"{path.name}: device is {device!r}; it must be 'cpu' or 'cuda'.")
    keras_backend = settings.get("keras_backend", "")
    if keras_backend not in _KERAS_BACKENDS:
        known = ", ".join(_KERAS_BACKENDS[1:])
        raise BadAssignment(f"{path.name}: keras_backend is {keras_backend!r}; it must be one of {known}.")
    return {
        "device": device,
        "keras_backend": keras_backend,
        "forbidden": _names(settings, "forbidden"),
        "forbidden_scores_zero": zero,
        "skip": skip,
        "asks_nothing": _names(settings, "asks_nothing"),
        "limits": _limits(path.name, settings.get("limits", {}), limits),
    }


def _refuse_unknown(where: str, given: dict[str, Any], known: frozenset[str]) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Known: {', '.join(sorted(known))}."
            raise BadAssignment(f"{where}: unknown key '{key}'.{hint}")


def _names(settings: dict[str, Any], key: str) -> tuple[str, ...]:
    value = settings.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise BadAssignment(f'{SETTINGS}: {key} is {value!r}; it must be a list of names, as in ["torch"].')
    return tuple(value)


def _limits(where: str, given: Any, otherwise: Limits) -> Limits:
    if not isinstance(given, dict):
        raise BadAssignment(f"{where}: limits must be a table, as in [limits] cell_s = 20.")
    defaults = {field.name: getattr(Limits(), field.name) for field in dataclasses.fields(Limits)}
    _refuse_unknown(f"{where}, [limits]", given, frozenset(defaults))
    for key, value in given.items():
        whole = isinstance(defaults[key], int)
        fits = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not fits or not 0 < value < math.inf:
            wanted = "a whole number above 0" if whole else "a number above 0"
            raise BadAssignment(f"{where}, [limits]: {key} is {value!r}; it must be {wanted}.")
    return dataclasses.replace(otherwise, **{key: type(defaults[key])(value) for key, value in given.items()})


# --- nbgrader_config.py --------------------------------------------------------------------------------------------


def _nbgrader_limits(folder: Path) -> Limits:
    """The limits of a foreign assignment: what its course lets a cell take, where its configuration says so.

    The configuration is a program. It is not run: `c.ExecutePreprocessor.timeout = 600` is read where it stands.
    Raises BadAssignment where that is no plain number.
    """
    limits = Limits()
    path = next((p / NBGRADER_SETTINGS for p in folder.parents[:2] if (p / NBGRADER_SETTINGS).is_file()), None)
    if path is None:
        return limits
    try:
        tree = ast.parse(path.read_bytes())
        timeouts = dict(_timeouts(tree))
    except (SyntaxError, ValueError, OSError) as error:
        raise BadAssignment(
            f"{path} cannot be read for its timeout, which is read and not run: {error}. Write a plain number of "
            f"seconds there, or `[limits] cell_s` into {SETTINGS} and no timeout here."
        ) from error
    seconds = next((timeouts[name] for name in _EXECUTES if name in timeouts), None)
    if seconds is None or seconds <= 0:  # nbgrader then waits without end; here the limit is the usual one
        return limits
    scale = max(1.0, seconds / limits.cell_s)
    return dataclasses.replace(limits, cell_s=seconds, notebook_s=scale * limits.notebook_s)


def _timeouts(tree: ast.Module) -> Iterator[tuple[str, float | None]]:
    """(class, seconds) of every `c.CLASS.timeout = SECONDS`, in order."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Attribute(ast.Attribute(ast.Name(), name), "timeout")], value) if name in _EXECUTES:
                yield name, _plain_number(value)


def _plain_number(node: ast.expr) -> float | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # 10 * 60
        factors = (_plain_number(node.left), _plain_number(node.right))
        return math.prod(factor or 0.0 for factor in factors)
    value = ast.literal_eval(node)
    if value is None or (isinstance(value, (int, float)) and math.isfinite(value)):
        return value
    raise ValueError(f"{value!r} is no number")
