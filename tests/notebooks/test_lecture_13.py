"""Lecture 13 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. Times are only looked at as times: nothing here asks how long they are.
The exercises are solved here, rightly and wrongly, and their checks watched.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/13_static_and_dynamic_graphs.ipynb"], indirect=True)

FACTS = {
    # 1 One network
    "It keeps 32 numbers in mind, `h`. Each row of 8 pixels changes them. At the end they give the scores of the 10"
    " classes.": (
        "(reader.look.in_features, reader.look.out_features, reader.keep.weight.shape[0], reader.name.out_features)"
        " == (8, 32, 32, 10)"
    ),
    "`x` has the shape (images, rows, 8).": "tuple(X_test.shape[1:]) == (8, 8)",
    "We train with the first 4 to 8 rows": "set(torch.randint(4, 9, (999,)).tolist()) == {4, 5, 6, 7, 8}",
    "How many rows does it need to be right more often than wrong: 2, 4 or 8?": (
        "max(shares[:2]) < 0.5 < min(shares[3:])"
    ),
    "Four are enough for that, the upper half of the digit. With fewer it mostly fails": (
        "shares[3] > 0.55 and max(shares[:3]) < 0.2"
    ),
    "training never stopped before the fourth row. One program treated eight lengths of input.": (
        "len(shares) == 8 and min(torch.randint(4, 9, (999,)).tolist()) == 4"
    ),
    "kernels as (in, out), so a row is multiplied from the left": (
        "tuple(weights['0.kernel'].shape) == (8, 32) and tuple(reader.look.weight.shape) == (32, 8)"
    ),
    "Equal up to rounding: the difference is a small part of what float32 may differ by.": (
        "parity.compare({'a': reader(x), 'b': tf_read(x.numpy())}).worst.share < 0.3"
    ),
    "Both use float32": "reader(x).dtype == torch.float32 and tf_read(x.numpy()).dtype == tf.float32",
    # 2 tf.function
    "Python's mark appears once, TensorFlow's three times, each with its number.": (
        "marks_of_doubled() == [1, 3] and '1' in (folder / 'seen.txt').read_text().splitlines()[0]"
    ),
    "What does the third line print: 20 or 30?": "stale_factor() == [20, 20, 30.0]",
    "20, 20, 30. The graph holds the 2 as a constant, and nobody asks Python again.": (
        "stale_factor() == [20, 20, 30.0]"
    ),
    "Now the same function multiplies by 2 or by 3, depending on the dtype.": (
        "(scaled(tf.constant(1)).numpy(), scaled(tf.constant(1.0)).numpy()) == (2, 3.0)"
    ),
    "Each new *Python number* makes a trace: it is treated as part of the program.": (
        "new_traces([1, 2, 1]) == [1, 1, 0]"
    ),
    "A tensor makes one for each new dtype and shape, whatever its content. NumPy arrays count as tensors.": (
        "new_traces([tf.constant(1), tf.constant(2), tf.constant([1]), tf.constant([1, 2]), np.ones(2), np.zeros(2)])"
        " == [1, 0, 1, 1, 1, 0]"
    ),
    "It has 8 `Tanh`: the loop is gone": (
        "sum(op.type == 'Tanh' for op in graph.get_operations()) == 8"
        " and not any('While' in op.type for op in graph.get_operations())"
    ),
    "An image with 5 rows needs another graph.": "traces_for_rows(tf.function(tf_read), [8, 5, 8]) == [1, 2, 2]",
    "With it, there is one trace for ever.": (
        "traces_for_rows(tf.function(tf_read_any, input_signature=OPEN), [8, 5, 1]) == [1, 1, 1]"
    ),
    "The message is about `range(None)`": (
        "'NoneType' in raised(lambda: tf.function(tf_read, input_signature=OPEN)(x.numpy()))"
    ),
    "The loop is now one operation, `While`. Its body is a graph of its own, which is where the `Tanh` went.": (
        "count(read_any.get_concrete_function().graph, 'Tanh', 'While') == {'Tanh': 0, 'While': 1}"
        " and tanh_inside() > 0"
    ),
    "Count the nodes of both graphs for 2, 4, ... 32 rows.": "lengths == [2, 4, 8, 16, 32]",
    "The unrolled graph grows in a straight line. The loop's graph keeps its size, bodies included.": (
        "straight_and_level()"
    ),
    "From 4 rows on, it is the smaller one.": (
        "[a > b for a, b in zip(*sizes_of_graphs.values())] == [False, True, True, True, True]"
        " and nodes(tf_read, 3) <= nodes(tf_read_any, 3)"
    ),
    "You train with `tf.function`, batches of 32, and 1500 images. The last batch has 28 images. How many traces are"
    " there in ten epochs?": "len(X) == 1500 and 1500 % 32 == 28 and traces_of_ten_epochs() == 2",
    "28 images have another shape than 32. With `input_signature` and an open batch size it would be 1.": (
        "traces_of_ten_epochs(OPEN) == 1"
    ),
    "One for 32 images, one for 28.": "traces_of_ten_epochs() == 2",
    "C · 470, one for each batch": "10 * -(-1500 // 32) == 470",
    # 3 Data decides
    "Some images are named after half the rows, others are read to the end.": (
        "min(needed) <= 4 and needed.count(8) > 5"
    ),
    "Where it stops after two or three rows it is sure, but seldom right: it was not trained on so few.": (
        "max(shares[1:3]) < 0.5 and right_where_it_stops_early() < 0.5 and min(needed) < 4"
    ),
    "A symbol cannot answer.": (
        "'OperatorNotAllowedInGraphError' in"
        " raised(lambda: tf.function(tf_until_sure, autograph=False)(x[:1].numpy(), 0.9))"
    ),
    "One graph, all lengths of reading.": (
        "in_graph == needed and static_sure.experimental_get_tracing_count() == 1 and len(set(needed)) > 2"
    ),
    "the body of your loop became a function": "'def loop_body' in tf.autograph.to_code(tf_until_sure)",
    "there is one graph for True and one for False": "traces_of_a_flag() == 2",
    # 4 torch.compile
    "Three calls, one graph, unrolled for two rows: two `linear` for each row, and one for the scores.": (
        "graphs_for(reader, [x[:, :2]] * 3) == [1, 1, 1]"
        " and sum(node.name.startswith('linear') for node in caught[0]) == 2 * 2 + 1"
    ),
    "Rows: a graph for each length, since the loop is unrolled.": (
        "graphs_for(reader, [x[:, :rows] for rows in (8, 8, 5, 3, 8, 5)]) == [1, 1, 2, 3, 3, 3]"
    ),
    "Images: the second size makes a second graph, and in that one the size is *open*. It serves 4, 3 and 2.": (
        "graphs_for(reader, [x[:images] for images in (5, 4, 3, 2)]) == [1, 2, 2, 2]"
    ),
    "One image is special. A size of 1 (and 0) is always compiled for itself": (
        "graphs_for(reader, [x[:images] for images in (5, 4, 1)]) == [1, 2, 3]"
        " and graphs_for(reader, [x[:images] for images in (5, 4, 0)]) == [1, 2, 3]"
    ),
    "`tf.function` would make five traces here.": (
        "traces_for_rows(tf.function(lambda b: tf_read(tf.transpose(b, [1, 0, 2]))), [5, 4, 3, 2, 1])[-1] == 5"
    ),
    "24 batches of random size, 1 to 16 images with 4 rows": (
        "len(batches) == 24 and all(1 <= len(b) <= 16 and b.shape[1] == 4 for b in batches)"
    ),
    "`tf.function` ends at 11, one graph for each size that came. The signature stays at 1": (
        "built['tf.function'][-1] == len({len(b) for b in batches}) == 11 and set(built['with input_signature']) == {1}"
    ),
    "`torch.compile` learns after the second size": (
        "built['torch.compile'][-1] == 3 and min(len(b) for b in batches) == 1"
    ),
    "and stops at 8. Not because it has seen all sizes: 8 is the limit.": (
        "built['torch.compile, dynamic=False'][-1] == 8 == torch._dynamo.config.recompile_limit"
        " and len({len(b) for b in batches}) > 8"
    ),
    "Five, as in plain Python, from a single graph.": "calls_and_graphs() == [5, 1]",
    "A number read from outside becomes a guard.": "number_from_outside() == [2.0, 5.0]",
    "Seven. There are six questions to the data, one before each row and a last one, and each breaks the graph.": (
        "(explained.graph_break_count, explained.graph_count, until_sure(five)[1]) == (6, 7, 5)"
    ),
    "The result is right.": (
        "torch.allclose(compiled(until_sure)(five)[0], until_sure(five)[0], atol=1e-6) and in_torch == needed"
    ),
    "Other things that break a graph: `.item()`, `print` in the middle": "breaks() == [1, 1]",
    "Further down the message names a way out, `torch.cond`.": (
        "'torch.cond' in raised(lambda: compiled(until_sure, fullgraph=True)(x[:1]))"
    ),
    "`aot_eager` captures the same graph and runs it operation by operation": "runs_with('aot_eager')",
    # 5 torch.export
    "no module, no loop, no Python. The `?` of `x` is the open number of images; `sym_size` asks for it.": (
        "all(str(n.target).startswith('aten.') for n in program.graph.nodes if n.op == 'call_function')"
        " and not isinstance([n for n in program.graph.nodes if n.name == 'x'][0].meta['val'].shape[0], int)"
    ),
    "Two rows: two `tanh`.": "sum('tanh' in str(n.target) for n in program.graph.nodes) == 2",
    "Any number of images, but two rows. The program checks, and says what it wants.": (
        "'size()[1] == 2' in raised(lambda: loaded(X_test[:3, :5])) and loaded(X_test[:9, :2]).shape == (9, 10)"
    ),
    "your code has made it a constant, 8, by unrolling": (
        "'constant (8)' in raised(lambda: torch.export.export(reader, (x,), dynamic_shapes=both_open))"
    ),
    "`u0`, or the like, is a number that only the data knows.": (
        "'data-dependent' in quietly(lambda: torch.export.export(until_sure, (x[:1],)))"
    ),
    "`torch.while_loop(go_on, body, state)` is one operation.": (
        "sum('while_loop' in str(n.target) for n in hasty.graph.nodes if n.op == 'call_function') == 1"
    ),
    "With `enough=2`, which no probability reaches, it reads all rows.": (
        "[int(patient_module(x[:, :rows])[1]) for rows in (8, 5, 2)] == [8, 5, 2]"
    ),
    "For several images it reads on until it is sure of all (`min`).": (
        "all(int(hasty_module(part)[1]) == first_row_sure_of_all(part) for part in X_test[:40].split(2))"
    ),
    "None: the only `tanh` is inside the loop's body": (
        "[sum('tanh' in str(n.target) for n in g.graph.nodes) for g in (hasty, patient)] == [0, 0]"
        " and any('tanh' in str(n.target) for part in patient.graph_module.children() for n in part.graph.nodes)"
    ),
    "One program, any number of images and rows, and a loop that the data ends.": (
        "rows_read == needed and all(bool(parity.compare({'a': reader(X_test[:n, :r]),"
        " 'b': patient_module(X_test[:n, :r])[0]})) for n, r in ((9, 7), (4, 3)))"
    ),
    "A `print` runs at export, then never again": "prints_at_export() == [1, 0]",
    "Both still run, and both say that they are deprecated.": "deprecated_says() == [True, True]",
    "`script` compiled a part of Python from its source: it kept loops.": "script_keeps_loops()",
    "It stops after five rows, for ever": (
        "torch.allclose(frozen(longest), reader(longest[:, :5]), atol=1e-5)"
        " and not torch.allclose(frozen(longest), reader(longest), atol=1e-2) and until_sure(longest)[1] == 8"
    ),
    # 6 ONNX
    "Two ways, and the same heart: a `Loop`.": (
        "[sum(n.op_type == 'Loop' for n in m.graph.node) for m in (from_torch, from_tf)] == [1, 1]"
    ),
    "Both files run in onnxruntime on 7 images with 6 rows, a shape that neither has seen.": "new.shape == (7, 6, 8)",
    "Four ways, one result.": "len(results) == 4 and bool(parity.compare(results))",
    "The loop that the data ends goes the same way.": "in_onnx == needed",
    "Your ONNX file gives other scores than PyTorch, by 0.3.": "parity.compare(results).worst.difference < 1e-4",
    "Rounding is a millionth of the values here. 0.3 is another computation.": (
        "parity.compare(results).worst.difference / reader(torch.from_numpy(new)).abs().max().item() < 5e-6"
    ),
    "It stores the float32 numbers bit for bit.": "same_weights_in_the_file()",
    # 7 Optimisation
    "*Dead code*: `Exp` is gone": "ops_of(before).count('Exp') == 1 and 'Exp' not in ops_of(after)",
    "*Constant folding*: `kernel * 2 + 1` is computed once and stored. The node `add` is a constant now.": (
        "[n.op for d in (before, after) for n in d.node if n.name == 'add'] == ['AddV2', 'Const']"
    ),
    "two equal products and two equal `Tanh` became one of each": (
        "[[ops_of(d).count(op) for op in ('MatMul', 'Tanh')] for d in (before, after)] == [[2, 2], [1, 1]]"
    ),
    "the product with 1.0 is gone, and `one + one` became `2 * one`": (
        "'AddV2' not in ops_of(after) and ops_of(after).count('Mul') == 1"
    ),
    "The dead line was not even exported.": "'Exp' not in [n.op_type for n in plain.graph.node]",
    "The rest is folded and shared as in TensorFlow; only `one + one` stays a sum, of `Tanh` taken twice.": (
        "[n.op_type for n in lean.graph.node] == ['MatMul', 'Tanh', 'Add'] and len(set(lean.graph.node[2].input)) == 1"
    ),
    "Two optimisers, nearly the same graph, and the same numbers": (
        "bool(parity.compare({'a': wasteful(sample_tf), 'b': concrete(sample_tf), 'c': lean_result}))"
    ),
    "In float32, (1e8 - 1e8) + 1 is 1, and 1e8 + (-1e8 + 1) is 0.": (
        "[float((np.float32(1e8) - np.float32(1e8)) + np.float32(1)),"
        " float(np.float32(1e8) + (np.float32(-1e8) + np.float32(1)))] == [1.0, 0.0]"
    ),
    # 8 Speed
    "the same weights, the same image, 8 rows, one thread, and no gradients": (
        "tuple(image.shape) == (1, 8, 8) and torch.get_num_threads() == 1 and bool(parity.compare(outputs))"
        " and tf.config.threading.get_intra_op_parallelism_threads() == 1 and options.intra_op_num_threads == 1"
        " and not reader(image).requires_grad"
    ),
    "Order the five by the time of one call.": "len(each) == 5 and all(0 < seconds < 60 for seconds in each.values())",
    "The arithmetic is tiny, 10,560 multiplications.": "8 * (8 * 32 + 32 * 32) + 32 * 10 == 10_560",
    "the way from Python to each operation, 42 times per image": "operations(reader, image) == 42",
    "One image at a time through a graph, or 1024 at once through eager code": "sizes[-1] == 1024 == len(many)",
    # 9 and exercises
    "| another shape | nothing | a new trace, or `None` | a recompilation, soon an open size |": (
        "graphs_for(reader, [x[:images] for images in (5, 4, 3)]) == [1, 2, 2]"
    ),
}

SHORTHAND = """
import contextlib


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def quietly(function):
    with redirect_stderr(io.StringIO()):
        return raised(function)


def stale_factor():
    factor = 2
    scale = tf.function(lambda x: factor * x)
    numbers = [float(scale(tf.constant(10)))]
    factor = 3
    return [*numbers, float(scale(tf.constant(10))), float(scale(tf.constant(10.0)))]


def new_traces(arguments):
    seen, counts = [], []
    function = tf.function(lambda x: seen.append(1) or 2 * x)
    for argument in arguments:
        before = len(seen)
        function(argument)
        counts.append(len(seen) - before)
    return counts


def traces_for_rows(function, numbers):
    counts = []
    for rows in numbers:
        function(X_test[:5, :rows].numpy())
        counts.append(function.experimental_get_tracing_count())
    return counts


def marks_of_doubled():
    seen, again = (folder / "seen.txt").read_text().count("TensorFlow sees"), tf.function(doubled.python_function)
    with contextlib.redirect_stdout(io.StringIO()) as python:
        for number in (1.0, 2.0, 3.0):
            again(tf.constant(number))
    return [python.getvalue().count("Python sees"), (folder / "seen.txt").read_text().count("TensorFlow sees") - seen]


def tanh_inside():
    library = read_any.get_concrete_function().graph.as_graph_def().library
    return sum(node.op == "Tanh" for part in library.function for node in part.node_def)


def straight_and_level():
    unrolled, loop = sizes_of_graphs.values()
    slopes = {(b - a) / (n - m) for m, n, a, b in zip(lengths, lengths[1:], unrolled, unrolled[1:])}
    return len(slopes) == 1 and slopes.pop() > 5 and len(set(loop)) == 1


def traces_of_ten_epochs(signature=None):
    function = tf.function(tf_read_any, input_signature=signature)
    for _ in range(10):
        for part in X[:, :1].split(32):
            function(part.numpy())
    return function.experimental_get_tracing_count()


def traces_of_a_flag():
    seen = []

    @tf.function
    def function(x, training):
        seen.append(1)
        if training:
            return x
        return 2 * x

    values = [float(function(tf.constant(1.0), flag)) for flag in (True, False, True, False)]
    return len(seen) if values == [1, 2, 1, 2] else values


def graphs_for(function, inputs):
    fast, counts = compiled(function), []
    for value in inputs:
        fast(value)
        counts.append(len(caught))
    return counts


calls_now = 0


def count_a_call(x):
    global calls_now
    calls_now += 1
    return 2 * x


def calls_and_graphs():
    global calls_now
    calls_now, fast = 0, compiled(count_a_call)
    for _ in range(5):
        fast(torch.ones(2))
    return [calls_now, len(caught)]


outside = 2.0


def times_outside(x):
    return x * outside


def number_from_outside():
    global outside
    outside, fast = 2.0, compiled(times_outside)
    results = [fast(torch.ones(1)).item()]
    outside = 5.0
    return [*results, fast(torch.ones(1)).item()]


def with_item(x):
    return x * x.sum().item()


def with_print(x):
    x = x * 2
    print("in the middle")
    return x + 1


def breaks():
    with contextlib.redirect_stdout(io.StringIO()):
        return [torch._dynamo.explain(f)(torch.ones(2)).graph_break_count for f in (with_item, with_print)]


def runs_with(back_end):
    torch.compiler.reset()
    return torch.allclose(torch.compile(reader, backend=back_end)(x), reader(x), atol=1e-6)


def first_row_sure_of_all(images):
    for rows in range(1, 8):
        if reader(images[:, :rows]).softmax(1).amax(1).min() >= 0.9:
            return rows
    return 8


def right_where_it_stops_early():
    early = [i for i, rows in enumerate(needed) if rows < 4]
    return np.mean([reader(X_test[i, : needed[i]][None]).argmax().item() == y_test[i].item() for i in early])


class Printing(nn.Module):
    def forward(self, x):
        print("seen")
        return 2 * x


def prints_at_export():
    with contextlib.redirect_stdout(io.StringIO()) as first_time:
        module = torch.export.export(Printing().eval(), (x,)).module()
    with contextlib.redirect_stdout(io.StringIO()) as later:
        module(x)
    return [first_time.getvalue().count("seen"), later.getvalue().count("seen")]


def doubled_in_torch(x):
    return 2 * x


def counting_down(x):
    while bool(x.sum() > 0):
        x = x - 1
    return x


def deprecated_says():
    said = []
    for function in (lambda: torch.jit.trace(doubled_in_torch, (x,)), lambda: torch.jit.script(doubled_in_torch)):
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            function()
        said.append(any("deprecated" in str(w.message) for w in caught_warnings))
    return said


def script_keeps_loops():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(counting_down)
    return [scripted(torch.tensor([n])).item() for n in (3.0, 0.5)] == [0.0, -0.5] and "while" in scripted.code


def same_weights_in_the_file():
    stored = [onnx.numpy_helper.to_array(t) for t in onnx.load(folder / "from_torch.onnx").graph.initializer]
    return any(np.array_equal(reader.name.weight.numpy(), array) for array in stored)


def ops_of(definition):
    return [node.op for node in definition.node]


def operations(function, argument):
    from torch.utils._python_dispatch import TorchDispatchMode

    asked = []

    class Listening(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            asked.append(operation._opname)
            return operation(*args, **(kwargs or {}))

    with Listening():
        function(argument)
    kinds = {"t": 0, "slice": 0}
    return sum(kinds.get(name, 1) for name in asked)
"""


@pytest.fixture(scope="module")
def shorthand(ran: Any) -> None:
    ran.do(SHORTHAND)


def test_every_fact_is_in_the_text(ran: Any) -> None:
    assert [sentence for sentence in FACTS if sentence not in ran.prose] == []


@pytest.mark.parametrize("sentence", FACTS)
def test_what_the_text_says_is_so(ran: Any, shorthand: None, sentence: str) -> None:
    assert ran.value(f"bool({FACTS[sentence]})") is True, sentence


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


def test_nothing_is_written_outside_a_temporary_folder(ran: Any) -> None:
    assert ran.value("sorted(p.name for p in Path.cwd().iterdir() if p.name != '.ipython')") == []


ON_PURPOSE = {
    "tf.function(tf_read, input_signature=OPEN)(x.numpy())": "'NoneType' object cannot be interpreted as",
    "autograph=False": "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool`",
    "compiled(until_sure, fullgraph=True)": "Unsupported: Data-dependent branching",
    "loaded(X_test[:3, :5])": "size()[1] == 2",
    "torch.export.export(reader, (x,), dynamic_shapes=both_open)": "your code specialized it to be a constant (8)",
    "torch.export.export(until_sure, (x[:1],))": "Could not guard on data-dependent expression",
    "frozen = torch.jit.trace": "TracerWarning: Converting a tensor to a Python boolean",
}


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_as_announced(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    cells = [cell.source for cell in ran.failing_on_purpose()]
    assert len(cells) == len(ON_PURPOSE) and all(any(part in cell for part in ON_PURPOSE) for cell in cells)


POWER = """
traces = []


@tf.function
def raise_to(x, n):
    traces.append(1)
    return x ** n


def power(x, n):
    return raise_to(x, {argument})
"""

SHARE = """
def share(graph):
    kept, seen, now = [], {{}}, {{}}
    for name, operation, inputs in graph:
        inputs = {renamed}
        key = operation, tuple({key})
        if {merge}:
            now[name] = seen[key]
        else:
            seen[key] = now[name] = name
            kept.append((name, operation, inputs))
    return {result}
"""


def _share(
    renamed: str = "[now[i] for i in inputs]",
    key: str = "inputs",
    merge: str = "operation != 'input' and key in seen",
    result: str = "kept",
) -> str:
    return SHARE.format(renamed=renamed, key=key, merge=merge, result=result)


def _whole(body: str) -> str:
    return f"def whole(x):\n{textwrap.indent(body, '    ')}"


ANSWERS = [
    (1, POWER.format(argument="tf.constant(n, tf.float32)"), "right, all 4 checks hold."),
    (1, POWER.format(argument="n"), "More than one trace"),
    (1, POWER.format(argument="float(n)"), "More than one trace"),
    (1, "traces = []\ndef power(x, n):\n    return x ** float(n)", "No trace is marked"),
    (1, "traces = []\ndef power(x, n):\n    traces.append(1)\n    return x ** float(n)", "More than one trace"),
    (1, "traces = []\ndef power(x, n):\n    return x * float(n)", "2 to the powers"),
    (2, _whole("return torch.where(x.sum() > 0, x, 0.1 * x)"), "right, all 5 checks hold."),
    (
        2,
        _whole("return torch.cond(x.sum() > 0, lambda x: 1 * x, lambda x: 0.1 * x, (x,))"),
        "right, all 5 checks hold.",
    ),
    (2, _whole("return leaky(x)"), "The graph still breaks"),
    (2, _whole("return torch.where(x > 0, x, 0.1 * x)"), "A positive sum leaves x as it is."),
    (2, _whole("return torch.where(x.sum() >= 0, x, 0.1 * x)"), "A sum of 0 is not positive."),
    (2, _whole("return x"), "The sum decides for all entries"),
    (2, _whole("torch.where(x.sum() > 0, x, 0.1 * x)"), "Return a tensor."),
    (3, _share(), "right, all 6 checks hold."),
    (3, _share(result="None"), "Is there a `return`?"),
    (3, "def share(graph):\n    return graph", "three nodes are left"),
    (3, _share(renamed="list(inputs)"), "Whoever used `b` must use `a`."),
    (3, _share(merge="key in seen"), "Two inputs are not equal"),
    (3, _share(key="sorted(inputs)"), "x - y is not y - x"),
    (3, _share(result="graph.__setitem__(slice(None), kept) or graph"), "leave the given one as it was"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


FIGURES = (
    "share of the test images against rows read",
    "nodes in the graph against rows",
    "graphs built so far against batches seen",
    "Exported PyTorch program of",
    "TensorFlow graph of 14 nodes",
    "TensorFlow graph of 6 nodes",
    "ONNX graph of 5 nodes",
    "microseconds per call, best of 200",
    "seconds in all against calls",
    "microseconds per image against images in a batch",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
