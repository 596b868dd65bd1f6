"""What is noted of a submission that reaches for the libraries its work is recorded with, or for forbidden ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = '''
import json, sys
{before}
from autograder.student_side.footprints import Footprints
footprints = Footprints({forbidden!r})
library = globals()
THREAD = """
import threading
thread = threading.Thread(target=lambda: __import__("colorsys"))
thread.start()
thread.join()
"""
BARE_THREAD = """
import threading
thread = threading.Thread(target=__import__, args=("colorsys",))
thread.start()
thread.join()
"""
FORK = """
import os
child = os.fork()
if not child:
    import colorsys
    os._exit(0)
os.waitpid(child, 0)
"""
def run(text, file="/tmp/ipykernel_7/1234.py"):
    exec(compile(text, file, "exec"), library)
{code}
print(json.dumps(footprints.found()))
'''


NUMPY = "import numpy as np\nfrom autograder.protocol import wire"


def found(code: str, before: str = NUMPY, forbidden: tuple[str, ...] = ()) -> dict[str, list[str]]:
    text = SCRIPT.format(before=before, forbidden=forbidden, code=code)
    with tempfile.TemporaryDirectory() as folder:
        (script := Path(folder) / "script.py").write_text(text)  # its folder is on the path: not the student's
        bare = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, script], env=bare, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("np.sum = lambda *a, **k: 0", {"patched": ["numpy.sum"]}),
        ("np.__dict__['sum'] = max", {"patched": ["numpy.sum"]}),
        ("wire.encode = print", {"patched": ["autograder.protocol.wire.encode"]}),
        ("wire._Encoder.array = print", {"patched": ["autograder.protocol.wire._Encoder.array"]}),
        ("run('import sys\\nsys.setprofile(lambda *a: None)')", {"traced": ["sys.setprofile"]}),
        ("run('import threading, sys\\nsys.settrace(None)')", {"traced": ["sys.settrace"]}),
        (
            "from course_lib.checks import outcome\nrun('outcome.fail = lambda *a: None')",
            {"patched": ["course_lib.checks.outcome.fail"]},
        ),
        ("from course_lib.checks import outcome, calling", {}),
        # A library's own profiler, new names, settings and plain values are nobody's business.
        ("import cProfile\ncProfile.run('1')", {}),
        ("np.mine = 3\nnp.seterr(all='ignore')\nnp.random.seed(1)\nnp.set_printoptions(precision=2)", {}),
        ("x = np.sum", {}),
    ],
)
def test_replaced_functions_and_tracing_are_noted(code: str, noted: dict[str, list[str]]) -> None:
    assert found(code) == noted


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("run('import colorsys')", {"loaded": ["colorsys"]}),
        ("run('from colorsys import rgb_to_hsv; assert rgb_to_hsv(0, 0, 0)')", {"loaded": ["colorsys"]}),
        ('run(\'__import__("".join(["color", "sys"]))\')', {"loaded": ["colorsys"]}),
        ("run('import importlib; importlib.import_module(\"colorsys\")')", {"loaded": ["colorsys"]}),
        ("run(THREAD)", {"loaded": ["colorsys"]}),
        ("run(BARE_THREAD)", {"loaded": ["colorsys"]}),
        ("run(FORK)", {"loaded": ["colorsys"]}),
        ("run('import numpy; numpy.vectorize(__import__, otypes=[object])([\"colorsys\"])')", {"loaded": ["colorsys"]}),
        ("run('import sys; assert \"colorsys\" not in sys.modules')", {}),
        ("run('import json.tool as tool\\nimport json\\nassert json.tool is tool')", {"loaded": ["json"]}),
        # What an installed library imports for itself is no trick of the student's.
        ("import os\nrun('import colorsys', os.__file__)", {}),
        ("run('import graphlib')", {"loaded": ["graphlib"]}),
    ],
)
def test_forbidden_libraries_work_and_are_noted(code: str, noted: dict[str, list[str]]) -> None:
    before = "import colorsys, json.tool"
    assert found(code, before, ("colorsys", "json", "graphlib", "torch.optim")) == noted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("torch.cuda.is_available = lambda: True", {"patched": ["torch.cuda.is_available"]}),
        ("torch.Tensor.to = lambda self, *a: self", {"patched": ["torch.Tensor.to"]}),
        ("torch.nn.Module.to = lambda self, *a: self", {"patched": ["torch.nn.Module.to"]}),
        (
            "torch.set_default_dtype(torch.float64)\n"
            "model = torch.nn.Linear(2, 2)\n"
            "model.forward = lambda x: x\n"
            "torch.optim.Adam(model.parameters()).step()\n"
            "torch.func.vmap(torch.sin)(torch.ones(2))\n"
            "torch.backends.cudnn.benchmark = True",
            {},
        ),
    ],
)
def test_torch_is_watched_and_its_own_settings_are_no_footprints(code: str, noted: dict[str, list[str]]) -> None:
    assert found(code, "import torch") == noted
