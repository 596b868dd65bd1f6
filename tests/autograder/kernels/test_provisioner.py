"""Every Jupyter tool can use the warm kernels: nbclient, AsyncKernelManager and nbgrader, none of them changed."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client.manager import AsyncKernelManager

from autograder.kernels.provisioner import MAX_COPIED_FILES, files_beside
from autograder.kernels.zygote import Zygote
from tests import notebook_builder as builder
from tests.when_used import when_used

NotebookClient = when_used("nbclient.NotebookClient")
exceptions = when_used("nbclient.exceptions")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("provisioned")]


def execute(*sources: str, folder: Path | None = None, **options: Any) -> list[Any]:
    """The cells after nbclient ran them in the kernelspec `autograder`."""
    notebook = builder.notebook(*map(builder.code, sources))
    resources = {"metadata": {"path": str(folder)}} if folder else {}
    options = {"timeout": 30, **options}
    NotebookClient(notebook, kernel_name="autograder", resources=resources, **options).execute()
    return [cell.outputs for cell in notebook.cells]


def test_nbclient_runs_cells_in_order_in_a_confined_kernel_and_leaves_nothing(no_kernel_is_left: None) -> None:
    first, second, figure, failed, after = execute(
        "import os, getpass\nx = os.getpid()",
        "print(x, getpass.getuser(), os.environ['HOME'])",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        "1 / 0",
        "print('on')",
        allow_errors=True,
    )
    assert first == []
    pid, user, home = second[0].text.split()
    assert pid == "1" and user == "student", "a process namespace of its own"
    assert home != os.environ.get("HOME") and not Path(home).parent.exists()
    assert [o.output_type for o in figure if "image/png" in o.get("data", {})] == ["display_data"], "shown inline"
    # The line and its end may come as two outputs.
    assert failed[0].ename == "ZeroDivisionError" and "".join(o.text for o in after) == "on\n"


def test_nbclients_timeout_interrupts_the_cell_and_the_kernel_lives() -> None:
    loop, after = execute(
        "x = 5\nwhile True: pass", "print(x)", allow_errors=True, interrupt_on_timeout=True, timeout=1
    )
    assert loop[-1].ename == "KeyboardInterrupt" and after[0].text == "5\n"


def test_nbclients_timeout_without_interrupt_ends_the_kernel(no_kernel_is_left: None) -> None:
    with pytest.raises(exceptions.CellTimeoutError):
        execute("import os\nwhile True: pass", timeout=1)


def test_a_crash_is_a_dead_kernel_to_nbclient(no_kernel_is_left: None) -> None:
    with pytest.raises(exceptions.DeadKernelError):
        execute("import os; os._exit(3)", "print('never')")


@pytest.fixture
def no_kernel_is_left(figure_zygote: Zygote, still_alive: Callable[..., list[psutil.Process]]) -> Iterator[None]:
    """Holds it after the test."""
    yield
    assert figure_zygote.process is not None
    assert not still_alive(psutil.Process(figure_zygote.process.pid).children(recursive=True), 5)


async def _started() -> tuple[AsyncKernelManager, Any]:
    manager = AsyncKernelManager(kernel_name="autograder")
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=30)
    return manager, client


async def _run(client: Any, code: str) -> str:
    printed: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        printed.append(message["content"].get("text", message["content"].get("ename", "")))

    await client.execute_interactive(code, timeout=30, output_hook=keep, allow_stdin=False)
    return "".join(printed)


def test_the_manager_interrupts_restarts_and_ends_kernels_over_ipc_alone(no_kernel_is_left: None) -> None:
    async def story() -> None:
        (manager, client), (other, second) = await asyncio.gather(_started(), _started())
        try:
            assert manager.transport == "ipc"
            own = psutil.Process(manager.provisioner.pid)
            assert not [c for c in own.net_connections() if c.laddr], "no port is open"
            # Interrupt.
            loop = asyncio.create_task(_run(client, "x = 1\nwhile True: pass"))
            await asyncio.sleep(1)
            await manager.interrupt_kernel()
            assert "KeyboardInterrupt" in await loop
            assert await _run(client, "print(x)") == "1\n"
            assert "NameError" in await _run(second, "x"), "two kernels at once do not meet"
            # Restart: another process, another folder, no names.
            before = (manager.provisioner.pid, manager.connection_file)
            client.stop_channels()
            await manager.restart_kernel(now=True)
            client = manager.client()
            client.start_channels()
            await client.wait_for_ready(timeout=30)
            assert (manager.provisioner.pid, manager.connection_file) != before
            assert not own.is_running() or own.status() == psutil.STATUS_ZOMBIE
            assert "NameError" in await _run(client, "print(x)")
            assert await manager.is_alive()
        finally:
            client.stop_channels()
            second.stop_channels()
            await manager.shutdown_kernel(now=True)
            await other.shutdown_kernel(now=False)  # gently
        assert not await manager.is_alive() and not await other.is_alive()

    asyncio.run(story())


def test_plain_files_beside_the_notebook_are_there_and_are_not_changed_and_notebooks_are_not(tmp_path: Path) -> None:
    given = {"data/a.csv": "1,2", "helper.py": "answer = 42", "solved.ipynb": "{}", ".token": "secret"}
    for name, text in given.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    output, _ = execute(
        "import os, helper\nfiles = [f for _, _, names in os.walk('.') for f in names if not f.endswith('.pyc')]\n"
        "print(helper.answer, sorted(files))",
        "open('data/a.csv', 'w').write('changed'); open('b.txt', 'w').write('new')",
        folder=tmp_path,
    )
    assert output[0].text == "42 ['a.csv', 'helper.py']\n"
    files = {str(p.relative_to(tmp_path)): p.read_text() for p in tmp_path.rglob("*") if p.is_file()}
    assert files == given, "what a cell writes stays in its box"


def test_links_and_hidden_files_are_not_copied_and_too_many_files_are_none(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").symlink_to("/etc")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("secret")
    assert files_beside(tmp_path) == {"kept.txt": b"x"}
    for number in range(MAX_COPIED_FILES):
        (tmp_path / str(number)).touch()
    assert files_beside(tmp_path) == {}


SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


@pytest.mark.long
def test_stock_nbgrader_grades_with_the_kernelspec_and_gives_its_scores(tmp_path: Path) -> None:
    course = tmp_path / "course"
    boxed = "import os\nassert os.getpid() == 1, 'not in a box'\nassert double(3) == 6"
    cells = (builder.solution(SOLUTION, "double"), builder.tests(boxed, "test_double", 5))
    builder.write(course / "source" / "ps" / "p.ipynb", *cells, kernel="autograder")
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'c'\n")
    # nbgrader starts `alembic` by its name.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def nbgrader(*arguments: str) -> None:
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=300, env=environment)
        assert done.returncode == 0, done.stderr[-3000:]

    nbgrader("generate_assignment", "ps")
    released = json.loads((course / "release" / "ps" / "p.ipynb").read_text())
    for student, body in (("right", "def double(x):\n    return x + x"), ("wrong", "def double(x):\n    return x")):
        released["cells"][0]["source"] = body
        target = course / "submitted" / student / "ps"
        target.mkdir(parents=True)
        (target / "p.ipynb").write_text(json.dumps(released))
    nbgrader("autograde", "ps")
    with sqlite3.connect(course / "gradebook.db") as db:
        rows = db.execute(
            "select s.student_id, g.auto_score from submitted_assignment s "
            "join submitted_notebook n on n.assignment_id = s.id join grade g on g.notebook_id = n.id"
        ).fetchall()
    assert dict(rows) == {"right": 5, "wrong": 0}
