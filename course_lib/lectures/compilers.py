"""What this machine can compile with, and what a compiler made of a graph."""

from __future__ import annotations

import logging
import os
import shutil
from typing import Any

__all__ = ["grappler", "torch_backend"]


def torch_backend() -> tuple[str, str]:
    """The best back end of `torch.compile` that works here, and a sentence that says why.

    'inductor' writes C++ and calls a compiler; where there is none, or where it fails on a function of one line, the
    answer is 'aot_eager', which captures the same graph and runs it operation by operation. From then on inductor
    compiles in this process, without helpers. What was compiled before is forgotten.
    """
    import torch
    from torch._inductor import config

    config.compile_threads = 1
    if not any(map(shutil.which, filter(None, [os.environ.get("CXX"), "c++", "g++", "clang++", "cl"]))):
        return (
            "aot_eager",
            "This machine has no C++ compiler, so the graph is captured but not turned into machine code.",
        )
    logger = logging.getLogger("torch.utils.cpp_extension")  # says on machines without a GPU that there is none
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        torch.compile(_one_line, backend="inductor")(torch.ones(2))
    except Exception as error:
        reason = str(error).strip().splitlines()[0][:100]
        return "aot_eager", f"The C++ compiler of this machine does not do what is needed ({reason})."
    finally:
        torch.compiler.reset()
        logger.setLevel(level)
    return "inductor", "This machine has a C++ compiler: inductor can turn the graph into machine code."


def grappler(concrete: Any, *inputs: Any) -> tuple[Any, Any]:
    """The `GraphDef` of a concrete function before and after TensorFlow's own optimizer, Grappler.

    inputs: an array for each argument; the graph is run once, since it is optimized when it first runs.
    """
    import tensorflow as tf

    v1 = tf.compat.v1
    metadata = v1.RunMetadata()
    feed = {tensor.name: value for tensor, value in zip(concrete.inputs, inputs, strict=True)}
    with v1.Session(graph=concrete.graph) as session:
        options = v1.RunOptions(output_partition_graphs=True)
        session.run([tensor.name for tensor in concrete.outputs], feed, options=options, run_metadata=metadata)
    [after] = metadata.partition_graphs
    return concrete.graph.as_graph_def(add_shapes=True), after


def _one_line(x: Any) -> Any:
    return x.sin() + 1
