"""The visible checks of assignment a2: what a right engine must satisfy, told without the answer.

Programs are run twice: on the student's tensors, and on arrays, by NumPy. The slopes of the second are measured with
finite differences. Exercises 1, 2 and 7 are tried with operations of the checks' own, so that they can be done before
those that follow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.checks.oracles import slopes
from course_lib.checks.outcome import CheckFailed, check, fail, require
from course_lib.checks.programs import ELEMENTWISE, MATRIX, SHAPES, SUMS, UNARY, Program, draw_program, simpler_ones
from course_lib.compare import compare
from course_lib.data import load_digits

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


# --- operations of our own ------------------------------------------------------------------------------------------


def _triple(Tensor: Any, a: Any) -> Any:
    return Tensor.from_op(3 * a.data, (a,), lambda gradient: (3 * gradient,))


def _product(Tensor: Any, a: Any, b: Any) -> Any:
    return Tensor.from_op(a.data * b.data, (a, b), lambda gradient: (gradient * b.data, gradient * a.data), (a, b))


def _total(Tensor: Any, a: Any, b: Any) -> Any:
    """a + b; both inputs get the same array."""
    return Tensor.from_op(a.data + b.data, (a, b), lambda gradient: (gradient, gradient))


def _require_gradient(name: str, tensor: Any, wanted: Any, hint: str) -> None:
    if tensor.grad is None:
        fail(f"{name}.grad is None after the backward pass.", hint)
    require(compare(f"{name}.grad", tensor.grad, np.asarray(wanted, dtype=float)), {"": hint})


def _is_refused(action: Callable[[], Any]) -> bool:
    try:
        action()
    except NotImplementedError:
        raise  # a RuntimeError too, but that of a cell that is not written yet, which is said in words of its own
    except RuntimeError:
        return True
    return False


# --- 1. Tensor ------------------------------------------------------------------------------------------------------


@check("a tensor holds a float64 copy of its numbers")
def tensor_copies(Tensor: Any) -> None:
    whole = Tensor([1, 2])
    dtype = getattr(whole.data, "dtype", type(whole.data).__name__)
    if dtype != np.float64:
        fail(f"The data of Tensor([1, 2]) has the dtype {dtype}.", "`np.array` takes the dtype as an argument.")
    given = np.array([[0.5, -1.0], [2.0, 3.0]])
    x = Tensor(given, requires_grad=True)
    require(compare("x.data", x.data, given))
    given[0, 0] = 100.0
    if x.data[0, 0] == 100.0:
        fail("A change of the array that x was made from has changed x.", "`np.asarray` shares; what copies?")
    x.version[0] += 1
    if whole.version != [0]:
        fail(f"Raising the version of one tensor has raised that of another to {whole.version[0]}.",
             "A list in the body of the class is made once, for all.")  # fmt: skip


@check("a result remembers its inputs and its vjp")
def tensor_remembers(Tensor: Any) -> None:
    x, c = Tensor([1, 2], requires_grad=True), Tensor([3, 4])
    y = _triple(Tensor, x)
    require(compare("y.data", y.data, np.array([3.0, 6.0])))
    if len(y.inputs) != 1 or y.inputs[0] is not x:
        fail("y.inputs is not (x,).", "Keep the tensors themselves.")
    if y.vjp is None:
        fail("y.vjp is None.", "Keep the function that from_op is given.")
    require(compare("y.vjp([1, 10])", y.vjp(np.array([1.0, 10.0])), (np.array([3.0, 30.0]),)))
    if not _product(Tensor, x, c).requires_grad:
        fail("x requires gradients and c does not, and x * c does not require gradients.", "One input is enough.")


@check("a result without gradients, or made while recording is off, remembers nothing")
def tensor_recording(Tensor: Any) -> None:
    c, x = Tensor([3, 4]), Tensor([1, 2], requires_grad=True)
    results = {"inputs do not require gradients": _triple(Tensor, c)}
    Tensor.recording = False
    try:
        results["Tensor.recording is False"] = _triple(Tensor, x)
    finally:
        Tensor.recording = True
    for reason, y in results.items():
        if y.requires_grad:
            fail(f"A result requires gradients though its {reason}." if "inputs" in reason else
                 f"A result requires gradients though {reason}.", "Ask both before you remember.")  # fmt: skip
        if y.vjp is not None or len(y.inputs) or len(y.saved):
            fail(f"A result whose requires_grad is False remembers its past ({reason}).", "It should be like a leaf.")


@check("saved tensors are noted with the version that they have")
def tensor_saves_versions(Tensor: Any) -> None:
    a, b = Tensor([1, 2], requires_grad=True), Tensor([3, 4])
    b.version[0] = 5
    y = _product(Tensor, a, b)
    b.version[0] = 6
    saved = [(tensor, number) for tensor, number in y.saved]
    if len(saved) != 2 or saved[0][0] is not a or saved[1][0] is not b:
        fail(f"y.saved holds {len(saved)} pairs; it should hold one for each of the two tensors in `saved`, in order.")
    hint = "Note the number, and not the list, which goes on changing."
    require(compare("the noted version", saved[1][1], 5), {"": hint})


# --- 2. backward ----------------------------------------------------------------------------------------------------


@check("three times x, and its square: 54, and then 57")
def backward_example(Tensor: Any, backward: Function) -> None:
    x = Tensor(3, requires_grad=True)
    a = _triple(Tensor, x)
    backward(_product(Tensor, a, a))
    _require_gradient("x", x, 54.0, "1 arrives at p, 9 + 9 = 18 at a, and 3 * 18 at x.")
    backward(_triple(Tensor, x))
    _require_gradient("x", x, 57.0, "A second pass adds to what is in .grad.")


@check("a tensor that is used several times gets the sum, wherever it is used")
def backward_of_shared_tensors(Tensor: Any, backward: Function) -> None:
    hint = (
        "a is used three times, once behind two more operations. It may pass its gradient on only when all have come."
    )
    for turned in (False, True):
        x = Tensor([1.0, -2.0], requires_grad=True)
        a = _triple(Tensor, x)
        far = _triple(Tensor, _triple(Tensor, a))
        factors = (_total(Tensor, far, a), a)  # (27x + 3x) * 3x = 90 x ** 2
        backward(_product(Tensor, *(factors[::-1] if turned else factors)), np.array([1.0, 10.0]))
        _require_gradient("x", x, [180.0, -3600.0], hint)
    w = Tensor([1.0, 2.0], requires_grad=True)
    x = Tensor([3.0, 4.0], requires_grad=True)
    gradient = np.array([1.0, 10.0])
    backward(_total(Tensor, _total(Tensor, w, x), x), gradient)
    hint = "In (w + x) + x, each addition hands one array to both inputs. Who else holds the array that you add to?"
    _require_gradient("x", x, [2.0, 20.0], hint)
    _require_gradient("w", w, [1.0, 10.0], hint)
    require(compare("the gradient that was passed", gradient, np.array([1.0, 10.0])), {"": hint})


@check("the pass starts from the gradient that is given, and needs one for several numbers")
def backward_takes_a_gradient(Tensor: Any, backward: Function) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    backward(_triple(Tensor, x), np.array([1.0, 10.0]))
    _require_gradient("x", x, [3.0, 30.0], "Every entry of the result has a gradient of its own.")
    if not _is_refused(lambda: backward(_triple(Tensor, x))):
        fail("backward of a tensor with two numbers, without a gradient, raised no RuntimeError.",
             "What is the loss, if there are two numbers?")  # fmt: skip
    one = Tensor([[2.0]], requires_grad=True)
    backward(_triple(Tensor, one))
    _require_gradient("x", one, [[3.0]], "A single number may have any shape, here (1, 1).")


@check("gradients add up over passes, each leaf in an array of its own")
def backward_accumulates(Tensor: Any, backward: Function) -> None:
    x, y = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    gradient = np.array([1.0, 10.0])
    for count in (1, 2):
        backward(_total(Tensor, x, y), gradient)
        for name, leaf in (("x", x), ("y", y)):
            hint = "An addition hands the same array to both inputs. What happens to one if you add to the other?"
            _require_gradient(name, leaf, [1.0 * count, 10.0 * count], hint if count > 1 else "")
    x, y = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    backward(_total(Tensor, x, y), gradient)
    x.grad += 100
    _require_gradient("y", y, [1.0, 10.0], "x.grad was changed, and y.grad with it: they are one array.")
    require(compare("the gradient that was passed", gradient, np.array([1.0, 10.0])), {"": "x.grad was changed."})


@check("only leaves that require gradients get one")
def backward_leaves_only(Tensor: Any, backward: Function) -> None:
    x, c = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0])
    a = _triple(Tensor, x)
    y = _product(Tensor, a, c)
    backward(y, np.array([1.0, 1.0]))
    for name, tensor in (("the constant c", c), ("the result 3 * x", a), ("the last result", y)):
        if tensor.grad is not None:
            fail(f"{name} has a .grad afterwards: {tensor.grad}.", "Which tensors are leaves that require gradients?")


@check("every vjp is called once")
def backward_once(Tensor: Any, backward: Function) -> None:
    x = Tensor([1.0], requires_grad=True)
    calls = []

    def counted(a: Any) -> Any:
        def vjp(gradient: Any) -> Any:
            calls.append(gradient)
            return gradient, gradient

        return Tensor.from_op(a.data + a.data, (a, a), vjp)

    y = x
    for _ in range(6):
        y = counted(y)
    backward(y)
    if len(calls) != 6:
        fail(f"In a chain of 6 operations that use their input twice, vjps were called {len(calls)} times.",
             "Wait until both parts have arrived and carry the sum on.")  # fmt: skip
    _require_gradient("x", x, [64.0], "Each operation doubles.")


@check("a chain of 50,000 operations works")
def backward_of_a_long_chain(Tensor: Any, backward: Function) -> None:
    x = Tensor(2.0, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = Tensor.from_op(y.data + 1.0, (y,), lambda gradient: (gradient,))
    try:
        backward(y)
    except RecursionError:
        fail("The backward pass ended with RecursionError.", "Keep a list of what is still to be done.")
    _require_gradient("x", x, 1.0, "Every operation hands the gradient on as it is.")


@check("a used graph is forgotten and refused, a retained one is not")
def backward_once_more(Tensor: Any, backward: Function) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    ones = np.ones(2)
    y = _product(Tensor, x, x)
    backward(y, ones, retain_graph=True)
    if _is_refused(lambda: backward(y, ones)):
        fail("After a pass with retain_graph=True, the next one raised RuntimeError.")
    _require_gradient("x", x, [4.0, 8.0], "Two passes through x * x: each adds 2 * x.")
    if not _is_refused(lambda: backward(y, ones)):
        fail("A pass through a graph that was used, without retain_graph, raised no RuntimeError.",
             "How can a result that has forgotten its past be told from a leaf?")  # fmt: skip
    if y.inputs or y.saved:
        fail("After the pass, the result still holds its inputs or what was saved.", "Then their memory is not free.")


@check("numbers that were changed in place are noticed")
def backward_after_a_change(Tensor: Any, backward: Function) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y, z = _product(Tensor, x, x), _triple(Tensor, x)
    x.data += 1
    x.version[0] += 1
    if not _is_refused(lambda: backward(y, np.ones(2))):
        fail(
            "x was saved, its version was raised, and backward raised no RuntimeError.", "Compare with what was noted."
        )
    if _is_refused(lambda: backward(z, np.ones(2))):
        fail("x was changed but not saved for 3 * x, and backward raised RuntimeError.", "Only saved tensors matter.")


# --- programs -------------------------------------------------------------------------------------------------------


def _ran(Tensor: Any, program: Program) -> list[Any]:
    """The student's answers: the result, and the gradients of leaves."""
    tensors = {name: Tensor(value, requires_grad=name[0] == "x") for name, value in program.leaves.items()}
    names: dict[str, Any] = dict(tensors)
    exec(program.code(), names)
    y = names["y"]
    if not isinstance(y, Tensor):
        fail(f"`{program.code()}` gave no Tensor, but {type(y).__name__}.", "Return what Tensor.from_op makes.")
    value = np.array(y.data)
    if value.shape == program.gradient.shape:
        y.backward(program.gradient)
    return [value, *(t.grad for name, t in tensors.items() if name[0] == "x")]


def _measured(program: Program) -> list[Array]:
    """The right answers, by NumPy and finite differences."""

    def along(name: str) -> Callable[[Array], float]:
        return lambda moved: float(np.sum(program.gradient * program.run({**program.leaves, name: moved})))

    found = [np.asarray(program.run(program.leaves))]
    return found + [slopes(along(name), program.leaves[name], 1e-3) for name in program.leaves if name[0] == "x"]


_TOGETHER = (
    "Try each step by itself. If all are right, they meet in a wrong order: a tensor that is used several times may "
    "pass its gradient on only when those of all its uses have come."
)


def _require_programs(Tensor: Any, programs: Sequence[Program], hints: Mapping[str, str]) -> str:
    for program in programs:
        if _complaint(Tensor, program, hints):
            # The smallest part of it that is wrong, too.
            said = ((simple, _complaint(Tensor, simple, hints)) for simple in simpler_ones(program))
            simple, complaint = next((pair for pair in said if pair[1]), (program, "it is wrong now and then."))
            leaves = ", ".join(f"{name} = {value.tolist()}" for name, value in simple.leaves.items())
            fail(f"for `{simple.code()}` with {leaves}, and the gradient {simple.gradient.tolist()}: {complaint}")
    return f" ({len(programs)} programs)"


def _complaint(Tensor: Any, program: Program, hints: Mapping[str, str]) -> str:
    """What is wrong with the answers to a program; empty if nothing is."""
    # Of a program with several steps, each alone was asked before.
    hint = _TOGETHER if len(program.steps) > 1 else hints.get(program.steps[-1][1].op, hints.get("", ""))
    try:
        require(_difference(Tensor, program), {"": hint}, source="it should be")
    except NotImplementedError:
        raise  # a cell that is not written yet, which is said in words of its own
    except CheckFailed as failure:
        return str(failure)
    except Exception as error:
        return f"your code raised {type(error).__name__}: {error}.{f' Hint: {hint}' if hint else ''}"
    return ""


def _difference(Tensor: Any, program: Program) -> Any:
    return compare("", _ran(Tensor, program), _measured(program), names=program.names, rtol=1e-4, atol=1e-5)


def _some(operations: Sequence[str], count: int, most: int, seed: int, **options: Any) -> list[Program]:
    generator = np.random.default_rng(seed)
    return [draw_program(generator, operations, 1 + k * most // count, decimals=1, **options) for k in range(count)]


def _require_example(Tensor: Any, name: str, code: str, a: Any, wanted: Any, gradient: Any, grad_a: Any) -> None:
    x = Tensor(a, requires_grad=True)
    names: dict[str, Any] = {"a": x, "np": np}
    exec(f"y = {code}", names)
    require(compare(name, names["y"].data, np.asarray(wanted, dtype=float), rtol=2e-3, atol=1e-9))
    names["y"].backward(np.asarray(gradient, dtype=float))
    hint = "Follow the worked example on paper."
    require(compare(f"the gradient for a, of {name}", x.grad, np.asarray(grad_a, dtype=float), rtol=2e-3), {"": hint})


def _require_protection(Tensor: Any, codes: Sequence[str]) -> None:
    for code in codes:
        for changed in ("a", "y"):
            x, b = Tensor([[1.5, 2.0], [0.5, 3.0]], requires_grad=True), Tensor([[2.0, 1.0], [0.5, 1.0]])
            names: dict[str, Any] = {"a": x, "b": b}
            exec(f"y = {code}", names)
            unchanged = Tensor(x.data, requires_grad=True)
            again: dict[str, Any] = {"a": unchanged, "b": b}
            exec(f"y = {code}", again)
            again["y"].backward(np.ones((2, 2)))
            names[changed].data += 1
            names[changed].version[0] += 1
            y = names["y"]
            if not _is_refused(lambda y=y: y.backward(np.ones((2, 2)))):  # type: ignore[misc]
                hint = "Which numbers does the vjp read, and from where? Save the tensor, or keep an array of your own."
                what = f"the gradient for a, of `y = {code}` with {changed} changed in place before the backward pass,"
                require(compare(what, x.grad, unchanged.grad), {"": hint})


# --- 3. arithmetic --------------------------------------------------------------------------------------------------

_ARITHMETIC_HINTS = {
    "sub": "Raise b: does a - b grow or fall?",
    "mul": "The slope of a product for one factor is set by the other.",
    "div": "Write a / b as a * b ** -1. What is the slope of b ** -1?",
    "neg": "Raise a: does -a grow or fall?",
    "power": "The slope of a ** k is k * a ** (k - 1).",
    "": "Which operations does the program have, and do the checks of each hold by themselves?",
}


@check("unbroadcast sums over the places that an entry was stretched to")
def unbroadcast_example(unbroadcast: Function) -> None:
    rows, stack = np.arange(6).reshape(2, 3), np.arange(12).reshape(2, 2, 3)
    cases: list[tuple[np.ndarray, tuple[int, ...], Any]] = [(rows, (3,), [3, 5, 7]), (rows, (2, 1), [[3], [12]])]
    cases += [(rows, (1, 3), [[3, 5, 7]]), (rows, (), 15), (rows, (2, 3), rows), (stack, (2, 1), [[24], [42]])]
    hint = "Two kinds of axes may be stretched: those that the shape lacks in front, and those of size 1, which stay."
    for gradient, shape, wanted in cases:
        got = unbroadcast(gradient.astype(float), shape)
        require(compare(f"unbroadcast({gradient.tolist()}, {shape})", got, np.asarray(wanted, float)), {"": hint})


@check("the product of a column and a row has the gradients [[60], [60]] and [3, 3, 3]")
def arithmetic_example(Tensor: Any) -> None:
    a, b = Tensor([[1], [2]], requires_grad=True), Tensor([10, 20, 30], requires_grad=True)
    y = a * b
    require(compare("(a * b).data", y.data, np.array([[10.0, 20.0, 30.0], [20.0, 40.0, 60.0]])))
    y.backward(np.ones((2, 3)))
    _require_gradient("a", a, [[60.0], [60.0]], "Each entry of a is used three times.")
    _require_gradient("b", b, [3.0, 3.0, 3.0], "Each entry of b is used twice.")


@check("random programs of + - * / and ** have the gradients that finite differences give")
def arithmetic_programs(Tensor: Any) -> str:
    return _require_programs(Tensor, _some(ELEMENTWISE, 120, 5, 3), _ARITHMETIC_HINTS)


@check("numbers and arrays take part, on either side; powers of 0 and of negative numbers are right")
def arithmetic_of_numbers_and_arrays(Tensor: Any) -> None:
    for sign, value, slope in (("+", [3, 6], [1, 1]), ("-", [1, -2], [-1, -1]), ("*", [2, 8], [2, 2]),
                               ("/", [2, 0.5], [-2, -0.125])):  # fmt: skip
        _require_example(Tensor, f"2 {sign} a", f"2 {sign} a", [1.0, 4.0], value, [1, 1], slope)
        array = f"np.array([2.0, 2.0]) {sign} a"
        _require_example(Tensor, array, array, [1.0, 4.0], value, [1, 1], slope)
    for code, value, slope in (("a ** 2", [0, 4], [0, -4]), ("a ** 3", [0, -8], [0, 12]), ("a ** 1", [0, -2], [1, 1]),
                               ("a ** 0", [1, 1], [0, 0])):  # fmt: skip
        _require_example(Tensor, code, code, [0.0, -2.0], value, [1, 1], slope)


@check("a change in place is noticed, or makes no difference")
def arithmetic_after_a_change(Tensor: Any) -> None:
    _require_protection(Tensor, ["a * b", "a * a", "a / b", "b / a", "a ** 3"])


# --- 4. functions ---------------------------------------------------------------------------------------------------


@check("relu and tanh give the values and slopes of the example")
def functions_example(Tensor: Any) -> None:
    _require_example(Tensor, "relu", "a.relu()", [-1, 2], [0, 2], [-5, -7], [0, -7])
    _require_example(Tensor, "tanh", "a.tanh()", 0.5, 0.4621, 1, 0.7864)
    _require_example(Tensor, "exp", "a.exp()", 0.0, 1, 1, 1)
    _require_example(Tensor, "log", "a.log()", np.e, 1, 1, 1 / np.e)


@check("random programs of exp, log, relu and tanh have the gradients that finite differences give")
def functions_programs(Tensor: Any) -> str:
    hints = {
        "exp": "exp is its own slope.",
        "log": "The natural logarithm has the slope 1 / a.",
        "relu": "What decides whether a gradient passes is the input.",
        "tanh": "The slope is 1 minus the square of the result.",
    }
    return _require_programs(Tensor, _some(UNARY, 80, 3, 4), hints)


@check("a change of inputs or results in place is noticed, or makes no difference")
def functions_after_a_change(Tensor: Any) -> None:
    _require_protection(Tensor, ["a.exp()", "a.log()", "a.relu()", "a.tanh()"])


# --- 5. shapes ------------------------------------------------------------------------------------------------------

_STACKS = [(2,), (2, 3), (3, 2), (1, 3), (1,), (), (2, 3, 2)]


@check("the indices and the mean of the example have the right gradients")
def shapes_example(Tensor: Any) -> None:
    _require_example(Tensor, "a[[0, 2, 2]]", "a[[0, 2, 2]]", [1, 2, 3], [1, 3, 3], [10, 20, 30], [10, 0, 50])
    _require_example(Tensor, "a.mean()", "a.mean()", [1, 2, 3], 2, 6, [2, 2, 2])


@check("random programs with sum and mean have the gradients that finite differences give")
def sums_programs(Tensor: Any) -> str:
    hints = {
        "sum": "Put the axis that was summed over back where it was; then stretch.",
        "mean": "How many entries go into each mean?",
    }
    return _require_programs(Tensor, _some(SUMS, 80, 3, 5, shapes=_STACKS), hints)


@check("random programs with reshape and transpose have the gradients that finite differences give")
def reshaping_programs(Tensor: Any) -> str:
    hints = {
        "reshape": "The gradient goes back to the shape of the tensor.",
        "transpose": "Which permutation undoes this one?",
    }
    return _require_programs(Tensor, _some(("reshape", "transpose"), 80, 3, 6, shapes=_STACKS), hints)


@check("random programs with indices have the gradients that finite differences give")
def indexing_programs(Tensor: Any) -> str:
    hint = "Entries that were not picked get 0; one that was picked twice gets the sum."
    return _require_programs(Tensor, _some(("getitem",), 80, 2, 7, shapes=_STACKS), {"": hint})


@check("a change in place behind a view is noticed, or makes no difference")
def shapes_after_a_change(Tensor: Any) -> None:
    _require_protection(Tensor, [f"(lambda v: v * v)({view})" for view in ("a.reshape(2, 2)", "a.transpose()", "a[:]")])


# --- 6. matmul ------------------------------------------------------------------------------------------------------

_MATMUL_HINTS = {
    "": "Say the shapes aloud: the gradient for a has the shape of a. For square matrices the values must tell.",
    "shape": "Was one of them broadcast?",
}


@check("the worked example has the gradients [[43, 65]] and [[1, 10], [2, 20]]")
def matmul_example(Tensor: Any) -> None:
    a, b = Tensor([[1, 2]], requires_grad=True), Tensor([[3, 4], [5, 6]], requires_grad=True)
    y = a @ b
    require(compare("(a @ b).data", y.data, np.array([[13.0, 16.0]])))
    y.backward(np.array([[1.0, 10.0]]))
    _require_gradient("a", a, [[43.0, 65.0]], _MATMUL_HINTS[""])
    _require_gradient("b", b, [[1.0, 10.0], [2.0, 20.0]], _MATMUL_HINTS[""])


@check("random products of matrices have the gradients that finite differences give")
def matmul_programs(Tensor: Any) -> str:
    shapes = [(2, 2), (2, 3), (3, 2), (1, 3), (2, 1)]
    return _require_programs(Tensor, _some(MATRIX, 60, 3, 8, shapes=shapes), _MATMUL_HINTS)


@check("random products of stacks have the gradients that finite differences give")
def matmul_of_stacks(Tensor: Any) -> str:
    hints = {"": "Swap the last two axes alone, and undo the broadcasting of those before them."}
    return _require_programs(Tensor, _some(MATRIX, 40, 2, 9, shapes=[(2, 2, 2), (2, 2), (1, 2, 3), (3, 2)]), hints)


@check("a change of a factor in place is noticed, or makes no difference")
def matmul_after_a_change(Tensor: Any) -> None:
    _require_protection(Tensor, ["a @ b", "b @ a", "a @ a"])


@check("random programs of all operations have the gradients that finite differences give")
def all_programs(Tensor: Any) -> str:
    every = (*ELEMENTWISE, *UNARY, *SHAPES, *MATRIX)
    return _require_programs(Tensor, _some(every, 200, 10, 10, numbers=True), _ARITHMETIC_HINTS)


# --- 7. modes -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _recording_restored(Tensor: Any) -> Iterator[None]:
    try:
        yield
    finally:
        Tensor.recording = True


@check("nothing is recorded inside of no_grad(), also when blocks are nested")
def no_grad_records_nothing(Tensor: Any, no_grad: Function) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with _recording_restored(Tensor):
        with no_grad():
            inside = _triple(Tensor, x)
            with no_grad():
                pass
            later = _triple(Tensor, x)
        after = _triple(Tensor, x)
    if inside.requires_grad:
        fail("A result made under no_grad() requires gradients.", "What happens when the block begins?")
    if later.requires_grad:
        fail("After an inner block, the outer one records.", "Remember what recording was when the block began.")
    if not after.requires_grad:
        fail("After the block, results do not require gradients any more.", "What happens when the block ends?")


@check("an exception leaves no_grad() as it should, and comes through")
def no_grad_after_an_exception(Tensor: Any, no_grad: Function) -> None:
    came = False
    with _recording_restored(Tensor):
        try:
            with no_grad():
                raise KeyError("a test")
        except KeyError:
            came = True
        recording = Tensor.recording
    if not came:
        fail("The exception in the block did not come out of it.", "What does the value that `__exit__` returns mean?")
    if not recording:
        fail("After a block that ended with an exception, recording is off.", "What is run when an exception passes?")


@check("a detached tensor shares numbers and version, and is a constant")
def detach_shares(Tensor: Any, detach: Function) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    a = _triple(Tensor, x)
    d = detach(a)
    if d.requires_grad or d.vjp is not None:
        fail("detach(a) requires gradients, or has a past.", "It is a leaf, like Tensor(...).")
    if not a.requires_grad or a.vjp is None:
        fail("After detach(a), a itself has lost its past.", "Change the new tensor alone.")
    d.data[0] = 100.0
    if a.data[0] != 100.0:
        fail("A change of detach(a).data in place is not seen in a.data.", "Share the array; the constructor copies.")
    version = a.version[0]
    d.version[0] += 1
    if a.version[0] != version + 1:
        fail("The version of detach(a) was raised, and that of a was not.", "Share the list.")


@check("add_ adds in place, raises the version, and is refused where it would not be recorded")
def add_in_place(Tensor: Any, no_grad: Function) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    array = w.data
    if not _is_refused(lambda: w.add_(10)):
        fail("add_ changed a tensor that requires gradients while recording was on.", "Raise RuntimeError first.")
    require(compare("w.data after a refused add_", w.data, np.array([1.0, 2.0])))
    if list(w.version) != [0]:
        fail("add_ was refused, and has raised the version of w all the same.", "Raise RuntimeError first.")
    with _recording_restored(Tensor), no_grad():
        returned = w.add_(10)
    require(compare("w.data", w.data, np.array([11.0, 12.0])))
    require(compare("w.version", list(w.version), [1]))
    if returned is not w:
        fail("add_ did not return the tensor itself.", "Is there a `return`?")
    hint = "`a.data = a.data + value` makes a new array."
    require(compare("the array that w had before", array, np.array([11.0, 12.0])), {"": hint})


# --- 8. training ----------------------------------------------------------------------------------------------------


def _set(tensors: Sequence[Any], values: Sequence[Array]) -> None:
    for tensor, value in zip(tensors, values, strict=True):
        tensor.data[...] = value


@check("a linear layer has the right parameters and computes x @ weight + bias")
def linear_layer(Tensor: Any, Linear: Any) -> None:
    layer = Linear(64, 50, np.random.default_rng(0))
    require(compare("weight.shape", layer.weight.shape, (64, 50)))
    require(compare("bias.data", layer.bias.data, np.zeros(50)))
    spread, wanted = float(np.std(layer.weight.data)), float(np.sqrt(2 / 64))
    if not 0.9 < spread / wanted < 1.1:
        fail(f"The standard deviation of Linear(64, 50).weight is {spread:.3g}; it should be near {wanted:.3g}.",
             "`rng.normal` takes the standard deviation.")  # fmt: skip
    if np.ptp(layer.weight.data, axis=1).min() == 0:
        fail("Some row of the weights holds equal numbers: all units start alike.", "Draw a number for each weight.")
    first, second = layer.parameters()
    if first is not layer.weight or second is not layer.bias:
        fail("parameters() is not [weight, bias].", "Return the tensors themselves.")
    if not (first.requires_grad and second.requires_grad):
        fail("weight and bias should require gradients.")
    x = np.array([[1.0] * 64, [0.5] * 64])
    bias = np.arange(50.0)
    _set([layer.bias], [bias])
    require(compare("the layer's result", layer(Tensor(x)).data, x @ layer.weight.data + bias))


@check("an MLP has ReLU between its layers and none after the last")
def mlp_layers(Tensor: Any, MLP: Any) -> None:
    model = MLP([2, 2, 1], np.random.default_rng(0))
    parameters = model.parameters()
    if len(parameters) != 4:
        fail(f"MLP([2, 2, 1]) has {len(parameters)} parameters; two layers have four.")
    _set(parameters, [np.eye(2), np.zeros(2), np.array([[1.0], [-3.0]]), np.array([0.5])])
    hint = "By hand: hidden is [[0, 2]], so the result is [[-6 + 0.5]]."
    require(compare("the result for [[-1, 2]]", model(Tensor([[-1.0, 2.0]])).data, np.array([[-5.5]])), {"": hint})


@check("the worked example costs 0.410, and its gradients are right")
def cross_entropy_example(Tensor: Any, cross_entropy: Function) -> None:
    logits = Tensor([[2, 0], [0, 0]], requires_grad=True)
    loss = cross_entropy(logits, np.array([0, 1]))
    hint = "A mean over the rows of minus the log-probability."
    require(compare("the loss", loss.data, np.array(0.41004), rtol=1e-4), {"": hint})
    loss.backward()
    wanted = [[-0.0596, 0.0596], [0.25, -0.25]]
    require(compare("the gradient of logits", logits.grad, np.array(wanted), rtol=1e-3, atol=1e-4))


@check("logits of 1000 and -1000 give a finite loss and finite gradients")
def cross_entropy_of_large_logits(Tensor: Any, cross_entropy: Function) -> None:
    rows = [[1000.0, 0.0], [0.0, 1000.0], [-1000.0, -1000.0]]
    logits = Tensor(rows, requires_grad=True)
    with np.errstate(all="ignore"):
        loss = cross_entropy(logits, np.array([0, 0, 1]))
        loss.backward()
    hint = "Subtract the largest logit of each row first: the probabilities stay what they are."
    require(compare("the loss", loss.data, np.array((0 + 1000 + np.log(2)) / 3)), {"": hint, "not finite": hint})
    wanted = np.array([[0.0, 0.0], [-1.0, 1.0], [0.5, -0.5]]) / 3
    require(compare("the gradient of logits", logits.grad, wanted), {"": hint, "not finite": hint})


def _fitted(Tensor: Any, MLP: Any, fit: Function, steps: int) -> tuple[Any, list[Array], list[Array], Any, list[Array]]:
    """A small network after some steps: the model, its parameters before and after, the losses, and the gradients of
    the first step, measured.
    """
    rng = np.random.default_rng(4)
    model = MLP([3, 4, 2], rng)
    tensors = model.parameters()
    start = [rng.normal(size=p.data.shape) for p in tensors]
    _set(tensors, start)
    x, labels = rng.normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0])
    batches = [np.array([0, 1, 2, 4]), np.array([3, 5]), np.array([1, 0, 3])][:steps]

    def loss(parameters: Sequence[Array]) -> float:
        w1, b1, w2, b2 = parameters
        scores = np.maximum(x[batches[0]] @ w1 + b1, 0) @ w2 + b2
        picked = scores[np.arange(len(scores)), labels[batches[0]]]
        return float(np.mean(np.log(np.exp(scores).sum(1)) - picked))

    measured = [
        slopes(lambda moved, k=k: loss([*start[:k], moved, *start[k + 1 :]]), value, 1e-4)  # type: ignore[misc]
        for k, value in enumerate(start)
    ]
    for p in tensors:
        p.grad = np.full(p.data.shape, 5.0)
    losses = fit(model, x, labels, 0.1, batches)
    require(compare("the first loss", losses[0], loss(start), rtol=1e-6))
    return model, start, [p.data for p in tensors], losses, measured


@check("one step moves each parameter by -lr times its gradient")
def fit_one_step(Tensor: Any, MLP: Any, fit: Function) -> None:
    _, start, after, _, measured = _fitted(Tensor, MLP, fit, 1)
    hint = "Old numbers lay in .grad when fit was called. And the tensors in parameters() have to change, in place."
    for name, before, now, gradient in zip(("W1", "b1", "W2", "b2"), start, after, measured, strict=True):
        require(compare(f"the step of {name}", now - before, -0.1 * gradient, rtol=1e-3, atol=1e-6), {"": hint})


@check("several steps leave parameters that can be trained on, and a loss for each")
def fit_several_steps(Tensor: Any, MLP: Any, fit: Function) -> None:
    model, _, _, losses, _ = _fitted(Tensor, MLP, fit, 3)
    require(compare("the number of losses", len(losses), 3))
    if not all(isinstance(loss, float) for loss in losses):
        fail(f"The losses are of type {type(losses[0]).__name__}.", "`float(...)` of an array with one number.")
    if not all(p.requires_grad and p.vjp is None for p in model.parameters()):
        fail("A parameter is no leaf any more, or requires no gradients.", "Steps are made under no_grad().")
    one, other = (_after_steps(MLP, fit, together) for together in (True, False))
    hint = "Each step uses its own batch's gradients alone, whatever was there before."
    require(compare("the parameters after three calls of one step", other, one), {"": hint})


def _after_steps(MLP: Any, fit: Function, together: bool) -> list[Array]:
    rng = np.random.default_rng(5)
    model = MLP([3, 4, 2], rng)
    x, labels = rng.normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0])
    batches = [np.array([0, 1, 2]), np.array([3, 5]), np.array([1, 0])]
    for some in [batches] if together else [[batch] for batch in batches]:
        fit(model, x, labels, 0.1, some)
        if not together:
            for p in model.parameters():
                p.grad = np.full(p.data.shape, 5.0)
    return [p.data for p in model.parameters()]


@check("the network reads handwritten digits")
def fit_reads_digits(Tensor: Any, MLP: Any, fit: Function) -> str:
    digits = load_digits()
    rng = np.random.default_rng(0)
    model = MLP([64, 64, 10], rng)
    batches = [rng.choice(len(digits.x_train), 32) for _ in range(300)]
    losses = fit(model, digits.x_train.reshape(-1, 64), digits.y_train, 0.2, batches)
    scores = model(Tensor(digits.x_test.reshape(-1, 64))).data
    right = float(np.mean(np.argmax(scores, axis=1) == digits.y_test))
    if right < 0.8:
        fail(f"After 300 steps the network reads {right:.0%} of the held-out digits; 80% is within easy reach.")
    return f": {right:.0%} of those held out, loss {losses[0]:.2f} to {np.mean(losses[-20:]):.2f}"
