"""Every Jupyter tool can use the warm kernels: nbclient, AsyncKernelManager and nbgrader, none of them changed."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client.manager import AsyncKernelManager

from autograder.kernels.provisioner import MAX_COPIED_FILES, files_beside
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


def test_nbclient_runs_cells_in_order_in_a_confined_kernel() -> None:
    first, second = execute("import os, getpass\nx = os.getpid()", "print(x, getpass.getuser(), os.environ['HOME'])")
    assert first == []
    pid, user, home = second[0].text.split()
    assert pid == "1" and user == "student", "a process namespace of its own"
    assert home != os.environ.get("HOME")


def test_a_figure_is_shown_inline() -> None:
    (outputs,) = execute("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert [o.output_type for o in outputs if "image/png" in o.get("data", {})] == ["display_data"]


def test_an_error_is_raised_as_by_any_kernel_or_kept_in_the_cell() -> None:
    failed, after = execute("1 / 0", "print('on')", allow_errors=True)
    assert failed[0].ename == "ZeroDivisionError" and after[0].text == "on\n"


def test_nbclients_timeout_interrupts_the_cell_and_the_kernel_lives() -> None:
    loop, after = execute(
        "x = 5\nwhile True: pass", "print(x)", allow_errors=True, interrupt_on_timeout=True, timeout=1
    )
    assert loop[-1].ename == "KeyboardInterrupt" and after[0].text == "5\n"


def test_nbclients_timeout_without_interrupt_ends_the_kernel() -> None:
    notebook = builder.notebook(builder.code("import os\nwhile True: pass"))
    with pytest.raises(exceptions.CellTimeoutError):
        NotebookClient(notebook, kernel_name="autograder", timeout=1).execute()
    _no_kernel_is_left()


def test_a_crash_is_a_dead_kernel_to_nbclient() -> None:
    with pytest.raises(exceptions.DeadKernelError):
        execute("import os; os._exit(3)", "print('never')")
    _no_kernel_is_left()


def test_when_nbclient_is_done_no_kernel_and_no_folder_is_left(tmp_path: Path) -> None:
    ((output,),) = execute("import os\nprint(os.environ['HOME'])")
    assert not Path(output.text.strip()).parent.exists()
    _no_kernel_is_left()


def _no_kernel_is_left() -> None:
    from autograder.kernels import provisioner

    zygote = provisioner._launcher
    assert zygote is not None and zygote.process is not None  # type: ignore[union-attr]
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        alive = [
            c
            for c in psutil.Process(zygote.process.pid).children(recursive=True)  # type: ignore[union-attr]
            if c.status() != psutil.STATUS_ZOMBIE
        ]
        if not alive:
            return
        time.sleep(0.1)
    raise AssertionError(f"still there: {alive}")


# -- the manager -----------------------------------------------------------------------------------------------------


async def _started() -> tuple[AsyncKernelManager, Any]:
    manager = AsyncKernelManager(kernel_name="autograder")
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=30)
    return manager, client


async def _run(client: Any, code: str) -> str:
    printed: list[str] = []
    await client.execute_interactive(
        code,
        timeout=30,
        output_hook=lambda m: printed.append(m["content"].get("text", m["content"].get("ename", ""))),
        allow_stdin=False,
    )
    return "".join(printed)


def test_the_manager_interrupts_restarts_and_ends_a_kernel_over_ipc_alone() -> None:
    async def story() -> None:
        manager, client = await _started()
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
            await manager.shutdown_kernel(now=True)
        assert not await manager.is_alive()

    asyncio.run(story())
    _no_kernel_is_left()


def test_a_gentle_shutdown_ends_the_kernel_too() -> None:
    async def story() -> None:
        manager, client = await _started()
        client.stop_channels()
        await manager.shutdown_kernel(now=False)
        assert not await manager.is_alive()

    asyncio.run(story())
    _no_kernel_is_left()


def test_two_kernels_at_once_do_not_meet() -> None:
    async def story() -> None:
        (one, first), (other, second) = await asyncio.gather(_started(), _started())
        await _run(first, "x = 1")
        assert "NameError" in await _run(second, "x")
        for manager, client in ((one, first), (other, second)):
            client.stop_channels()
            await manager.shutdown_kernel(now=True)

    asyncio.run(story())


# -- files beside the notebook ---------------------------------------------------------------------------------------


def test_plain_files_beside_the_notebook_are_there_and_notebooks_are_not(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1,2")
    (tmp_path / "helper.py").write_text("answer = 42")
    (tmp_path / "solved.ipynb").write_text("{}")
    (tmp_path / ".token").write_text("secret")
    ((output,),) = execute(
        "import os, helper\nfiles = [f for _, _, names in os.walk('.') for f in names if not f.endswith('.pyc')]\n"
        "print(helper.answer, sorted(files))",
        folder=tmp_path,
    )
    assert output.text == "42 ['a.csv', 'helper.py']\n"


def test_what_a_cell_writes_stays_in_its_box(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("as it was")
    execute("open('a.txt', 'w').write('changed'); open('b.txt', 'w').write('new')", folder=tmp_path)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a.txt": "as it was"}


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


# -- nbgrader --------------------------------------------------------------------------------------------------------

SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"


def _course(folder: Path) -> Path:
    boxed = "import os\nassert os.getpid() == 1, 'not in a box'\nassert double(3) == 6"
    cells = (builder.solution(SOLUTION, "double"), builder.tests(boxed, "test_double", 5))
    builder.write(folder / "source" / "ps" / "p.ipynb", *cells, kernel="autograder")
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'c'\n")
    return folder


@pytest.mark.slow
def test_stock_nbgrader_grades_with_the_kernelspec_and_gives_its_scores(tmp_path: Path) -> None:
    course = _course(tmp_path / "course")

    def nbgrader(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=course,
            capture_output=True,
            text=True,
            timeout=300,
            # nbgrader starts `alembic` by its name.
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stderr

    nbgrader("generate_assignment", "ps")
    released = json.loads((course / "release" / "ps" / "p.ipynb").read_text())
    for student, body in (("right", "def double(x):\n    return x + x"), ("wrong", "def double(x):\n    return x")):
        handed = json.loads(json.dumps(released))
        handed["cells"][0]["source"] = body
        target = course / "submitted" / student / "ps"
        target.mkdir(parents=True)
        (target / "p.ipynb").write_text(json.dumps(handed))
    nbgrader("autograde", "ps")
    with sqlite3.connect(course / "gradebook.db") as db:
        rows = db.execute(
            "select s.student_id, g.auto_score from submitted_assignment s "
            "join submitted_notebook n on n.assignment_id = s.id join grade g on g.notebook_id = n.id"
        ).fetchall()
    assert dict(rows) == {"right": 5, "wrong": 0}
