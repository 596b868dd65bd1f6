"""Where TensorFlow places each operation of a graph, in its own words.

The runtime writes its placement log in C++ to the error stream of the process, and whether it does is settled before
the first line of a notebook runs. So the graph goes to a process of its own, whose error stream is read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

LINE = re.compile(r"(\S+: \(\w+\): /job\S+)")
"""`name: (operation): device`, behind the time and the place in the source"""


def placement_log(fetch: Any, feeds: Mapping[Any, Any] | None = None, cpus: int = 1) -> list[str]:
    """Run the TensorFlow tensor `fetch` with `log_device_placement` in a fresh process; return the lines of the log.

    feeds: placeholder -> value. cpus: logical CPU devices; GPUs are left out, so that the log is the same everywhere.
    Raises RuntimeError with the process's last words if the graph cannot be run.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "graph.pb").write_bytes(fetch.graph.as_graph_def().SerializeToString())
        np.savez(Path(folder) / "feeds.npz", **{tensor.name: value for tensor, value in (feeds or {}).items()})
        paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
        ran = subprocess.run(
            [sys.executable, "-m", "course_lib.lectures.tensorflow_placement", folder, fetch.name, str(cpus)],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
    if ran.returncode:
        raise RuntimeError(f"placement_log: the graph could not be run: {ran.stderr.strip()[-400:]}")
    return [found[1] for line in ran.stderr.splitlines() if (found := LINE.search(line))]


def main(folder: str, fetch: str, cpus: str) -> None:
    """Run the graph that lies in `folder`; TensorFlow writes the log to the error stream."""
    from tensorflow.compat import v1 as tf

    definition = tf.GraphDef.FromString((Path(folder) / "graph.pb").read_bytes())
    config = tf.ConfigProto(log_device_placement=True, device_count={"CPU": int(cpus), "GPU": 0})
    with tf.Graph().as_default() as graph, np.load(Path(folder) / "feeds.npz") as feeds:
        tf.import_graph_def(definition, name="")
        with tf.Session(graph=graph, config=config) as session:
            session.run(fetch, dict(feeds))


if __name__ == "__main__":
    main(*sys.argv[1:])
