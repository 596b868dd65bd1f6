"""What honest students need of a confined kernel and `tests/autograder/sandbox` cannot see without one."""

from __future__ import annotations

import time
from collections.abc import Callable

from autograder.kernels.session import Kernel
from autograder.records import Limits, Verdict


def printed(kernel: Kernel, source: str) -> str:
    ran = kernel.run_cell(source)
    assert ran.verdict is Verdict.PASSED, (ran.verdict, ran.error, ran.text)
    return "".join(ran.text)


def test_history_last_values_magics_shell_commands_and_await_work(kernel: Kernel) -> None:
    kernel.run_cell("x = 40 + 1")
    kernel.run_cell("x + 1")
    assert printed(kernel, "print(_, In[1], Out[2])") == "42 x = 40 + 1 42\n"
    assert "x = 40 + 1" in printed(kernel, "%history")
    assert "loop" in printed(kernel, "%timeit -n 1 -r 1 1 + 1")
    assert printed(kernel, "!echo from the shell").strip() == "from the shell"
    kernel.run_cell("%%writefile made.py\nanswer = 42")
    assert printed(kernel, "import made\nprint(made.answer)") == "42\n"
    assert printed(kernel, "import asyncio\nprint(await asyncio.sleep(0, 'slept'))") == "slept\n"
    assert printed(kernel, "from course_lib.data import load_digits\nprint(len(load_digits()) > 1)") == "True\n"


def test_the_kernel_is_the_first_process_and_can_still_be_interrupted(make_kernel: Callable[..., Kernel]) -> None:
    kernel = make_kernel(Limits(cell_s=0.5))
    assert printed(kernel, "import os\nprint(os.getpid())") == "1\n"
    ran = kernel.run_cell(
        "try:\n    for _ in range(10**9): sum(range(1000))\nexcept KeyboardInterrupt:\n    print('heard')"
    )
    assert ran.verdict is Verdict.TIME and ran.text == ["heard\n"]
    assert printed(kernel, "print('on')") == "on\n"


def test_orphans_of_the_student_do_not_pile_up_as_zombies(kernel: Kernel) -> None:
    # The first process of a namespace inherits orphans; left unreaped they would use up the limit on processes.
    kernel.run_cell(
        "import subprocess\n"
        "own = subprocess.Popen(['sh', '-c', 'exit 7'])\n"
        "def orphans(n):\n"
        "    for _ in range(n): subprocess.run(['sh', '-c', 'sleep 0.01 & exit'], check=True)"
    )
    for _ in range(5):
        assert kernel.run_cell("orphans(30)").verdict is Verdict.PASSED
        time.sleep(0.1)
    assert printed(kernel, "print(own.wait())") == "7\n", "whose status the student may still ask for"
    count = (
        "import os\nprint(sum('Z' == open(f'/proc/{p}/stat').read().rsplit(')', 1)[1].split()[0] "
        "for p in os.listdir('/proc') if p.isdigit()))"
    )
    assert int(printed(kernel, count)) < 20


def test_reaping_orphans_takes_no_exit_status_from_subprocess(kernel: Kernel) -> None:
    source = (
        "import subprocess, sys\n"
        "ends = lambda n: subprocess.run([sys.executable, '-c', f'raise SystemExit({n})']).returncode\n"
        "print({ends(n) == n for n in range(5)})"
    )
    assert printed(kernel, source) == "{True}\n"
