"""Virtual GPUs for TensorFlow, against TensorFlow itself on the plain CPU.

The runtime starts once per process, so each program runs in a process of its own, forked from one that has imported
TensorFlow and done nothing else. A program leaves what it found in `found`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., dict[str, Any]]

SERVER = """
import contextlib, json, os, sys, traceback
import numpy as np, tensorflow as tf

def words(act):
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def work(order):
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1), os.dup2(log, 2)
    names = {"np": np, "tf": tf, "words": words, "found": {}, "__name__": "program"}
    code = compile(order["text"], order["file"], "exec")
    exec(code, names)
    with open(order["out"], "w") as out:
        json.dump(names["found"], out, default=str)

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            work(order)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(0)
    os.waitpid(child, 0)
    print("done", flush=True)
"""

ON = """
from course_lib.virtual_cuda import tensorflow as virtual_gpus
from course_lib.virtual_cuda.tensorflow import placement
log = virtual_gpus.enable(2, quiet=True)
"""

PLAIN = """
def placement(value):
    return ""
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("virtual GPUs for TensorFlow"),
    pytest.mark.skipif(PathFinder.find_spec("tensorflow") is None, reason="TensorFlow is not installed"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the programs are forked from one warm process"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """A process that has imported TensorFlow and forks for each program."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}
    # Without oneDNN the CPU lacks convolutions with channels first; other tests of this process may have put it off.
    quiet["TF_ENABLE_ONEDNN_OPTS"] = "1"
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    settings: Any = {"text": True, "env": os.environ | quiet, "cwd": Path(__file__).resolve().parents[4]}
    process: subprocess.Popen[str] = subprocess.Popen([sys.executable, "-c", SERVER], **pipes, **settings)
    yield process
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


@pytest.fixture
def run(server: subprocess.Popen[str], tmp_path: Path) -> Run:
    """Run a program, with two virtual GPUs unless `prelude` says otherwise; what it found, and what it printed."""

    def run_program(text: str, prelude: str = ON) -> dict[str, Any]:
        assert server.stdin is not None and server.stdout is not None
        out, log = tmp_path / "found.json", tmp_path / "printed.txt"
        out.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        order = {"text": prelude + textwrap.dedent(text), "file": str(tmp_path / "program.py")}
        # Tracebacks and AutoGraph read the program's source.
        Path(order["file"]).write_text(order["text"], encoding="utf-8")
        server.stdin.write(json.dumps(order | {"out": str(out), "log": str(log)}) + "\n")
        server.stdin.flush()
        assert server.stdout.readline() == "done\n"
        printed = log.read_text(encoding="utf-8")
        assert out.exists(), printed
        return {**json.loads(out.read_text(encoding="utf-8")), "printed": printed}

    return run_program


def test_the_translation_of_names_is_one_to_one() -> None:
    from course_lib.virtual_cuda.tensorflow.names import Names

    for names in (Names(1, 1), Names(1, 2), Names(3, 2), Names(2, 8)):
        asked = [f"/job:localhost/replica:0/task:0/device:{kind}:{i}" for kind in ("CPU", "GPU") for i in range(12)]
        told = [names.runtime(name) for name in asked]
        assert [names.program(name) for name in told] == asked
        assert len(set(told)) == len(asked)
        assert [name for name in told if "GPU" in name] == [f"{asked[0][:-5]}GPU:{i}" for i in range(names.gpus, 12)]
        assert [name in told for name in (names.first_gpu(),)] == [True]


def test_importing_it_imports_neither_torch_nor_tensorflow() -> None:
    code = (
        "import sys; from course_lib.virtual_cuda import tensorflow as t; t.is_enabled(); "
        "print(sorted({'torch', 'tensorflow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_gpus_are_listed_and_described(run: Run) -> None:
    found = run("""
        gpus = tf.config.list_physical_devices("GPU")
        found["physical"] = [d.name for d in tf.config.list_physical_devices()]
        found["details"] = tf.config.experimental.get_device_details(gpus[1])
        tf.config.experimental.set_memory_growth(gpus[0], True)
        found["growth"] = [tf.config.experimental.get_memory_growth(gpu) for gpu in gpus]
        found["visible"] = [d.name for d in tf.config.get_visible_devices("GPU")]
        found["logical"] = [(d.name, d.device_type) for d in tf.config.list_logical_devices()]
        found["available"] = tf.test.is_gpu_available(), tf.test.is_gpu_available(min_cuda_compute_capability=(7, 0))
        found["name"] = tf.test.gpu_device_name()
        import sys
        found["torch"] = "torch" in sys.modules
    """)
    found.pop("printed")
    assert found == {
        "physical": ["/physical_device:CPU:0", "/physical_device:GPU:0", "/physical_device:GPU:1"],
        "logical": [["/device:CPU:0", "CPU"], ["/device:GPU:0", "GPU"], ["/device:GPU:1", "GPU"]],
        "visible": ["/physical_device:GPU:0", "/physical_device:GPU:1"],
        "details": {"device_name": "Virtual GPU (CPU)", "compute_capability": [8, 0]},
        **{"growth": [True, None], "available": [True, True], "name": "/device:GPU:0", "torch": False},
    }


def test_every_spelling_of_a_device_means_the_same(run: Run) -> None:
    found = run("""
        x = tf.ones([2, 2])
        full = "/job:localhost/replica:0/task:0/device:GPU:1"
        spec = tf.DeviceSpec(device_type="GPU", device_index=1)
        logical = tf.config.list_logical_devices("GPU")[1]
        for name in ("/GPU:1", "GPU:1", "/device:GPU:1", "/gpu:1", "gpu:1", full, spec, spec.to_string(), logical):
            with tf.device(name):
                y, v = tf.matmul(x, x), tf.Variable(x)
            found[str(name)] = [y.device, v.device, placement(y), placement(v), placement(v + 1)]
        with tf.device("/GPU:1"):
            with tf.device("/CPU:0"):
                found["inner"] = placement(x + 1)
            with tf.device("/job:localhost"):
                found["job"] = placement(x + 1)
            with tf.device(None):
                found["none"] = placement(x + 1)
            found["outer"] = placement(x + 1)
        with tf.device("/GPU:1"):
            copy = tf.identity(x)
        found["copy"] = placement(copy), placement(copy.cpu()), placement(copy.gpu()), placement(x)
        found["after"] = placement(x + 1)
    """)
    found.pop("printed")
    full = "/job:localhost/replica:0/task:0/device:GPU:1"
    assert found.pop("inner") == "CPU:0"
    assert found.pop("job") == found.pop("outer") == "GPU:1"
    assert found.pop("none") == found.pop("after") == "GPU:0"
    assert found.pop("copy") == ["GPU:1", "CPU:0", "GPU:0", "GPU:0"]
    for name, places in found.items():
        # The sum runs where no device was asked for: on the first GPU.
        assert places == [full, full, "GPU:1", "GPU:1", "GPU:0"], name
    assert len(found) == 8


def test_without_a_device_operations_go_where_they_have_a_kernel(run: Run) -> None:
    found = run("""
        numbers, text = tf.constant([[1.0]]), tf.constant("a")
        found["on the GPU"] = [placement(t) for t in (numbers, tf.matmul(numbers, numbers), tf.Variable(numbers))]
        batches = tf.data.Dataset.from_tensor_slices(tf.range(4.0)).map(lambda t: 2 * t).batch(2)
        batch = next(iter(batches))
        found["on the host"] = [placement(t) for t in (tf.strings.join([text, text]), tf.matmul([[1]], [[2]]), batch)]
        found["from the host"] = placement(batch * 1)
        found["int32"] = tf.constant([1]).backing_device
    """)
    assert found["on the GPU"] == ["GPU:0"] * 3 and found["on the host"] == ["CPU:0"] * 3
    assert found["from the host"] == "GPU:0" and found["int32"].endswith("CPU:0")


def test_a_build_that_knows_no_gpus_has_strings_and_data_sets_on_the_host(run: Run) -> None:
    found = run("""
        from course_lib.virtual_cuda.tensorflow import kernels
        kernels._build_knows_gpus = lambda: False
        kernels.has_gpu_kernel.cache_clear()
        text, data = tf.constant("a"), tf.data.Dataset.range(4).batch(2)
        stacked, product = tf.stack([text, text]), tf.matmul([[1.0]], [[2.0]])
        found["places"] = [placement(t) for t in (stacked, next(iter(data)), product)]
        found["kernels"] = [kernels.has_gpu_kernel(op, types) for op, types in (
            ("Pack", (("T", tf.string.as_datatype_enum),)), ("Pack", (("T", tf.float32.as_datatype_enum),)),
            ("RangeDataset", ()))]
    """)
    assert found["places"] == ["CPU:0", "CPU:0", "GPU:0"] and found["kernels"] == [False, True, False]


UNKNOWN = """
import re
x = tf.ones([2])
with tf.device("/{kind}:7"):
    found["soft"] = float(tf.reduce_sum(x + 1))
tf.config.set_soft_device_placement(False)
def essence(act):
    return re.sub(r"All available devices.*|(?<=__inference_)\\w+", "", words(act))
@tf.function
def inside(x):
    with tf.device("/{kind}:7"):
        return x + 1
with tf.device("/{kind}:7"):
    found["op"] = essence(lambda: x + 1)
    found["variable"] = essence(lambda: tf.Variable([1.0]))
found["function"] = essence(lambda: inside(x))
"""


@pytest.mark.parametrize("kind", ["GPU", "CPU"])
def test_an_unknown_device_fails_as_tensorflow_fails(run: Run, kind: str) -> None:
    program = UNKNOWN.replace("{kind}", kind)
    virtual, plain = run(program), run(program, PLAIN)
    assert "Could not satisfy device specification" in plain["op"]
    for what in ("soft", "op", "variable", "function"):
        assert virtual[what] == plain[what], what


def test_what_no_gpu_can_run_is_refused_only_without_soft_placement(run: Run) -> None:
    found = run("""
        text = tf.constant("a")
        with tf.device("/GPU:0"):
            found["soft"] = placement(tf.strings.join([text, text]))
            tf.config.set_soft_device_placement(False)
            found["hard"] = words(lambda: tf.strings.join([text, text]))
    """)
    assert found["soft"] == "CPU:0"
    assert "Could not satisfy device specification '/job:localhost/replica:0/task:0/device:GPU:0'" in found["hard"]
    assert "device:GPU:1]" in found["hard"], "the message lists the devices in the program's words"


NUMBERS = """
import keras
random = np.random.RandomState(0)
features, targets = random.rand(16, 8).astype("f"), random.rand(16, 2).astype("f")
images, series = random.rand(8, 3, 8, 8).astype("f"), random.rand(8, 5, 3).astype("f")

def losses(layers, optimizer, x, y, **settings):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input(x.shape[1:]), *layers()])
    model.compile(optimizer, "mse", **settings)
    history = model.fit(x, y, epochs=2, batch_size=8, verbose=0).history["loss"]
    where = sorted({placement(v) for v in [*model.weights, *model.optimizer.variables]})
    return [loss.hex() for loss in history], where

L = keras.layers
def dense():
    return [L.Dense(16, activation="relu"), L.BatchNormalization(), L.Dropout(0.3), L.Dense(2)]
def recurrent():
    return [L.LSTM(4, return_sequences=True), L.GRU(4), L.Dense(2)]
def convolution():
    return [L.Conv2D(4, 3, data_format="channels_first"), L.MaxPooling2D(data_format="channels_first"), L.Flatten(),
            L.Dense(2)]

found["fit"] = losses(dense, "adam", features, targets)
with tf.device("/GPU:1"):
    found["fit under a device"] = losses(dense, "sgd", features, targets)
found["fit eagerly"] = losses(dense, "sgd", features, targets, run_eagerly=True)
found["recurrent"] = losses(recurrent, "adam", series, targets[:8])
found["convolution"] = losses(convolution, "sgd", images, targets[:8])

tf.random.set_seed(3)
w = tf.Variable(tf.random.normal([8, 2]))
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        with tf.device("/GPU:1"):
            hidden = tf.tanh(x @ w)
        i = tf.constant(0)
        while i < 2:
            hidden *= 1.5
            i += 1
        loss = tf.reduce_mean(tf.cond(tf.reduce_sum(hidden) > 0, lambda: hidden - y, lambda: hidden + y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss
found["own loop"] = [float(step(features, targets)).hex() for _ in range(3)]
host = tf.py_function(lambda t: t + 1, [w], tf.float32)
found["host functions"] = float(tf.reduce_sum(tf.numpy_function(np.cumsum, [host], tf.float32))).hex()
found["generator"] = float(tf.random.Generator.from_seed(1).normal([])).hex()
found["compiled"] = float(tf.reduce_sum(tf.function(tf.sin, jit_compile=True)(w))).hex()
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        cube = tf.reduce_sum(w**3)
    slope = inner.gradient(cube, w)
found["second derivative"] = float(tf.reduce_sum(outer.gradient(slope, w))).hex()
"""


def test_training_gives_the_numbers_of_the_plain_cpu(run: Run) -> None:
    virtual, plain = run(NUMBERS), run(NUMBERS, PLAIN)
    for kind in ("fit", "fit under a device", "fit eagerly", "recurrent", "convolution"):
        (numbers, where), (expected, _) = virtual.pop(kind), plain.pop(kind)
        assert numbers == expected, kind
        assert where == (["GPU:1"] if "under" in kind else ["GPU:0"]), kind
    virtual.pop("printed"), plain.pop("printed")
    assert virtual == plain


UNDER_A_STRATEGY = """
import keras
random = np.random.RandomState(0)
x, y = random.rand(32, 8).astype("f"), random.rand(32, 2).astype("f")
keras.utils.set_random_seed(1)
strategy = STRATEGY
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    own = tf.Variable([1.0, 2.0])
found["losses"] = model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"]
found["weights"] = [w.tolist() for w in model.get_weights()]
found["where"] = placement(model.weights[0]), placement(own)
"""


@pytest.mark.exhaustive
def test_a_strategy_trains_as_one_device_does(run: Run) -> None:
    import numpy as np

    plain = run(UNDER_A_STRATEGY.replace("STRATEGY", 'tf.distribute.OneDeviceStrategy("/cpu:0")'), PLAIN)
    for strategy, where in (
        ("tf.distribute.MirroredStrategy()", "GPU:0,GPU:1"),
        ('tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])', "GPU:0,GPU:1"),
        ('tf.distribute.OneDeviceStrategy("/gpu:1")', "GPU:1"),
    ):
        virtual = run(UNDER_A_STRATEGY.replace("STRATEGY", strategy))
        assert virtual["where"] == [where, where]
        # Halves of a batch are summed in another order.
        np.testing.assert_allclose(virtual["losses"], plain["losses"], rtol=1e-6)
        for ours, theirs in zip(virtual["weights"], plain["weights"], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_each_replica_works_on_its_own_gpu(run: Run) -> None:
    found = run("""
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])
        data = tf.data.Dataset.from_tensor_slices(np.ones((8, 2), "f")).batch(4)
        data = strategy.experimental_distribute_dataset(data)
        @tf.function
        def step(batch):
            def one(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(v * x)
                context = tf.distribute.get_replica_context()
                v.assign_sub(0.1 * context.all_reduce("mean", tape.gradient(loss, v)))
                return loss
            return strategy.reduce("sum", strategy.run(one, args=(batch,)), axis=None)
        batch = next(iter(data))
        found["parts"] = [placement(part) for part in strategy.experimental_local_results(batch)]
        found["losses"] = [float(step(batch)) for batch in data]
        found["copies"] = [part.numpy().tolist() for part in v.values]
        found["devices"] = [part.device[-5:] for part in v.values]
        found["replicas"] = strategy.num_replicas_in_sync
    """)
    assert found["replicas"] == 2
    assert found["parts"] == found["devices"] == ["GPU:0", "GPU:1"]
    # Each replica's two rows give a gradient of 2; one step takes 0.2 from each weight.
    assert found["losses"] == pytest.approx([12.0, 10.4])
    assert found["copies"][0] == found["copies"][1] == pytest.approx([0.6, 1.6])


GRAPH = """
tf1, found["losses"] = tf.compat.v1, []
with tf1.Graph().as_default() as graph:
    with tf1.device("/gpu:0"):
        a = tf1.constant([1.0, 2.0], name="a")
        v = tf1.get_variable("v", [2], initializer=tf1.ones_initializer())
    with tf1.device("/device:GPU:1"):
        b = a * v
    with tf1.device(lambda op: "/gpu:1" if op.type == "MatMul" else "/cpu:0"):
        c = tf1.matmul([[1.0]], [[2.0]])
    loss = tf1.reduce_sum(b * b)
    train = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    found["nodes"] = [node.device for node in (a, v, b, c, c.op.inputs[0], loss, b.op)]
    found["exported"] = sorted({node.device for node in graph.as_graph_def().node})
    found["definition"] = b.op.node_def.device
    # Soft placement, so that the same program runs where there is no GPU.
    with tf1.Session(config=tf1.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(3):
            session.run(train)
            found["losses"].append(float(session.run(loss)).hex())
with tf1.Graph().as_default():
    back = tf1.import_graph_def(graph.as_graph_def(), return_elements=["a:0"], name="")[0]
    with tf1.Session(config=tf1.ConfigProto(allow_soft_placement=True)) as session:
        found["imported"] = session.run(back).tolist(), back.device
"""


def test_graphs_and_sessions_know_the_gpus(run: Run) -> None:
    virtual, plain = run(GRAPH), run(GRAPH, PLAIN)
    gpu0, gpu1, host = "/device:GPU:0", "/device:GPU:1", "/device:CPU:0"
    assert virtual["losses"] == plain["losses"]
    assert virtual["nodes"] == [gpu0, gpu0, gpu1, gpu1, host, "", gpu1] and virtual["definition"] == gpu1
    assert virtual["exported"] == ["", host, gpu0, gpu1] and virtual["imported"] == [[1.0, 2.0], gpu0]


def test_a_session_without_soft_placement_finds_the_gpus_it_has_and_no_others(run: Run) -> None:
    found = run("""
        tf1 = tf.compat.v1
        def outcome(device, config=None):
            with tf1.Graph().as_default():
                with tf1.device(device):
                    total = tf1.constant([1.0]) + 1
                with tf1.Session(config=config) as session:
                    found["devices"] = [(d.name[-5:], d.device_type) for d in session.list_devices()]
                    try:
                        return session.run(total).tolist()
                    except tf.errors.InvalidArgumentError as error:
                        return str(error)
        found["hidden"] = outcome("/gpu:0", tf1.ConfigProto(device_count={"GPU": 0}))
        found["there"] = outcome("/gpu:1")
        found["unknown"] = outcome("/gpu:7")
        found["soft"] = outcome("/gpu:7", tf1.ConfigProto(allow_soft_placement=True))
    """)
    assert found["devices"] == [["CPU:0", "CPU"], ["GPU:0", "GPU"], ["GPU:1", "GPU"]]
    assert found["there"] == found["soft"] == [2.0]
    assert "explicitly assigned to /device:GPU:7 but available devices are" in found["unknown"]
    assert "explicitly assigned to /device:GPU:0 but available devices are" in found["hidden"]


def test_functions_and_saved_models_carry_the_programs_names(run: Run) -> None:
    found = run("""
        import tempfile
        class Module(tf.Module):
            def __init__(self):
                self.v = tf.Variable(3.0)
            @tf.function(input_signature=[tf.TensorSpec([2])])
            def __call__(self, x):
                with tf.device("/GPU:1"):
                    y = x * self.v
                with tf.device("/CPU:0"):
                    return tf.reduce_sum(y)
        module, x = Module(), tf.constant([1.0, 2.0])
        operations = module.__call__.get_concrete_function().graph.get_operations()
        found["nodes"] = {op.type: op.device for op in operations if op.type in ("Mul", "Sum")}
        folder = tempfile.mkdtemp()
        tf.saved_model.save(module, folder)
        bytes_ = open(folder + "/saved_model.pb", "rb").read()
        found["saved"] = b"GPU:1" in bytes_, b"CPU:1" in bytes_ or b"CPU:2" in bytes_
        found["sums"] = float(module(x)), float(tf.saved_model.load(folder)(x))
        checkpoint = tf.train.Checkpoint(module=module)
        path = checkpoint.save(folder + "/checkpoint")
        module.v.assign(0.0)
        checkpoint.restore(path)
        found["restored"] = float(module.v), placement(module.v)
    """)
    assert found["nodes"] == {"Mul": "/device:GPU:1", "Sum": "/device:CPU:0"} and found["saved"] == [True, False]
    assert found["sums"] == [9.0, 9.0] and found["restored"] == [3.0, "GPU:0"]


def test_the_log_has_each_device_line_its_operations_and_variables(run: Run) -> None:
    found = run("""
        x = tf.ones([2, 2])
        for _ in range(3):
            with tf.device("/GPU:1"):  # the loop's line
                y = tf.matmul(x, x)
        with tf.device("/GPU:0"):
            v = tf.Variable(x, name="weights")
            v.assign_add(x)
        @tf.function
        def double(t):
            with tf.device("/GPU:1"):  # the function's line
                return 2 * t
        double(x), double(x)
        found["records"] = log.records()
        found["matmul"] = log.ops["MatMul", "GPU:1"], log.ops_on("GPU:1")["MatMul"], log.ops_on("GPU:0")["MatMul"]
        found["calls"] = log.ops["double", "GPU:0"]
        found["variables"] = [[r.name, r.shape, r.dtype, r.device] for r in log.variables]
        found["on GPU:1"] = len(log.variables_on("GPU:1"))
        found["text"] = str(log)
        before = len(log.scopes), len(log.ops), len(log.nodes), len(log.variables)
        for _ in range(2000):
            with tf.device("/GPU:1"):
                y = double(y * 0.1)
                v.assign_add(y)
        found["grown"] = [now - then for now, then in zip(
            (len(log.scopes), len(log.ops), len(log.nodes), len(log.variables)), before)]
    """)
    loop, store, function = found["records"]
    lines = (ON + "").count("\n")
    assert loop["device"] == function["device"] == "GPU:1" and store["device"] == "GPU:0"
    assert [int(r["site"].rsplit(":", 1)[1]) - lines for r in (loop, store, function)] == [4, 6, 11]
    assert all(r["site"].rsplit(":", 1)[0].endswith("program.py") for r in found["records"])
    assert loop["entries"] == 3 and loop["ops"] == {"MatMul on GPU:1": 3}
    assert function["entries"] == 1 and function["nodes"]["Mul on GPU:1"] == 1, "traced once, however often called"
    assert found["matmul"] == [3, 3, 0]
    assert found["calls"] == 2
    assert found["variables"] == [["weights:0", [2, 2], "float32", "GPU:0"]] and found["on GPU:1"] == 0
    assert "3 x MatMul ran on GPU:1" in found["text"]
    scopes, ops, nodes, variables = found["grown"]
    assert scopes == 1 and ops <= 4 and nodes <= 4 and variables == 0


def test_placements_are_printed_on_request(run: Run) -> None:
    found = run("""
        tf.debugging.set_log_device_placement(True)
        found["asked"] = tf.debugging.get_log_device_placement()
        with tf.device("/GPU:1"):
            tf.matmul([[1.0]], [[2.0]])
        tf.debugging.set_log_device_placement(False)
        tf.matmul([[1.0]], [[2.0]])
    """)
    assert found["asked"] is True
    assert found["printed"].count("Executing op MatMul in device /job:localhost/replica:0/task:0/device:GPU:1") == 1
    assert found["printed"].count("Executing op MatMul") == 1


def test_memory_is_that_of_living_tensors_and_variables(run: Run) -> None:
    found = run("""
        info = tf.config.experimental.get_memory_info
        start = info("GPU:1")["current"]
        with tf.device("/GPU:1"):
            big = tf.zeros([1000, 1000])
            v = tf.Variable(big)
        found["held"] = info("GPU:1")["current"] - start
        del big
        found["freed"] = info("/device:GPU:1")["current"] - start
        found["peak"] = info("GPU:1")["peak"] - start
        tf.config.experimental.reset_memory_stats("GPU:1")
        found["reset"] = info("GPU:1")["peak"] - start
        found["errors"] = [words(lambda: info(name)) for name in ("GPU:5", "nonsense")]
    """)
    size = -(-4_000_000 // 256) * 256
    assert found["held"] == 2 * size and found["freed"] == size
    assert found["peak"] >= 2 * size and found["reset"] == size
    # TensorFlow's own words, which the runtime says itself.
    missing, nonsense = found["errors"]
    assert missing.startswith("ValueError: No matching devices found for") and "nonsense" in nonsense


def test_gpus_can_be_hidden_and_split_before_the_runtime_starts(run: Run) -> None:
    found = run("""
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices(gpus[1], "GPU")
        part = tf.config.LogicalDeviceConfiguration
        found["no limit"] = words(lambda: tf.config.set_logical_device_configuration(gpus[1], [part()]))
        tf.config.set_logical_device_configuration(gpus[1], [part(memory_limit=1024)] * 3)
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [part(), part()])
        found["logical"] = [d.name for d in tf.config.list_logical_devices()]
        with tf.device("/GPU:2"):
            found["third"] = placement(tf.ones([1]))
        with tf.device("/CPU:1"):
            found["second CPU"] = placement(tf.ones([1]))
        found["late"] = [words(act) for act in (
            lambda: tf.config.set_visible_devices([], "GPU"),
            lambda: tf.config.set_logical_device_configuration(gpus[1], [part(memory_limit=1)]),
            lambda: tf.config.experimental.set_memory_growth(gpus[0], True),
            lambda: tf.config.experimental.set_memory_growth(gpus[1], True),
        )]
    """)
    assert found["logical"] == [f"/device:{name}" for name in ("CPU:0", "CPU:1", "GPU:0", "GPU:1", "GPU:2")]
    assert found["third"] == "GPU:2" and found["second CPU"] == "CPU:1"
    # TensorFlow's own words, from `Context`.
    assert found["no limit"] == "ValueError: Setting memory limit is required for GPU virtual devices"
    assert found["late"] == [
        "RuntimeError: Visible devices cannot be modified after being initialized",
        "RuntimeError: Virtual devices cannot be modified after being initialized",
        "RuntimeError: Physical devices cannot be modified after being initialized",
        "ValueError: Cannot set memory growth on device when virtual devices configured",
    ]


def test_a_program_that_hides_all_gpus_runs_on_the_host(run: Run) -> None:
    found = run("""
        tf.config.set_visible_devices([], "GPU")
        found["logical"] = [d.name for d in tf.config.list_logical_devices()]
        with tf.device("/GPU:0"):
            found["where"] = placement(tf.ones([1]) + 1)
    """)
    assert found["logical"] == ["/device:CPU:0"] and found["where"] == "CPU:0"


def test_too_late_is_said_with_the_next_step(run: Run) -> None:
    found = run(
        """
        from course_lib.virtual_cuda import tensorflow as virtual_gpus
        from tensorflow.python.eager import context
        tf.ones([1])
        before = dict(vars(context.Context))
        found["late"] = words(lambda: virtual_gpus.enable(2))
        found["off"] = virtual_gpus.is_enabled(), dict(vars(context.Context)) == before
        """,
        prelude="",
    )
    assert "has started with 1 logical CPU, and 3 are needed for 2 virtual GPUs" in found["late"]
    assert "restart the kernel" in found["late"]
    assert found["off"] == [False, True]


def test_a_started_runtime_with_enough_logical_cpus_will_do(run: Run) -> None:
    found = run(
        """
        from course_lib.virtual_cuda import tensorflow as virtual_gpus
        part = tf.config.LogicalDeviceConfiguration()
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [part] * 3)
        tf.ones([1])
        with virtual_gpus.session(1, quiet=True), tf.device("/GPU:0"):
            found["logical"] = [d.name for d in tf.config.list_logical_devices()]
            found["where"] = virtual_gpus.placement(tf.ones([1]))
        """,
        prelude="",
    )
    assert found["logical"] == ["/device:CPU:0", "/device:CPU:1", "/device:GPU:0"] and found["where"] == "GPU:0"


def test_off_leaves_no_trace_but_the_logical_cpus(run: Run) -> None:
    found = run(
        """
        import sys
        from course_lib.virtual_cuda import tensorflow as virtual_gpus
        def everything():
            ours = ("tensorflow.python", "keras.src")
            modules = [m for name, m in list(sys.modules.items()) if name.startswith(ours)]
            owners = {id(m): m for m in modules}
            for module in modules:
                owners |= {id(c): c for c in vars(module).values() if isinstance(c, type)}
            return {(i, name): id(value) for i, owner in owners.items() for name, value in vars(owner).items()
                    if callable(value) or isinstance(value, property)}, owners
        with virtual_gpus.session(2, quiet=True):
            pass
        found["before the start"] = [d.name for d in tf.config.list_logical_devices.__globals__["context"].context(
            ).get_logical_device_configuration(tf.config.list_physical_devices("CPU")[0]) or []]
        before, keep = everything()
        with virtual_gpus.session(2, quiet=True):
            with virtual_gpus.session(1, quiet=True):
                x = tf.ones([2])
            found["nested"] = len(tf.config.list_physical_devices("GPU"))
            try:
                with tf.device("/GPU:1"):
                    raise KeyError
            except KeyError:
                pass
            y = x + 1
            @tf.function
            def double(t):
                with tf.device("/GPU:1"):
                    return 2 * t
            double(x)
        after, _ = everything()
        found["changed"] = [(str(keep[i])[:80], name) for (i, name), value in before.items()
                            if after.get((i, name)) != value]
        found["left"] = [d.name for d in tf.config.list_logical_devices()], tf.config.list_physical_devices("GPU")
        found["values"] = y.numpy().tolist(), double(x).numpy().tolist(), y.device[-5:]
        """,
        prelude="",
    )
    assert found["before the start"] == found["changed"] == [] and found["nested"] == 2
    assert found["left"] == [["/device:CPU:0", "/device:CPU:1", "/device:CPU:2"], []]
    assert found["values"] == [[2.0, 2.0], [2.0, 2.0], "CPU:1"]


def test_threads_keep_their_own_devices(run: Run) -> None:
    found = run("""
        import threading
        x, seen = tf.ones([2]), {}
        def work(i):
            with tf.device(f"/GPU:{i}"):
                for _ in range(200):
                    seen.setdefault(i, set()).add(placement(x + 1))
            seen.setdefault("outside", set()).add(placement(x + 1))
        threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
        [t.start() for t in threads], [t.join() for t in threads]
        found["seen"] = {str(key): sorted(value) for key, value in seen.items()}
        found["counted"] = [sum(s.ops.values()) for s in log.scopes.values()]
    """)
    assert found["seen"] == {"0": ["GPU:0"], "1": ["GPU:1"], "outside": ["GPU:0"]}
    assert all(counted >= 200 for counted in found["counted"])


REAL = """
from course_lib.virtual_cuda import tensorflow as virtual_gpus
from tensorflow.python.eager import context
own = context.Context.list_physical_devices
real = context.PhysicalDevice("/physical_device:GPU:0", "GPU")
def with_a_gpu(ctx, kind=None):
    return own(ctx, kind) + ([real] if kind in (None, "GPU") else [])
context.Context.list_physical_devices = with_a_gpu
"""


def test_with_a_real_gpu_it_only_watches(run: Run) -> None:
    found = run(
        """
        log = virtual_gpus.enable(2)
        found["physical"] = [d.name for d in tf.config.list_physical_devices("GPU")]
        with tf.device("/GPU:0"):
            x = tf.ones([2]) + 1
        found["tensor"] = type(vars(tf.ones([1]).__class__)["device"]).__name__
        found["scopes"] = [(s.device, s.entries, sum(s.ops.values()) > 0) for s in log.scopes.values()]
        virtual_gpus.disable()
        """,
        prelude=REAL,
    )
    assert found["physical"] == ["/physical_device:GPU:0"]
    assert found["tensor"] == "getset_descriptor", "the tensor's own answer is not replaced"
    assert found["scopes"] == [["GPU:0", 1, True]]
    assert "There is a real GPU" in found["printed"]


def test_a_real_gpu_is_hidden_if_virtual_ones_are_forced(run: Run) -> None:
    found = run(
        """
        own_visible = context.Context.set_visible_devices
        hidden = []
        from course_lib.virtual_cuda.tensorflow import config
        config._set_visible = lambda ctx, devices, kind=None: hidden.append((devices, kind))
        virtual_gpus.enable(2, force=True)
        found["hidden"] = hidden
        found["physical"] = [d.name for d in tf.config.list_physical_devices("GPU")]
        with tf.device("/GPU:1"):
            found["where"] = virtual_gpus.placement(tf.ones([2]))
        """,
        prelude=REAL,
    )
    assert found["hidden"] == [[[], "GPU"]]
    assert found["physical"] == ["/physical_device:GPU:0", "/physical_device:GPU:1"]
    assert found["where"] == "GPU:1"


def test_placement_knows_what_is_not_tensorflows(run: Run) -> None:
    found = run("""
        import keras
        with tf.device("/GPU:1"):
            variable = keras.Variable([1.0])
        with tf.Graph().as_default():
            node = tf.constant(1.0)
        found["places"] = [placement(value) for value in (np.ones(2), 3.0, None, {"a": 1}, variable, node)]
    """)
    assert found["places"] == ["CPU:0", "CPU:0", "CPU:0", "CPU:0", "GPU:1", ""]
