"""All frameworks in one process, quietly. Each case is a process of its own: what is imported stays imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from course_lib import frameworks

TRAINING = """
import torch
tf = __import__("tensorflow")
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
variable = tf.Variable(3.0)
with tf.GradientTape() as tape:
    square = variable * variable
print(float(tape.gradient(square, variable)))
"""


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)


@pytest.mark.long
def test_torch_and_tensorflow_train_in_one_process_and_write_nothing_to_the_error_stream() -> None:
    done = _run("from course_lib import frameworks\nframeworks.prepare('tensorflow', 'torch')" + TRAINING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "6.0\n", "")


@pytest.mark.slow
def test_what_is_no_log_line_still_reaches_the_error_stream() -> None:
    program = (
        "import os\n"
        "from course_lib.frameworks import _without_log_lines\n"
        "with _without_log_lines():\n"
        "    os.write(2, b'I0000 00:00:1795283638.152497   14415 cudart_stub.cc:31] no drivers\\n')\n"
        "    os.write(2, b'E0000 00:00:1795283638.152497   14415 platform.cc:31] it failed\\n')\n"
        "    os.write(2, b'Traceback\\n')\n"
    )
    assert _run(program).stderr.splitlines() == [
        "E0000 00:00:1795283638.152497   14415 platform.cc:31] it failed",
        "Traceback",
    ]


@pytest.mark.long
def test_coming_too_late_is_said_before_it_ends_the_process() -> None:
    done = _run("import tensorflow\nfrom course_lib import frameworks\nframeworks.prepare('torch')")
    assert "restart the kernel and call prepare before any import" in done.stderr


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\['theano'\] is not known; name torch"):
        frameworks.prepare("theano")
