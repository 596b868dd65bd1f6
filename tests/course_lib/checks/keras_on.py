"""Run a part of a8 in a process of its own, on a back end of Keras: that is settled once, when Keras is imported.

python -m tests.course_lib.checks.keras_on BACKEND visible [ENTRY ...]    what the visible checks say, as JSON
python -m tests.course_lib.checks.keras_on BACKEND truth                  the reference against NumPy and PyTorch
python -m tests.course_lib.checks.keras_on BACKEND finished               which answers are Keras's own, by the probes
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def on(backend: str, *what: str) -> dict[str, Any]:
    """What another process prints that runs `what` on this back end."""
    command = [sys.executable, "-m", __name__, backend, *what]
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(backend: str, what: str, *names: str) -> dict[str, Any]:
    """In that process."""
    importlib.import_module("torch._dynamo")  # before TensorFlow: see `autograder.kernels.preload`
    import keras

    from tests.course_lib.checks.visible import Visible

    one = Visible("a8_keras")
    # The notebook sets the variable too; by then Keras is there, and has read it.
    assert keras.backend.backend() == backend
    if what == "truth":
        from tests.course_lib.checks import a8_truth

        return a8_truth.differences(one.reference)
    if what == "finished":
        from tests.course_lib.checks import a8_finished

        return a8_finished.at_work(one.reference)
    found = {}
    for name in names or ("reference",):
        if name == "reference":
            said = one.outcomes()
        elif name == "stubs":
            said = one.outcomes(one.stubs())
        else:
            said = one.of_entry(one.bank[name])
        found[name] = {
            cell: [r if isinstance(r, str) else f"{type(r).__name__}: {r}" for r in results]
            for cell, results in said.items()
        }
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
