from __future__ import annotations

import json
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import known_assignments, load_assignment
from autograder.errors import BadAssignment, CannotWrite, LeakyRelease, WrongUse
from autograder.records import Assignment
from autograder.release.address import set_repository
from autograder.release.build import check_release, publish, release, verify_published, verify_release
from tests import notebook_builder as builder
from tests.autograder.small_course import make_course
from tests.sampling import sample
from tests.when_used import when_used

pytestmark = pytest.mark.slow

nbformat = when_used("nbformat")
compute_checksum = when_used("nbgrader.utils.compute_checksum")

NAME = "a9_demo"


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """That of a course which no test changes."""
    return make_course(tmp_path_factory.mktemp("demo") / "course").load()


@pytest.fixture(scope="module")
def built(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release(assignment, tmp_path_factory.mktemp("built"))


@pytest.fixture
def released(built: Path, tmp_path: Path) -> Path:
    """A release to spoil."""
    return Path(shutil.copytree(built, tmp_path / "release" / NAME))


def test_a_release_is_built_without_a_change_of_the_working_folder(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that another thread starts meanwhile would begin in a folder that is removed a moment later.
    monkeypatch.setattr("os.chdir", lambda folder: pytest.fail(f"changes into {folder}"))
    release(assignment, tmp_path)


def read(folder: Path) -> Any:
    return nbformat.read(folder / f"{NAME}.ipynb", as_version=4)


def cells_by_id(folder: Path) -> dict[str, Any]:
    named = (c for c in read(folder).cells if "nbgrader" in c.metadata)
    return {c.metadata.nbgrader.grade_id: c for c in named}


def test_a_release_holds_public_files_stubs_for_solutions_and_no_hidden_test(built: Path) -> None:
    assert sorted(p.relative_to(built).as_posix() for p in built.rglob("*")) == [f"{NAME}.ipynb", "table.csv"]
    cells = cells_by_id(built)
    assert "raise NotImplementedError()" in cells["double"].source
    assert "widened" not in cells["double"].source
    assert cells["why"].source == "YOUR ANSWER HERE"
    assert cells["test_mean_of"].source == "assert mean_of([1, 3]) == 2"


def test_a_release_has_nbgraders_checksums_and_locks(built: Path) -> None:
    cells = cells_by_id(built)
    for name in ("double", "test_double", "mean_of", "test_mean_of", "why"):
        assert cells[name].metadata.nbgrader.checksum == compute_checksum(cells[name])
    assert cells["test_double"].metadata.editable is False
    assert cells["intro"].metadata.deletable is False
    assert cells["test_double"].metadata.nbgrader.points == 3


def test_two_builds_are_equal_byte_for_byte_and_keep_cell_ids(assignment: Assignment, tmp_path: Path) -> None:
    first, second = release(assignment, tmp_path / "one"), release(assignment, tmp_path / "two")
    again = release(assignment, tmp_path / "one")
    contents = [{p.name: p.read_bytes() for p in folder.iterdir()} for folder in (first, second, again)]
    assert contents[0] == contents[1] == contents[2]
    assert [c.id for c in read(first).cells] == [f"cell-{i}" for i in range(10)]


def test_a_source_without_cell_ids_is_built_equal_too(course: Any, tmp_path: Path) -> None:
    data = json.loads(course.notebook.read_text())
    data["nbformat_minor"] = 2
    for cell in data["cells"]:
        del cell["id"]
    course.notebook.write_text(json.dumps(data))
    assignment = course.load()
    one, two = release(assignment, tmp_path / "one"), release(assignment, tmp_path / "two")
    assert (one / f"{NAME}.ipynb").read_bytes() == (two / f"{NAME}.ipynb").read_bytes()
    assert verify_release(one, assignment) == []


def test_outputs_of_the_source_are_not_released(course: Any, tmp_path: Path) -> None:
    def run(notebook: Any) -> None:
        notebook.cells[9].outputs = [nbformat.v4.new_output("stream", text="42")]
        notebook.cells[9].execution_count = 7

    assignment = course.change(run)
    assert verify_release(release(assignment, tmp_path / "release"), assignment) == []


def test_an_unmatched_mark_is_refused_with_nbgraders_words(course: Any, tmp_path: Path) -> None:
    assignment = course.load()
    text = course.notebook.read_text().replace("### END SOLUTION", "### THE END", 1)
    course.notebook.write_text(text)
    with pytest.raises(BadAssignment, match="no end solution statement found"):
        release(assignment, tmp_path / "release")
    assert not (tmp_path / "release" / NAME).exists()


def test_the_instructors_own_folder_is_not_overwritten(assignment: Assignment) -> None:
    with pytest.raises(WrongUse, match="instructor's own folder"):
        release(assignment, assignment.folder.parent)
    assert (assignment.folder / "checks.py").exists()


def test_a_place_that_cannot_be_written_is_named_in_a_sentence(assignment: Assignment, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match=r"file.*cannot be written"):
        release(assignment, tmp_path / "file")


def test_a_solution_that_the_source_repeats_in_another_cell_is_not_released(course: Any, tmp_path: Path) -> None:
    def spill(notebook: Any) -> None:
        notebook.cells[2].source = SPILT
        notebook.cells[9].source = "widened = np.asarray(x)\nscaled = widened * factor\nclipped = scaled.clip(0, 9)"

    assignment = course.change(spill)
    with pytest.raises(LeakyRelease, match="cell 10 repeats the solution of double"):
        release(assignment, tmp_path / "release")


SPILT = """def double(x, factor=2):
    ### BEGIN SOLUTION
    widened = np.asarray(x)
    scaled = widened * factor
    clipped = scaled.clip(0, 9)
    return clipped
    ### END SOLUTION"""


def test_an_honest_release_passes(built: Path, assignment: Assignment) -> None:
    assert verify_release(built, assignment) == []
    check_release(built, assignment)


def notebook_edit(edit: Callable[[Any], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        notebook = read(folder)
        edit(notebook)
        nbformat.write(notebook, folder / f"{NAME}.ipynb")

    return apply


def set_cell(index: int, **parts: Any) -> Callable[[Path], None]:
    return notebook_edit(lambda nb: nb.cells[index].update(nbformat.from_dict(parts)))


def set_metadata(**metadata: Any) -> Callable[[Path], None]:
    return notebook_edit(lambda nb: nb.metadata.update(metadata))


def add_cell(source: str, kind: str = "code") -> Callable[[Path], None]:
    make = builder.code if kind == "code" else builder.text
    return notebook_edit(lambda nb: nb.cells.append(nbformat.from_dict(make(source) | {"id": "added"})))


def add_file(name: str, content: str | bytes = "x") -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return apply


def add_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "extra.zip", "w") as archive:
        archive.writestr("a9_demo/bank/one.py", "x")


PRINTED = {"output_type": "stream", "name": "stdout", "text": "42"}
CHECK = "expect.close(student.double(draw.normal((3, 2))), reference.double(draw.normal((3, 2))))"
WORDS = "Your function squares its argument where it should double it: try it on the number three."
WHOLE = "def double(x):\n    widened = np.asarray(x, dtype=float)\n    return widened + widened"
MUTATIONS: dict[str, tuple[Callable[[Path], None], str]] = {
    "the whole solution": (set_cell(2, source=WHOLE), "solution"),
    "one line of the solution": (add_cell("widened = np.asarray(x, dtype=float)"), "solution"),
    "a solution line in other spacing": (add_cell("widened  =  np.asarray( x,dtype = float )"), "solution"),
    "a solution line in a comment": (add_cell("# return widened + widened"), "solution"),
    "a solution line inside another line": (add_cell("y = (total / max(len(values), 1)) if 0 else None"), "stale"),
    "a long solution line inside another": (add_cell("print(sum(float(value) for value in values))"), "stale"),
    "a solution in prose": (
        add_cell("Use\n\n    total = sum(float(value) for value in values)", "markdown"),
        "solution",
    ),
    "a solution in metadata": (set_metadata(note="widened = np.asarray(x, dtype=float)"), "solution"),
    "a written answer": (add_cell("The mean is pulled by outliers, the median is not.", "markdown"), "solution"),
    "a solution in a text file": (add_file("hint.txt", "return widened + widened\n"), "solution"),
    "a solution mark": (add_cell("### BEGIN SOLUTION"), "solution"),
    "a hidden test": (set_cell(5, source="assert mean_of([2.5, 3.5, 9.0]) == 5.0"), "hidden check"),
    "a hidden test mark": (add_cell("### BEGIN HIDDEN TESTS"), "hidden check"),
    "a line of checks.py": (add_cell(CHECK), "hidden check"),
    "the words of a check": (
        add_cell("Doubling is right for arrays of any shape whatsoever.", "markdown"),
        "hidden check",
    ),
    "the words of a fault": (add_cell(WORDS, "markdown"), "hidden check"),
    "checks.py": (add_file("checks.py"), "private file"),
    "faults.py in a folder": (add_file("more/faults.py"), "private file"),
    "probes.py": (add_file("probes.py"), "private file"),
    "assignment.toml": (add_file("assignment.toml"), "private file"),
    "the bank": (add_file("bank/one.py"), "bank"),
    "the bank in a zip": (add_zip, "bank"),
    "text of the bank": (add_cell("factor = np.float64(2.0).astype(float)"), "bank"),
    "an output": (set_cell(9, outputs=[PRINTED]), "output"),
    "an execution count": (set_cell(9, execution_count=3), "output"),
    "the state of widgets": (set_metadata(widgets={}), "output"),
    "a pyc file": (add_file("helper.cpython-311.pyc"), "bytecode"),
    "a pycache": (add_file("__pycache__/x.txt"), "bytecode"),
    "bytecode under another name": (add_file("model.dat", b"\xa7\r\r\n"[:2] + b"\r\n" + b"\0" * 12), "bytecode"),
    "a home directory": (add_cell("np.load('/home/ada/course/data.npy')"), "local path"),
    "a home directory of macOS": (add_cell("open('/Users/ada/x')"), "local path"),
    "a temporary file": (add_cell("See /tmp/scratch/plot.png", "markdown"), "local path"),
    "a Windows path": (add_cell(r"open('C:\Users\ada\x.csv')"), "local path"),
    "an escaped Windows path": (add_cell(r"open('C:\\Users\\ada\\x.csv')"), "local path"),
    "a file URL": (add_cell("![](file:///srv/plot.png)", "markdown"), "local path"),
    "a local path in metadata": (set_metadata(path="/root/course"), "local path"),
    "a link": (lambda folder: (folder / "table2.csv").symlink_to("/etc/hostname"), "link"),
    "an editor's backup": (add_file("a9_demo.ipynb~"), "backup"),
    "a swap file": (add_file(".a9_demo.ipynb.swp"), "backup"),
    "a checkpoint": (add_file(".ipynb_checkpoints/a9_demo-checkpoint.ipynb", "{}"), "backup"),
    "another stub": (set_cell(2, source="def double(x):\n    pass"), "stale"),
    "an edited sentence": (set_cell(0, source="# A demonstration"), "stale"),
    "other points": (notebook_edit(lambda nb: nb.cells[3].metadata.nbgrader.update(points=30)), "stale"),
    "another file": (add_file("notes.md", "Read on.\n"), "stale"),
    "a file that is missing": (lambda folder: (folder / "table.csv").unlink(), "stale"),
    "a broken notebook": (add_file(f"{NAME}.ipynb", "{"), "unreadable"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_release_with_a_leak_is_refused(name: str, released: Path, assignment: Assignment) -> None:
    mutate, kind = MUTATIONS[name]
    mutate(released)
    with pytest.raises(LeakyRelease, match=rf": {kind}"):
        check_release(released, assignment)


def test_the_text_of_a_notebook_in_the_folder_is_told_where_to_go(course: Any, tmp_path: Path) -> None:
    text = course.folder / f"{NAME}.py"
    text.write_text('# %% nbgrader={"grade_id": "double"}\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n')
    with pytest.raises(
        LeakyRelease, match=rf"{NAME}\.py: solution: is the notebook as text.*one folder up, as .*/{NAME}\.py"
    ):
        release(course.load(), tmp_path / "release")
    text.rename(course.folder.parent / text.name)
    assert not (release(course.load(), tmp_path / "release") / text.name).exists()


def test_a_refusal_lists_every_leak(released: Path, assignment: Assignment) -> None:
    for name in ("a link", "the bank", "an execution count"):
        MUTATIONS[name][0](released)
    with pytest.raises(LeakyRelease) as refused:
        check_release(released, assignment)
    for word in ("table2.csv: link", "bank: bank", "cell 10: output"):
        assert word in str(refused.value)


def test_a_release_that_was_never_built_is_missing(assignment: Assignment, tmp_path: Path) -> None:
    assert [leak.kind for leak in verify_release(tmp_path / "nowhere", assignment)] == ["missing"]


def test_a_release_is_stale_once_the_source_changes(built: Path, course: Any) -> None:
    assignment = course.change(lambda nb: nb.cells[0].update(source="# Another demo"))
    assert {leak.kind for leak in verify_release(built, assignment)} == {"stale"}


def test_setup_lines_that_a_solution_shares_with_shown_cells_are_no_leak(course: Any, tmp_path: Path) -> None:
    assignment = course.change(lambda nb: nb.cells[9].update(source="total = sum(float(value) for value in values)"))
    assert verify_release(release(assignment, tmp_path / "release"), assignment) == []


def test_the_student_repository_holds_what_students_need_and_nothing_else(course: Any, tmp_path: Path) -> None:
    caches = ("course_lib/__pycache__/x.cpython-311.pyc", "notebooks/lectures/.ipynb_checkpoints/a-checkpoint.ipynb")
    for name in caches:
        (course.root / name).parent.mkdir(parents=True)
        (course.root / name).write_bytes(b"x")
    out = publish(course.root, tmp_path / "public")
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert files == {
        ".published.json",
        "LICENSE",
        "README.md",
        "course_lib/__init__.py",
        "data/README.md",
        "notebooks/lectures/01_intro.ipynb",
        f"notebooks/release/{NAME}/{NAME}.ipynb",
        f"notebooks/release/{NAME}/table.csv",
        "pyproject.toml",
    }
    assert verify_published(out, [course.load()]) == []
    # It installs course_lib alone, and the first page links every notebook.
    project = tomllib.loads((out / "pyproject.toml").read_text())
    assert project["project"]["description"] == 'A demo "course".'
    assert project["project"]["optional-dependencies"] == {"frameworks": ["torch>=2.6"]}
    assert "scripts" not in project["project"]
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["course_lib"]}
    assert project["tool"]["course"] == {"repository": "someone/demo"}
    page = (out / "README.md").read_text()
    assert "[A lecture](notebooks/lectures/01_intro.ipynb)" in page
    assert f"github/someone/demo/blob/main/notebooks/release/{NAME}/{NAME}.ipynb" in page


def test_publishing_again_replaces_our_files_and_keeps_the_owners(course: Any, tmp_path: Path) -> None:
    out = publish(course.root, tmp_path / "public")
    (out / ".git").mkdir()
    (out / ".git" / "config").write_text("/home/ada is fine here")
    (out / "CODE_OF_CONDUCT.md").write_text("Be kind.\n")
    (course.root / "data" / "README.md").unlink()
    (course.root / "data" / "new.csv").write_text("1\n")
    publish(course.root, out)
    assert (out / "data" / "new.csv").exists() and not (out / "data" / "README.md").exists()
    assert (out / "CODE_OF_CONDUCT.md").exists() and (out / ".git" / "config").exists()


def test_a_folder_that_is_not_ours_is_refused_and_left_alone(course: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.md").write_text("Years of work.")
    with pytest.raises(WrongUse, match="not empty and was not made by"):
        publish(course.root, tmp_path / "thesis")
    assert [p.name for p in (tmp_path / "thesis").iterdir()] == ["chapter1.md"]


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("course_lib/where.py", "HERE = '/home/ada/course'\n", "local path"),
        ("notebooks/lectures/notes.md", "assert mean_of([2.5, 3.5, 9.0]) == 5.0\n", "hidden"),
        ("notebooks/lectures/x.ipynb", "SOURCE", "solution"),
        ("data/gradebook.db", "x", "private file"),
        ("data/big.npz", Path("/etc/hostname"), "link"),
    ],
)
def test_a_leak_in_the_course_stops_publishing(
    path: str, content: str | Path, kind: str, course: Any, tmp_path: Path
) -> None:
    if isinstance(content, Path):
        (course.root / path).symlink_to(content)
    else:
        (course.root / path).write_text(course.notebook.read_text() if content == "SOURCE" else content)
    with pytest.raises(LeakyRelease, match=kind):
        publish(course.root, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_a_course_without_assignments_cannot_be_published(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="no assignment to publish"):
        publish(tmp_path, tmp_path / "public")


# The course itself

ROOT = Path(__file__).parents[3]


def test_the_name_of_a_cell_is_no_secret_although_the_checks_hold_it(course: Any, tmp_path: Path) -> None:
    name = "test_double_of_a_long_name_in_the_notebook"
    assert name in (course.folder / "checks.py").read_text()
    assignment = course.change(lambda nb: nb.cells[3].metadata.nbgrader.update(grade_id=name))
    assert verify_release(release(assignment, tmp_path / "release"), assignment) == []


@pytest.mark.parametrize("name", known_assignments(ROOT))
def test_the_release_in_the_repository_is_fresh_and_honest(name: str) -> None:
    """Fails after a change to an assignment until `autograder release` has been run."""
    check_release(ROOT / "notebooks" / "release" / name, load_assignment(name, ROOT))


@pytest.mark.long
def test_the_course_can_be_published(tmp_path: Path) -> None:
    # `publish` itself refuses a repository that leaks.
    names = sample("published", known_assignments(ROOT), 2)
    root = tmp_path / "course"
    for folder in ("course_lib", "data", "notebooks"):
        shutil.copytree(ROOT / folder, root / folder)
    for file in ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff"):
        shutil.copyfile(ROOT / file, root / file)
    with pytest.raises(WrongUse, match="autograder release --repository"):
        publish(root, tmp_path / "public")
    set_repository(root, "ada/frameworks")
    assignments = [load_assignment(name, root) for name in names]
    out = publish(root, tmp_path / "public", assignments)
    assert [path for path in out.rglob("*") if path.is_file() and b"OWNER/" in path.read_bytes()] == []
    assert sorted(p.name for p in (out / "notebooks" / "release").iterdir()) == names
