"""Run a saved Keras model on a back end of choice: in a process of its own, since Keras chooses when it is imported.

`python -m course_lib.lectures.keras_backends MODEL DATA RESULT STEPS` does the work under whatever KERAS_BACKEND says,
and `run_on` starts that and reads the result. The model must consist of what Keras itself brings: a class that was
written in a notebook does not exist in another process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["run_on", "work"]

Arrays = dict[str, np.ndarray]


def work(model_file: str | Path, inputs: Mapping[str, Any], targets: Mapping[str, Any], steps: int) -> Arrays:
    """Load a compiled model, predict, train for `steps` steps on the whole batch, and say what came out.

    inputs, targets: arrays under the names of the model's inputs and outputs. Returns "output NAME" before training,
    "loss" `(steps,)`, each measured before its update, and "weight NUMBER" after the last.
    """
    import keras

    model: Any = keras.models.load_model(model_file)
    rows = len(next(iter(inputs.values())))
    before = model.predict(dict(inputs), batch_size=rows, verbose=0)
    history = model.fit(dict(inputs), dict(targets), batch_size=rows, epochs=steps, shuffle=False, verbose=0)
    return {
        **{f"output {name}": np.asarray(array) for name, array in before.items()},
        "loss": np.asarray(history.history["loss"], np.float32),
        **{f"weight {number}": array for number, array in enumerate(model.get_weights())},
    }


def run_on(
    backend: str, model_file: str | Path, inputs: Mapping[str, Any], targets: Mapping[str, Any], steps: int
) -> tuple[str, Arrays]:
    """What `work` returns in a new process with KERAS_BACKEND=`backend`, and the class of a weight there.

    Raises RuntimeError with the end of what the process said if it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, result = Path(folder, "data.npz"), Path(folder, "result.npz")
        named: dict[str, Any] = {f"x {name}": np.asarray(value) for name, value in inputs.items()}
        named |= {f"y {name}": np.asarray(value) for name, value in targets.items()}
        np.savez(data, **named)
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "course_lib.lectures.keras_backends",
                str(model_file),
                str(data),
                str(result),
                str(steps),
            ],
            env={**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"run_on: the process on {backend} ended with {done.returncode}: {done.stderr[-800:]}")
        with np.load(result) as file:
            return done.stdout.strip(), {name: file[name] for name in file.files}


def _main(model_file: str, data: str, result: str, steps: str) -> None:
    with np.load(data) as file:
        parts: dict[str, Arrays] = {"x": {}, "y": {}}
        for name in file.files:
            kind, _, rest = name.partition(" ")
            parts[kind][rest] = file[name]
    found: dict[str, Any] = {**work(model_file, parts["x"], parts["y"], int(steps))}
    np.savez(result, **found)

    import keras

    kind = type(keras.Variable(np.zeros(1, np.float32)).value)
    print(f"{kind.__module__.partition('.')[0]}.{kind.__name__}")


if __name__ == "__main__":
    _main(*sys.argv[1:])
