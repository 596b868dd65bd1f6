"""Checks for the lecture on static and dynamic graphs, and the solutions with which it continues.

Each check names the first mistake that it finds. The solutions are those that are folded in the lecture, word for word.
torch and TensorFlow are imported by the checks that need them, not with this module. The solutions know them by
the names `torch` and `tf`, as in the lecture, so `_import_frameworks` makes these names global here. `check_tf_read`
does the same with the lecture's `tf_step` and `tf_logits`.
"""
# The solutions stand here as the reader sees them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, no-warn-return-any

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from course_lib import data, frameworks
from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

if TYPE_CHECKING:
    import tensorflow as tf
    import torch

__all__ = [
    "Node",
    "check_compile_reader",
    "check_make_reader",
    "check_read_until_sure",
    "check_replay",
    "check_symbol",
    "check_tf_read",
    "check_traced",
    "check_train",
    "train_reader",
]


class Node(NamedTuple):
    """One operation of a recorded graph, as the lecture defines it."""

    op: str
    inputs: tuple[int, ...] = ()
    value: Any = None


tf_step: Any = None
tf_logits: Any = None
"""what `check_tf_read` was given last"""

OPS = {"add": np.add, "mul": np.multiply, "matmul": np.matmul, "tanh": np.tanh}


def tf_read(x):
    """x: (images, rows, 8), an array or a tensor. Returns logits (images, 10), as `forward` of RowReader does."""
    h = tf.zeros([x.shape[0], 32])
    for i in range(x.shape[1]):
        h = tf_step(h, x[:, i])
    return tf_logits(h)


class Symbol:
    """A value that is not known yet: the result of node number `index` in the list `graph`."""

    def __init__(self, graph, op, inputs=(), value=None):
        """Append Node(op, inputs, value) to `graph`; remember the graph and the number of the new node."""
        self.graph = graph
        self.index = len(graph)
        graph.append(Node(op, inputs, value))

    def record(self, op, *others):
        """Returns a new Symbol of the same graph: the result of op for this symbol and the others, in this order.

        Anything in `others` that is not a Symbol is recorded first, as a "constant" node with that value.
        """
        inputs = [self.index]
        for other in others:
            if not isinstance(other, Symbol):
                other = Symbol(self.graph, "constant", value=other)
            inputs.append(other.index)
        return Symbol(self.graph, op, tuple(inputs))

    def __add__(self, other):
        return self.record("add", other)

    def __mul__(self, other):
        return self.record("mul", other)

    def __matmul__(self, other):
        return self.record("matmul", other)

    def tanh(self):
        return self.record("tanh")


def trace(function, arguments):
    """Run `function` once, with a Symbol in place of each array. Returns the graph and the index of the result."""
    graph = []
    symbols = [Symbol(graph, "input") if isinstance(a, np.ndarray) else a for a in arguments]
    return graph, function(*symbols).index


def replay(graph, result, arrays):
    """Compute the nodes of `graph` in order; arrays: a list with one array for each "input" node, in order.

    Returns the value of node number `result`.
    """
    values = []
    waiting = list(arrays)
    for node in graph:
        if node.op == "input":
            value = waiting.pop(0)
        elif node.op == "constant":
            value = node.value
        else:
            value = OPS[node.op](*[values[i] for i in node.inputs])
        values.append(value)
    return values[result]


class Traced:
    """A function that is traced once for each signature of its arguments, and replayed otherwise."""

    def __init__(self, function):
        self.function = function
        self.traces = {}  # signature -> (graph, result)

    def signature(self, arguments):
        """A tuple with one entry for each argument: (dtype, shape) of an array, (type, value) of anything else."""
        entries = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                entries.append((argument.dtype, argument.shape))
            else:
                entries.append((type(argument), argument))
        return tuple(entries)

    def __call__(self, *arguments):
        """Returns what function(*arguments) would, computed by replaying a graph."""
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        key = self.signature(arguments)
        if key not in self.traces:
            self.traces[key] = trace(self.function, arguments)
        graph, result = self.traces[key]
        return replay(graph, result, arrays)


def make_reader(step, logits):
    """step(h, row): (N, 32) and (N, 8) -> (N, 32). logits(h): (N, 32) -> (N, 10).

    Returns a tf.function of x, (N, rows, 8), that returns logits (N, 10) and is traced once for all N and rows.
    """

    @tf.function(input_signature=[tf.TensorSpec([None, None, 8], tf.float32)])
    def read(x):
        h = tf.zeros([tf.shape(x)[0], 32])
        for i in tf.range(tf.shape(x)[1]):
            h = step(h, x[:, i])
        return logits(h)

    return read


def read_until_sure(rnn, x, enough=0.9):
    """x: (N, rows, 8). Each image is read until its largest probability is at least `enough`, or to its end.

    Returns logits (N, 10), and how many rows were read of each image, int64, (N,).
    """
    h = x.new_zeros(x.shape[0], 32)
    rows_read = x.new_zeros(x.shape[0], dtype=torch.int64)
    reading = x.new_ones(x.shape[0], dtype=torch.bool)
    for i in range(x.shape[1]):
        new_h = rnn.step(h, x[:, i])
        h = torch.where(reading[:, None], new_h, h)
        rows_read = rows_read + reading
        probabilities = rnn.output(h).softmax(dim=1)
        reading = probabilities.amax(dim=1) < enough
    return rnn.output(h), rows_read


def compile_reader(rnn, backend):
    """Returns a function of x, (N, rows, 8), that computes read_until_sure(rnn, x).

    `backend` compiles it as a single graph for all N > 1; a graph break is an error.
    """

    def read(x):
        return read_until_sure(rnn, x)

    return torch.compile(read, backend=backend, fullgraph=True, dynamic=True)


def train(step, batches, lr=0.01):
    """step(x, y, lr) makes one training step and returns its loss. batches: pairs (x, y), all of the same shapes.

    Returns the same losses as `train_slowly`, but traces `step` only once.
    """
    losses = []
    compiled_step = tf.function(step)
    lr = tf.constant(lr)
    for x, y in batches:
        losses.append(float(compiled_step(x, y, lr)))
        lr = lr * 0.9
    return losses


def train_reader(make: Callable[[], Any], seed: int = 0, epochs: int = 30, fewest: int = 4) -> Any:
    """Train the network that `make` returns on the digits, each batch with its first `fewest` to 8 rows."""
    _import_frameworks()
    x_train, y_train = (torch.from_numpy(array) for array in data.load_digits()[:2])
    torch.manual_seed(seed)
    rnn = make()
    optimizer = torch.optim.Adam(rnn.parameters(), lr=1e-2)
    for _ in range(epochs):
        for chosen in torch.randperm(len(x_train)).split(50):
            rows = int(torch.randint(fewest, 9, ()))
            loss = torch.nn.functional.cross_entropy(rnn(x_train[chosen, :rows]), y_train[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return rnn.requires_grad_(False).eval()


def check_tf_read(attempt: Any, step: Callable[[Any, Any], Any], logits: Callable[[Any], Any]) -> Any:
    """`tf_read(x)` takes a step for each row and returns logits; step, logits: the lecture's tf_step, tf_logits."""
    global tf_step, tf_logits
    _import_frameworks()
    tf_step, tf_logits = step, logits
    images = np.random.default_rng(0).random((3, 8, 8), np.float32)
    found: dict[int, Any] = {}

    def result(rows: int = 8) -> Any:
        """for that many rows, computed once"""
        if rows not in found:
            found[rows] = attempt(images[:, :rows])
        return found[rows]

    def error(rows: int = 8) -> str:
        try:
            result(rows)
        except Exception as raised:
            return f"{type(raised).__name__}: {raised}"
        return ""

    def wanted(rows: list[int]) -> Any:
        h = tf.zeros([3, 32])
        for i in rows:
            h = step(h, images[:, i])
        return logits(h)

    def near(value: Any, other: Any) -> bool:
        return np.shape(value) == np.shape(other) and bool(np.allclose(value, other, atol=1e-4))

    def in_a_graph() -> bool:
        try:
            return near(tf.function(attempt)(tf.constant(images)), wanted([*range(8)]))
        except Exception:
            return False

    shapes = ("Incompatible shapes", "ndims", "rank", "size-incompatible", "Matrix", "must be broadcastable")
    return attempt_or_solution(
        "tf_read", attempt, tf_read,
        (lambda: not any(word in error() for word in ("casting from dtype", "TensorFlow DType", "new_zeros")),
         "tf.zeros takes the whole shape as one list: tf.zeros([x.shape[0], 32]). A second argument would be the "
         "dtype, and only PyTorch's tensors have new_zeros."),
        (lambda: not any(word in error() for word in shapes),
         "Two shapes do not fit together. Before the loop, h is a row of 32 zeros for each image: "
         "tf.zeros([x.shape[0], 32]). Then each turn calls tf_step(h, x[:, i]), h first, and tf_logits waits until "
         "after the loop; a loop over x itself goes over the images."),
        (lambda: result() is not None, NOTHING_RETURNED),
        (lambda: np.shape(result()) != (3, 32),
         "You return the hidden states, (images, 32). Return tf_logits of the last."),
        (lambda: np.shape(result()) == (3, 10),
         "For 3 images, the result should be their logits, with the shape (3, 10)."),
        (lambda: not near(result(), wanted([])),
         "The result is that of h = 0: the rows change nothing. Assign what tf_step returns to h."),
        (lambda: not near(result(), wanted([0])),
         "The result is that of the first row alone. Does the `return` stand inside the loop?"),
        (lambda: not near(result(), wanted([7])),
         "The result is that of the last row alone. Create h once, before the loop."),
        (lambda: not near(result(), wanted([0, 1, 2])),
         "Of 3 images with 8 rows you read only 3 rows. The number of images is len(x) or x.shape[0]; that of rows is "
         "x.shape[1]."),
        (lambda: near(result(), wanted([*range(8)])),
         "The logits for 8 rows are wrong. h starts as zeros, and each row x[:, i] updates it, from the first to the "
         "last."),
        (lambda: not error(5) and near(result(5), wanted([*range(5)])),
         "Right for 8 rows, but not for 5. Loop over as many rows as x has: range(x.shape[1])."),
        (in_a_graph,
         "Right, but not inside tf.function, which comes next: there x is a tensor without values, so take no NumPy "
         "function and no .numpy()."),
    )  # fmt: skip


def check_symbol(attempt: Any) -> Any:
    """`Symbol(graph, op, inputs, value)` appends a node; `record(op, *others)` returns the Symbol of a new one."""
    make: Any = attempt

    def recorded(function: Callable[..., Any], inputs: int = 1) -> list[tuple[Any, ...]]:
        graph: list[Any] = []
        function(*[make(graph, "input") for _ in range(inputs)])
        return [(node.op, tuple(node.inputs), node.value) for node in graph]

    def first() -> tuple[Any, list[Any]]:
        graph: list[Any] = []
        return make(graph, "constant", (), 7.0), graph

    def keeps_the_list() -> bool:
        symbol, graph = first()
        return symbol.graph is graph

    def refuses(function: Callable[..., Any], inputs: int = 1) -> bool:
        """whether what is not a Symbol is treated as one"""
        return _raises((AttributeError, TypeError, RecursionError), lambda: recorded(function, inputs))

    def number_among_inputs() -> bool:
        graph: list[Any] = []
        _raises((AttributeError, TypeError, RecursionError), lambda: make(graph, "input") * 2.0)
        return any(node.op == "constant" and node.inputs in (2.0, (2.0,), [2.0]) for node in graph)

    def returns_itself() -> bool:
        symbol = make([], "input")
        return symbol.record("tanh") is symbol

    def two_graphs() -> bool:
        one: list[Any] = []
        two: list[Any] = []
        x, y = make(one, "input"), make(two, "input")
        x.tanh()
        y.tanh()
        return len(one) == len(two) == 2

    kernel = np.ones((2, 2))
    return attempt_or_solution(
        "Symbol", attempt, Symbol,
        (lambda: len(first()[1]) == 1, "Symbol(graph, op) should append exactly one node to the list `graph`."),
        (lambda: hasattr(first()[1][0], "op"),
         "What you append should be a Node, because the code below reads node.op: Node(op, inputs, value)."),
        (lambda: tuple(first()[1][0]) == ("constant", (), 7.0),
         "Symbol(graph, \"constant\", (), 7.0) should append Node(\"constant\", (), 7.0): op, inputs and value."),
        (lambda: hasattr(first()[0], "graph") and hasattr(first()[0], "index"),
         "The symbol should remember two things, self.graph and self.index."),
        (keeps_the_list,
         "self.graph should be the list itself, not a copy: all symbols of a trace append to the same list."),
        (lambda: first()[0].index == 0,
         "The index of the first symbol should be 0. Take len(graph) before you append."),
        (lambda: (lambda graph: [make(graph, "input").index for _ in range(3)])([]) == [0, 1, 2],
         "Three symbols in a row should have the indices 0, 1 and 2."),
        (lambda: recorded(lambda x, y: x.record("add", y), 2)[2:] != [],
         "x.record(\"add\", y) appended no node. Create a new Symbol: its __init__ appends the node."),
        (lambda: (lambda graph: make(graph, "input").record("tanh") is not None)([]),
         "x.record(\"tanh\") returns None. Is there a `return`, and does it stand after the loop, not inside it?"),
        (lambda: (lambda graph: isinstance(make(graph, "input").record("tanh"), make))([]),
         "record should return a Symbol, so that the result can be added and multiplied in turn."),
        (lambda: not returns_itself(),
         "x.record(\"tanh\") returns x itself. Return the new Symbol, the one of the result: x may be used again."),
        (lambda: len(recorded(lambda x, y: x + y, 2)) == 3,
         "x + y of two symbols should append one node. More were appended: is a Symbol recorded as a constant, or do "
         "you append the node yourself? Creating the Symbol of the result does that."),
        (lambda: all(type(i) is int for i in recorded(lambda x, y: x + y, 2)[2][1]),
         "The inputs of a node should be indices (whole numbers), not symbols: other.index."),
        (lambda: recorded(lambda x, y: x @ y, 2)[2] == ("matmul", (0, 1), None),
         "If x is node 0 and y is node 1, x @ y should append Node(\"matmul\", (0, 1))."),
        (lambda: recorded(lambda x, y: y @ x, 2)[2][1] == (1, 0),
         "If x is node 0 and y is node 1, the inputs of y @ x should be (1, 0): first this symbol, then the others."),
        (lambda: [inputs for _, inputs, _ in recorded(lambda x: x.tanh().tanh())] == [(), (0,), (1,)],
         "In x.tanh().tanh(), the input of the second tanh should be the first one, node 1. Return the new Symbol."),
        (lambda: not number_among_inputs(),
         "x * 2.0 puts the number 2.0 where a node has its inputs. A constant has no inputs, so name it: value=other."),
        (lambda: not refuses(lambda x: x * 2.0),
         "x * 2.0 fails: the number 2.0 has no index. Record it as a constant first, Symbol(self.graph, \"constant\", "
         "value=other), and take the index of that new symbol."),
        (lambda: recorded(lambda x: x * 2.0)[1:2] == [("constant", (), 2.0)],
         "x * 2.0 should first record the number: Node(\"constant\", (), 2.0)."),
        (lambda: recorded(lambda x: x * 2.0)[2:] == [("mul", (0, 1), None)],
         "After the constant, x * 2.0 should append one more node: Node(\"mul\", (0, 1))."),
        (lambda: not refuses(lambda x: x @ kernel),
         "x @ kernel fails for an array. Whatever is not a Symbol is a constant, of whichever type it is."),
        (lambda: np.array_equal(recorded(lambda x: x @ kernel)[1][2], kernel),
         "x @ kernel should record the array as the value of a constant."),
        (lambda: recorded(lambda x: x.tanh())[1] == ("tanh", (0,), None),
         "tanh has no others: its node should be Node(\"tanh\", (0,)), whose inputs are a tuple with one index."),
        (lambda: recorded(lambda x, y: x.record("where", y, 3), 2)[2:] ==
         [("constant", (), 3), ("where", (0, 1, 2), None)],
         "record should take any number of others: x.record(\"where\", y, 3) has the inputs x, y and a constant."),
        (two_graphs, "Two traces at a time get into each other's way: append to self.graph, not to a global list."),
    )  # fmt: skip


def check_replay(attempt: Any) -> Any:
    """`replay(graph, result, arrays)` computes the nodes in order and returns the value of node `result`."""
    run: Any = attempt
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])
    only_input = [Node("input")]
    product = [Node("input"), Node("input"), Node("matmul", (0, 1))]
    scaled = [Node("input"), Node("constant", (), 2.0), Node("mul", (0, 1))]
    late_input = [Node("input"), Node("tanh", (0,)), Node("input"), Node("add", (1, 2))]
    unused = [Node("input"), Node("constant", (), 2.0), Node("mul", (0, 1)), Node("tanh", (2,))]
    backward = [Node("input"), Node("input"), Node("matmul", (1, 0))]
    total = [Node("input"), Node("input"), Node("add", (0, 1))]
    single = [Node("input"), Node("tanh", (0,))]
    nothing = [Node("input"), Node("constant", (), 0.0), Node("mul", (0, 1))]
    kernel = [Node("input"), Node("constant", (), y), Node("matmul", (0, 1))]

    def adds_indices() -> bool:
        try:
            found = run(list(total), 2, [x, y])
        except Exception:
            return False
        return np.ndim(found) == 0 and found == 1

    def one_argument_for_two() -> bool:
        try:
            run(list(product), 2, [x, y])
        except Exception as raised:
            return "positional arguments but 1 w" in str(raised)  # was or were, depending on NumPy
        return False

    def node_without_branch() -> bool:
        """whether an input or a constant is looked up among the operations"""
        try:
            run(list(scaled), 2, [x])
        except KeyError as raised:
            return raised.args[0] in ("input", "constant")
        except Exception:
            return False
        return False

    def gives(graph: list[Node], result: int, arrays: list[Any], wanted: Any) -> bool:
        return bool(np.allclose(np.asarray(run(list(graph), result, list(arrays)), dtype=float), wanted))

    def leaves_the_list_alone() -> bool:
        arrays = [x, y]
        run(product, 2, arrays)
        return len(arrays) == 2

    def leaves_the_arrays_alone() -> bool:
        array = x.copy()
        run(scaled, 2, [array])
        return bool(np.array_equal(array, x))

    return attempt_or_solution(
        "replay", attempt, replay,
        (lambda: not node_without_branch(),
         "An input or a constant reaches OPS, which has only operations. Each node takes one of three branches: `if` "
         "for an input, `elif` for a constant, `else` for an operation."),
        (lambda: run(only_input, 0, [x]) is not None, "replay returns None. Is there a `return`?"),
        (lambda: not isinstance(run(only_input, 0, [x]), (list, tuple, dict)),
         "replay returns the values of all nodes. Return only that of node number `result`."),
        (lambda: gives(only_input, 0, [x], x),
         "If the graph is a single input node, its value is the array that was handed over."),
        (lambda: not adds_indices(),
         "For x + y of two inputs, replay adds the indices 0 and 1. An operation gets values[i] for each i in "
         "node.inputs."),
        (lambda: not one_argument_for_two(),
         "For x @ y, OPS[node.op] gets one argument, but needs two: the value of each input is an argument of its own. "
         "A star hands over the items of a list as separate arguments: OPS[node.op](*[...])."),
        (lambda: not _raises((IndexError, StopIteration), lambda: run(product, 2, [x, y])),
         "A graph with two input nodes and two arrays runs out of something. Take one array for each input node, "
         "append every node's value to `values`, those of inputs too, and let the operations read from there."),
        (lambda: not np.array_equal(run(product, 2, [x, y]), x),
         "For x @ y of two inputs, replay returns x, the value of the first node. Is the `return` inside the loop?"),
        (lambda: gives(product, 2, [x, y], x @ y),
         "For x @ y of two inputs the value is wrong. Each input node takes the next array, and an operation gets the "
         "values of the nodes in node.inputs, in that order."),
        (lambda: gives(backward, 2, [x, y], y @ x),
         "The node Node(\"matmul\", (1, 0)) means values[1] @ values[0]: keep the order of node.inputs."),
        (lambda: not _raises((IndexError, TypeError, ValueError), lambda: run(single, 1, [x]))
         and gives(single, 1, [x], np.tanh(x)),
         "The graph of x.tanh() goes wrong. An operation has one input or two, as many as node.inputs has indices: "
         "*[...] hands them all over."),
        (lambda: not _raises(IndexError, lambda: run(scaled, 2, [x])) and gives(scaled, 2, [x], 2 * x),
         "For x * 2, replay goes wrong. The value of a constant node is node.value, and it, too, is appended to the "
         "list."),
        (lambda: not _raises((KeyError, ValueError), lambda: [run(nothing, 2, [x]), run(kernel, 2, [x])])
         and gives(nothing, 2, [x], 0 * x) and gives(kernel, 2, [x], x @ y),
         "Right for the constant 2, but not for 0 or for an array. Ask what node.op is: node.value may be any value."),
        (lambda: not _raises(IndexError, lambda: run(late_input, 3, [x, y]))
         and gives(late_input, 3, [x, y], np.tanh(x) + y),
         "An input node may stand after other nodes. Take the next array when you meet it."),
        (lambda: gives(unused, 2, [x], 2 * x),
         "Return the value of node number `result`; it need not be the last node."),
        (lambda: gives(scaled, 2, [y], 2 * y), "A second replay with another array should give another value."),
        (leaves_the_list_alone,
         "Right, but replay removes the arrays from the list of whoever called it. Copy the list first."),
        (leaves_the_arrays_alone, "Right, but replay changes the array that it was given."),
    )  # fmt: skip


def check_traced(attempt: Any) -> Any:
    """`Traced(function)` traces for each new signature, (dtype, shape) or (type, value), and replays otherwise."""
    make: Any = attempt
    ones, other = np.ones(2), np.array([3.0, 5.0])

    def scale(x: Any, factor: Any) -> Any:
        marks.append(1)
        return x * factor

    marks: list[int] = []

    def traces(*calls: tuple[Any, ...]) -> int:
        """how often Python runs `scale` in these calls of one Traced"""
        marks.clear()
        traced = make(scale)
        for arguments in calls:
            traced(*arguments)
        return len(marks)

    def key(*arguments: Any) -> Any:
        return make(scale).signature(arguments)

    def values(*calls: tuple[Any, ...]) -> list[list[float]]:
        traced = make(scale)
        return [np.asarray(traced(*arguments), dtype=float).tolist() for arguments in calls]

    def product(*calls: tuple[Any, ...]) -> bool:
        traced = make(lambda a, n, b: a @ b * n)
        return all(np.allclose(np.asarray(traced(a, n, b), float), a @ b * n) for a, n, b in calls)

    def twice() -> list[Any]:
        traced = make(scale)
        return [traced(ones, 2) for _ in range(2)]

    def lost_the_number() -> bool:
        try:
            make(scale)(ones, 2)
        except TypeError as error:
            return "'factor'" in str(error)
        return False

    square, flip = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])

    def kept() -> list[int]:
        traced = make(scale)
        found = []
        for arguments in ((ones, 2), (other, 2), (ones, 3)):
            traced(*arguments)
            found.append(len(traced.traces))
        return found

    return attempt_or_solution(
        "Traced", attempt, Traced,
        (lambda: key(ones) is not None, "signature returns None. Is there a `return`?"),
        (lambda: not _raises(TypeError, lambda: hash(key(ones, 2))),
         "A signature has to be the key of a dictionary, so it must be hashable: a tuple of tuples, not a list, and "
         "without the array itself."),
        (lambda: isinstance(key(ones, 2), tuple) and [len(key(*[ones, 2, other][:n])) for n in (1, 2, 3)] == [1, 2, 3],
         "The signature should be a tuple with one entry for each argument: one, two and three for as many arguments."),
        (lambda: key(ones) == key(other),
         "[1. 1.] and [3. 5.] have the same dtype and shape, but their signatures differ. The numbers inside an array "
         "should play no part."),
        (lambda: key(ones) != key(np.ones(3)), "Arrays of shapes (2,) and (3,) should have different signatures."),
        (lambda: key(ones) != key(np.ones((2, 1))),
         "Arrays of shapes (2,) and (2, 1) should have different signatures."),
        (lambda: key(ones) != key(ones.astype(np.float32)),
         "A float64 array and a float32 array should have different signatures."),
        (lambda: key(2) != key(3), "The Python numbers 2 and 3 should have different signatures: the value counts."),
        (lambda: len({key(1), key(1.0), key(True)}) == 3,
         "1, 1.0 and True have the same signature, because they are equal in Python. Put the type into the entry."),
        (lambda: not lost_the_number(),
         "A call with an array and a number fails, because the number is missing. Hand all arguments to `trace`, not "
         "only the arrays."),
        (lambda: not any(value is None for value in twice()),
         "A call returns None, the first one or the next with the same signature. The `return` in __call__ should "
         "stand after the `if`, not inside it."),
        (lambda: values((other, 2)) == [[6.0, 10.0]],
         "For x = [3. 5.] and factor = 2, x * factor should give [6. 10.]: return replay(graph, result, arrays)."),
        (lambda: traces((ones, 2)) == 1,
         "One call should run your Python function exactly once, in `trace`; after that, only replay computes."),
        (lambda: traces((ones, 2), (ones, 2), (ones, 2)) == 1,
         "The same call three times should trace once. Store what trace returns under the signature, and look there "
         "first."),
        (lambda: values((ones, 2), (other, 2)) == [[2.0, 2.0], [6.0, 10.0]],
         "A second call with other numbers of the same shape gives a wrong result. Store the graph, not its value."),
        (lambda: traces((ones, 2), (other, 2)) == 1, "Other numbers of the same shape should not trace again."),
        (lambda: values((ones, 2), (ones, 3)) == [[2.0, 2.0], [3.0, 3.0]],
         "After a call with factor 2, a call with factor 3 gives a wrong result. The key should be the signature of "
         "all arguments, and the graph the one that is stored under it."),
        (lambda: traces((ones, 2), (ones, 3), (ones, 2)) == 2,
         "Calls with the factors 2, 3, 2 should trace twice: keep the trace of every signature, not only the last."),
        (lambda: not _raises((IndexError, TypeError, ValueError), lambda: product((square, 2, flip)))
         and product((square, 2, flip), (flip, 2, square)),
         "With two arrays and a number between them, replay fails or its result is wrong. Hand all arrays to replay, "
         "and only those, in the order of the arguments."),
        (lambda: kept() == [1, 1, 2],
         "self.traces should hold one entry for each signature: 1, 1 and 2 after calls with two and a new number."),
    )  # fmt: skip


def _import_frameworks() -> None:
    global tf, torch
    frameworks.prepare("torch", "tensorflow")  # in the order in which the two get along
    import tensorflow as tf
    import torch


def check_make_reader(attempt: Any) -> Any:
    """`make_reader(step, logits)` returns a `tf.function` of x, (N, rows, 8), with one trace for all N and rows."""
    _import_frameworks()
    draw = np.random.default_rng(0)
    kernel, recurrent, last = (
        tf.constant(draw.normal(size=shape).astype(np.float32) / 4) for shape in ((8, 32), (32, 32), (32, 10))
    )
    images = draw.random((4, 9, 8)).astype(np.float32)
    steps: list[int] = []
    ends: list[int] = []

    def step(h: Any, row: Any) -> Any:
        steps.append(1)
        return tf.tanh(row @ kernel + h @ recurrent)

    def logits(h: Any) -> Any:
        ends.append(1)
        return h @ last

    def wanted(x: np.ndarray) -> Any:
        h = np.zeros((len(x), 32), np.float32)
        for row in x.transpose(1, 0, 2):
            h = np.tanh(row @ kernel.numpy() + h @ recurrent.numpy())
        return h @ last.numpy()

    made: list[Any] = []
    results: dict[tuple[int, ...], Any] = {}

    def read() -> Any:
        """what the attempt returns, made once, because every trace takes its time"""
        if not made:
            made.append(attempt(step, logits))
        return made[0]

    def result(part: np.ndarray) -> Any:
        if part.shape not in results:
            results[part.shape] = read()(part)
        return results[part.shape]

    def error(part: np.ndarray) -> str:
        try:
            result(part)
        except Exception as raised:
            return str(raised)
        return ""

    def called_too_early() -> bool:
        """whether the last line is `return read()`"""
        return "missing a required argument" in error(images) and "Received args: ()" in error(images)

    def right(part: np.ndarray) -> bool:
        return bool(np.allclose(result(part), wanted(part), atol=1e-4))

    shapes = ("broadcastable", "ncompatible shapes", "equal rank", "must be equal", "must be rank")
    fewer = images[:2, :5]
    return attempt_or_solution(
        "make_reader", attempt, make_reader,
        (lambda: called_too_early() or read() is not None,
         "make_reader returns None. Return the inner function in the last line."),
        (lambda: not called_too_early() and hasattr(read(), "experimental_get_tracing_count"),
         "make_reader should return the tf.function itself, without calling it: is the decorator there?"),
        (lambda: not any(word in error(images) for word in ("uint2", "casting from dtype", "DType", "new_zeros")),
         "tf.zeros takes the whole shape as one argument, a list: tf.zeros([tf.shape(x)[0], 32]). A second argument "
         "would be the dtype, and only PyTorch's tensors have new_zeros."),
        (lambda: "cannot be interpreted as an integer" not in error(images),
         "range(x.shape[1]) fails in the trace, because the number of rows is None there. tf.shape(x)[1] is a tensor, "
         "known when the graph runs, and tf.range counts up to it."),
        (lambda: "non-scalar" not in error(images),
         "A `for` cannot go over a single number, such as tf.shape(x)[1]. tf.range counts up to it."),
        (lambda: "got None" not in error(images) and "None values not supported" not in error(images),
         "A size that you take from x.shape fails in the trace, because it is None there. Take the number of images "
         "from tf.shape(x)[0], and the number of rows from tf.shape(x)[1]."),
        (lambda: "slice index" not in error(images[:1]),
         "For one image with 9 rows, your index asks for a row that x does not have. Row i of all images is x[:, i], "
         "and i counts up to tf.shape(x)[1]."),
        (lambda: "before the loop, but" not in error(images),
         "h changes its shape in the loop, and the loop of a graph does not allow that. It should be (N, 32) from the "
         "start to the end: at first one row of zeros for each image, tf.shape(x)[0]."),
        (lambda: not any(word in error(images) for word in shapes),
         "Two shapes do not fit together in the graph. h starts with one row of 32 zeros for each image, "
         "tf.shape(x)[0]. step takes h first, then the row x[:, i], (N, 8); a loop over x itself goes over the "
         "images."),
        (lambda: not any("an not cast" in error(part) or "compatible" in error(part) for part in (images[:1], fewer)),
         "An x of another shape does not match your input_signature. Leave the images and the rows open: "
         "[None, None, 8]."),
        (lambda: result(images[:1]) is not None, "The inner function returns None. Is there a `return`?"),
        (lambda: tuple(result(images).shape) == (4, 10),
         "The result should be the logits, (N, 10), of the last hidden state."),
        (lambda: bool(steps and ends),
         "The reader should call `step` and `logits`, the arguments of make_reader, not tf_step and tf_logits."),
        (lambda: not np.allclose(result(images), wanted(images[:, :8]), atol=1e-4),
         "Of 9 rows you read only 8. Count up to the number of rows that x has, tf.shape(x)[1]."),
        (lambda: right(images[:1]) and right(images),
         "The logits for 9 rows are wrong. h starts as zeros, and each row x[:, i] updates it, from the first to the "
         "last: tf.shape(x)[1] rows, for tf.shape(x)[0] images. Does the `return` of the inner function stand after "
         "the loop?"),
        (lambda: "slice index" not in error(fewer) and right(fewer) and right(images[:, :1]),
         "The logits are right for 9 rows, and not for fewer. Loop over as many rows as x has."),
        (lambda: read().experimental_get_tracing_count() == 1,
         "Different shapes cause more than one trace. Give the tf.function that you return an input_signature in "
         "which both sizes, of images and of rows, are None."),
        (lambda: len(steps) == 1, "Python runs `step` more than once: the loop is not in the graph. Use tf.range."),
    )  # fmt: skip


class _Sharp:
    """A network that becomes sure after different numbers of rows."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(3)
        self.kernel = 1.2 * torch.randn(8, 32, generator=generator)
        self.recurrent = 0.4 * torch.randn(32, 32, generator=generator)
        self.last = torch.randn(32, 10, generator=generator)

    def step(self, h: Any, row: Any) -> Any:
        return torch.tanh(row @ self.kernel + h @ self.recurrent)

    def output(self, h: Any) -> Any:
        return h @ self.last

    def __call__(self, x: Any) -> Any:
        """Logits after all rows, as the lecture's network gives."""
        h = x.new_zeros(x.shape[0], 32)
        for i in range(x.shape[1]):
            h = self.step(h, x[:, i])
        return self.output(h)


def _one_by_one(rnn: Any, x: Any, enough: float) -> tuple[Any, list[int]]:
    """What each image gives if it is read on its own, with a Python `while`."""
    logits, counts = [], []
    for image in x:
        h, count, sure = x.new_zeros(1, 32), 0, 0.0
        while count < len(image) and sure < enough:
            h = rnn.step(h, image[count][None])
            sure = float(rnn.output(h).softmax(dim=1).max())
            count += 1
        logits.append(rnn.output(h)[0])
        counts.append(count)
    return torch.stack(logits), counts


def check_read_until_sure(attempt: Any) -> Any:
    """`read_until_sure(rnn, x, enough)` returns logits (N, 10) and rows read (N,), in one graph."""
    _import_frameworks()
    rnn = _Sharp()
    images = torch.rand(12, 7, 8, generator=torch.Generator().manual_seed(0))

    def answer(x: Any, enough: float = 0.9) -> Any:
        with torch.no_grad():
            return attempt(rnn, x, enough)

    def error() -> str:
        try:
            few = answer(images[:, :2])
            if isinstance(few, tuple) and any(np.ndim(part) > 2 for part in few):
                return no_mask[0]  # h grows with each row: all rows could fill the memory
            answer(images)
        except Exception as raised:
            return str(raised)
        return ""

    def counts(x: Any, enough: float = 0.9) -> list[int]:
        return list(map(int, answer(x, enough)[1]))

    def logits_agree(x: Any, enough: float = 0.9) -> bool:
        return torch.allclose(answer(x, enough)[0], _one_by_one(rnn, x, enough)[0], atol=1e-5)

    def one_graph() -> bool:
        torch.compiler.reset()
        whole = torch.compile(lambda x: attempt(rnn, x, 0.9), backend="eager", fullgraph=True)
        try:
            with torch.no_grad():
                return torch.allclose(whole(images)[0], answer(images)[0], atol=1e-5)
        except torch._dynamo.exc.Unsupported:
            return False

    class Exported(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return attempt(rnn, x, 0.9)

    def open_batch() -> bool:
        sizes = {"x": {0: torch.export.Dim("n_images")}}
        try:
            with torch.no_grad():
                program = torch.export.export(Exported().eval(), (images,), dynamic_shapes=sizes)
                return torch.allclose(program.module()(images[:5])[0], answer(images[:5])[0], atol=1e-5)
        except Exception:
            return False

    late = next(i for i, rows in enumerate(_one_by_one(rnn, images, 0.9)[1]) if 1 < rows < 7)
    no_mask = ("indices for tensor of dimension 0", "tensor a (10)", "tensor b (10)")
    wanted = _one_by_one(rnn, images, 0.9)[1]
    return attempt_or_solution(
        "read_until_sure", attempt, read_until_sure,
        (lambda: "bitwise" not in error(),
         "Python computes & before <. Put the comparison into parentheses: reading & (... < enough)."),
        (lambda: "more than one value is ambiguous" not in error(),
         "`and`, `if` and `while` need a single truth value, but a mask has one for each image. Combine masks with &, "
         "and choose with torch.where."),
        (lambda: "return_types.max" not in error(),
         "With a dim, .max returns two things, the values and their indices. .amax(dim=1) returns the values alone."),
        (lambda: not any(words in error() for words in no_mask),
         "The mask needs one truth value for each image, so its shape is (12,) here: take the largest of its "
         "probabilities, .amax(dim=1)."),
        (lambda: "tensor a (12) must match the size of tensor b (32)" not in error(),
         "The mask has the shape (12,), and h has (12, 32). reading[:, None] has (12, 1), which broadcasts."),
        (lambda: answer(images) is not None, NOTHING_RETURNED),
        (lambda: isinstance(answer(images), tuple) and len(answer(images)) == 2,
         "Return two tensors: the logits and the numbers of rows read."),
        (lambda: isinstance(answer(images)[1], torch.Tensor) and tuple(answer(images)[1].shape) == (12,),
         "For 12 images, the numbers of rows read should be a tensor of shape (12,): each image has its own."),
        (lambda: answer(images)[1].dtype == torch.int64, "The numbers of rows read should be int64."),
        (lambda: tuple(answer(images)[0].shape) == (12, 10), "The logits of 12 images should have the shape (12, 10)."),
        (lambda: counts(images, 1e9) == [7] * 12,
         "With enough=1e9, which no probability reaches, all 7 rows of each image should be read. Does the loop depend "
         "on x.shape[1], is each row counted once, and do you compare with `enough`? The mask should be true at first, "
         "and stay true while the largest probability is below `enough`."),
        (lambda: logits_agree(images, 1e9),
         "With enough=1e9 all rows are read, but the logits are wrong. An image that is still reading takes the new "
         "hidden state: torch.where(mask, new, old). At the end, return rnn.output of the last one, without softmax."),
        (lambda: counts(images, 0.05) == [1] * 12,
         "The largest of ten probabilities is always above 0.05, so with enough=0.05 every image should stop after its "
         "first row: rows read 1. Add the mask to the count (not 1), and only then make the next mask from the "
         "probabilities."),
        (lambda: counts(images[late][None]) == [wanted[late]],
         "For one image the number of rows is wrong. It should stop after the first row at which the largest "
         "*probability* (the softmax of the logits, dim=1) is at least `enough`. After that it must keep its hidden "
         "state, so that it does not begin again later."),
        (lambda: len(set(counts(images))) > 1,
         "All images stop at the same row. Each has its own probabilities: take the maximum along dim=1."),
        (lambda: counts(images) == wanted,
         "The numbers of rows are wrong for a batch. An image that has stopped must keep its hidden state: "
         "then its probabilities stay the same, and it does not begin again."),
        (lambda: logits_agree(images),
         "The numbers of rows are right, but not the logits: an image that has stopped must keep its hidden state. "
         "Choose with torch.where."),
        (one_graph,
         "Right, but the graph breaks: somewhere Python needs a number from a tensor (if, while, break, .item(), "
         "int(), or a loop over images). Compute with masks instead."),
        (open_batch,
         "Right, and one graph, but the number of images has become a constant in it. Take x.shape[0] instead of "
         "len(x), which is a plain Python number."),
    )  # fmt: skip


class _Stopping(_Sharp):
    """The same network, but Python asks for a number in its last layer, so that a graph breaks there."""

    def output(self, h: Any) -> Any:
        return super().output(h) + (1.0 if h.sum().item() > 1e9 else 0.0)


def check_compile_reader(attempt: Any) -> Any:
    """`compile_reader(rnn, backend)` returns a function of x, compiled as one graph for all batches."""
    _import_frameworks()
    rnn = _Sharp()
    images = torch.rand(12, 7, 8, generator=torch.Generator().manual_seed(0))
    wanted = read_until_sure(rnn, images)
    graphs: list[Any] = []
    compiled_late: list[bool] = []
    runs: dict[tuple[int, ...], Any] = {}

    def backend(graph_module: Any, example_inputs: Any) -> Any:
        graphs.append(graph_module)
        return graph_module.forward

    plain = torch.compile

    def counted(*arguments: Any, **options: Any) -> Any:
        compiled_late.append(True)
        return plain(*arguments, **options)

    def read() -> Any:
        torch.compiler.reset()
        graphs.clear()
        return attempt(rnn, backend)

    def run(*sizes: int) -> tuple[list[Any], int, str]:
        """what one compiled reader returns for that many images, the number of graphs, and its error"""
        if sizes not in runs:
            with torch.no_grad():
                results, error, function = [], "", read()
                try:
                    torch.compile = counted
                    results = [function(images[:size].clone()) for size in sizes]
                except Exception as raised:
                    error = f"{type(raised).__name__}: {raised}"
                finally:
                    torch.compile = plain
            runs[sizes] = results, len(graphs), error
        return runs[sizes]

    def takes_x() -> bool:
        function = read()
        try:
            inspect.signature(getattr(function, "_torchdynamo_orig_callable", function)).bind(images)
        except TypeError:
            return False
        return True

    def passes_a_break() -> bool:
        torch.compiler.reset()
        try:
            with torch.no_grad():
                attempt(_Stopping(), backend)(images)
        except Exception:
            return False
        return True

    def runs_uncompiled() -> bool:
        """in Python, where an error names the reader's line"""
        function = read()
        with torch.no_grad():
            getattr(function, "_torchdynamo_orig_callable", function)(images)
        return True

    def right(result: Any, size: int) -> bool:
        logits, counts = result
        return torch.allclose(logits, wanted[0][:size], atol=1e-5) and counts.tolist() == wanted[1][:size].tolist()

    return attempt_or_solution(
        "compile_reader", attempt, compile_reader,
        (lambda: read() is not None, NOTHING_RETURNED),
        (lambda: callable(read()),
         "compile_reader should return the compiled function, without calling it: only its user has an x."),
        (takes_x,
         "Your compiled function needs more than x. Inside compile_reader, define a function of x alone, as in "
         "make_reader: it calls read_until_sure(rnn, x). Compile that."),
        (lambda: run(12)[1] > 0 or run(12)[2],
         "No graph has reached the backend. Hand a function to torch.compile, with backend=backend, and return what it "
         "returns."),
        (lambda: not run(12)[2] or not runs_uncompiled(),
         "Your function runs in Python, but torch.compile cannot make one graph of it. It should only call "
         "read_until_sure(rnn, x), and not torch.compile once more."),
        (lambda: isinstance(run(12)[0][0], tuple) and len(run(12)[0][0]) == 2,
         "The compiled function should return what read_until_sure does: logits, and the numbers of rows read."),
        (lambda: right(run(12)[0][0], 12), "The results differ from those of read_until_sure(rnn, x)."),
        (lambda: not compiled_late,
         "torch.compile is called whenever your function is called. Call it once, before you return the function."),
        (lambda: not passes_a_break(),
         "Right, but a network with a graph break compiles, too, in pieces. With fullgraph=True that is an error."),
        (lambda: run(12, 5, 3)[1] == 1,
         "Right, and one graph, but only while the size of the batch stays the same: 12, 5 and 3 images take more than "
         "one. Leave the sizes open with dynamic=True."),
        (lambda: all(right(result, len(result[0])) for result in run(12, 5, 3)[0]),
         "Right for 12 images, but not for 5 or 3 after them."),
    )  # fmt: skip


def _raises(kinds: type[Exception] | tuple[type[Exception], ...], function: Callable[[], object]) -> bool:
    try:
        function()
    except kinds:
        return True
    return False


def check_train(attempt: Any) -> Any:
    """`train(step, batches, lr)` returns the loss of each step; lr decays by 0.9, and `step` is traced once."""
    _import_frameworks()
    draw = np.random.default_rng(0)
    batches = [(draw.random((4, 8, 8), np.float32), draw.integers(0, 10, 4)) for _ in range(6)]
    weight = tf.Variable(tf.zeros([64, 10]))
    seen: list[tuple[bool, Any]] = []

    def step(x: Any, y: Any, lr: Any) -> Any:
        seen.append((tf.executing_eagerly(), lr))
        with tf.GradientTape() as tape:
            logits = tf.reshape(x, [-1, 64]) @ weight
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        weight.assign_sub(lr * tape.gradient(loss, weight))
        return loss

    def by_hand(lrs: list[float]) -> list[float]:
        weight.assign(tf.zeros([64, 10]))
        return [float(step(x, y, lr)) for (x, y), lr in zip(batches, lrs, strict=True)]

    runs: dict[float, tuple[Any, list[tuple[bool, Any]]]] = {}

    def run(lr: float = 0.5) -> tuple[Any, list[tuple[bool, Any]]]:
        """what the attempt returns, and what `step` saw; made once, because every trace takes its time"""
        if lr not in runs:
            weight.assign(tf.zeros([64, 10]))
            seen.clear()
            losses = attempt(step, list(batches), lr)
            runs[lr] = losses, list(seen)
        return runs[lr]

    def error() -> str:
        try:
            run()
        except Exception as raised:
            return str(raised)
        return ""

    def near(lrs: list[float], lr: float = 0.5) -> bool:
        return bool(np.allclose(np.asarray(run(lr)[0], dtype=float), by_hand(lrs), atol=1e-4))

    def decaying(lr: float = 0.5) -> list[float]:
        return [lr * 0.9**i for i in range(6)]

    def a_number(lr: Any) -> bool:
        return not isinstance(lr, (tf.Tensor, tf.Variable))

    return attempt_or_solution(
        "train", attempt, train,
        (lambda: "float64" not in error() and "double" not in error(),
         "The weights are float32, but your lr is float64, and TensorFlow does not mix them. tf.constant(lr) makes a "
         "float32 tensor of a Python number."),
        (lambda: run()[0] is not None, NOTHING_RETURNED),
        (lambda: isinstance(run()[0], list) and len(run()[0]) == 6,
         "For 6 batches, train should return a list of 6 losses. Does the `return` stand after the loop?"),
        (lambda: bool(run()[1]), "Call `step`, the argument of train, so that any training step can be used."),
        (lambda: not any(eager for eager, _ in run()[1]),
         "Your step runs without a graph: Python executes it at every call. Keep tf.function, and call what it "
         "returns."),
        (lambda: not near([0.5] * 6),
         "The learning rate of the first step is used in all of them. It should be multiplied by 0.9 after each step, "
         "and the graph sees the new value only if you pass it as an argument."),
        (lambda: near(decaying()),
         "The losses differ from those of train_slowly. The first step uses lr as it is, and after each step it is "
         "multiplied by 0.9."),
        (lambda: not any(a_number(lr) for _, lr in run()[1]),
         "`step` is still traced more than once. One reason: lr arrives as a Python number, and each new number needs "
         "a trace. Pass a tensor, from the first step on."),
        (lambda: len(run()[1]) < 6,
         "lr is a tensor now, but in 6 steps Python still ran `step` 6 times. Every tf.function has traces of its "
         "own, so create one before the loop, and call that one in it."),
        (lambda: len(run()[1]) == 1,
         "Some steps still trace again. Does lr keep its kind (a tf.Variable times 0.9 is a tensor), dtype and shape, "
         "and do all steps call the same tf.function?"),
        (lambda: near(decaying(0.1), 0.1), "Right for lr=0.5, but not for lr=0.1. Use the argument lr."),
    )  # fmt: skip
