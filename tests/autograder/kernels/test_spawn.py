"""Where a warm process cannot fork, a cold kernel gives the same verdicts behind the same walls."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.kernels import provisioner
from autograder.kernels.zygote import Spawner, Zygote, forking_works
from autograder.records import Limits, Verdict

pytestmark = pytest.mark.slow

CELLS = (
    "x = 1",
    "1 / 0",
    "print(x)",
    "import os\nprint(os.getpid(), sorted(os.listdir('.')), os.environ['HOME'] == os.path.expanduser('~'))",
    "import socket\nsocket.create_connection(('127.0.0.1', 22), 1)",
    "open('/etc/shadow')",
    "import numpy as np\nnp.arange(3)",
    "while True: pass",
    "print('on', x)",
    "os._exit(3)",
)


def test_the_environment_variable_says_no_to_forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUTOGRADER_SPAWN", raising=False)
    assert forking_works()
    monkeypatch.setenv("AUTOGRADER_SPAWN", "1")
    assert not forking_works()
    monkeypatch.setattr(provisioner, "_launcher", None)
    assert isinstance(provisioner.shared_launcher(), Spawner)


def test_a_cold_kernel_gives_the_verdicts_and_the_output_of_a_forked_one(zygote: Zygote, make_kernel: Any) -> None:
    limits = Limits(cell_s=1, notebook_s=60, memory_bytes=512 << 20)
    found = []
    for launcher in (zygote, Spawner()):
        kernel = make_kernel(limits, launcher=launcher, files={"a.txt": b"a"})
        ran = [kernel.run_cell(cell) for cell in CELLS]
        found.append([(r.verdict, "".join(r.text), r.error, r.by_wall_clock) for r in ran])
        found[-1].append((kernel.process.tier, kernel.process.sandbox))
    forked, spawned = found
    assert spawned == forked
    assert [verdict for verdict, *_ in forked[:-1]] == [
        *(Verdict.PASSED, Verdict.FAILED, Verdict.PASSED, Verdict.PASSED, Verdict.FAILED, Verdict.FAILED),
        *(Verdict.PASSED, Verdict.TIME, Verdict.PASSED, Verdict.CRASH),
    ]


def test_a_cold_kernel_answers_the_judge_shows_figures_inline_and_ends_with_its_client(make_kernel: Any) -> None:
    kernel = make_kernel(launcher=Spawner())
    kernel.run_cell("def f(x): return x + 1")
    assert kernel.call("def probe(ns, x):\n    return ns.f(x)\n", "probe", {"x": 1}).value == 2
    ran = kernel.run_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert "".join(ran.text) == "[figure 1]\n" and len(ran.figures) == 1
    private = kernel.process.private
    kernel.close()
    assert not private.exists() and not kernel.alive
