"""The hidden checks of a2: the sentences of the notebook, on inputs that nobody has seen.

Most of them are random programs over the operations of one exercise, drawn in order of size. The first that fails is
taken apart: each of its steps alone, then all that leads to it; the student is shown the smallest that fails. What the
reference says of such programs is what PyTorch says (tests/course_lib/checks/test_a2_autograd_engine.py).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from probes import (
    added_in_place,
    detached,
    drawn_parameters,
    facts_of_a_leaf,
    facts_of_a_result,
    fitted,
    gradient_of_a_chain,
    gradients_after_an_exception,
    gradients_after_refusals,
    gradients_around_no_grad,
    gradients_of_a_layer,
    gradients_of_counted_calls,
    gradients_of_layers,
    gradients_of_sums,
    gradients_of_two_passes,
    gradients_without_a_gradient,
    loss_and_gradient,
    memory_after_backward,
    numbers_of_leaves,
    run_changed,
    run_own_programs,
    run_program,
    run_programs,
    versions_raised,
)

from course_lib.checks.programs import ELEMENTWISE, MATRIX, SHAPES, UNARY, draw_program, simpler_ones
from course_lib.compare import compare, compare_form
from course_lib.data import load_digits

# --- 1. Tensor ------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_tensor")
def test_a_leaf(student, reference, draw, expect):
    """A tensor holds a float64 copy of its numbers, and its version is its own. (It is asked after the array that it
    was made from has changed; whole numbers are halved in place.)
    """
    data = {"data": draw.normal((2, 2)), "whole": 2 * draw.integers(1, 5, 3) + 1}
    got, wanted = student.run(facts_of_a_leaf, **data), reference.run(facts_of_a_leaf, **data)
    names = (
        "x.data @ x.data",
        "the data of a tensor of integers, halved in place",
        "the data of a tensor with one entry",
        "version, requires_grad of both, whether grad of each is None (1), and, as a leaf's should be, requires_grad "
        "while recording is off, inputs and vjp (1)",
    )
    expect.close(got, wanted, names=names)
    data = {"data": draw.away_from_zero((2,)), "whole": 2 * draw.integers(1, 5, 3) + 1}
    names = ("Tensor(number).data", "the data of a tensor of an array of integers, halved in place")
    names += ("the same for float32", "numbers of float32, multiplied by 1e60 and divided again")
    expect.close(student.run(numbers_of_leaves, **data), reference.run(numbers_of_leaves, **data), names=names)


@pytest.mark.cell("test_tensor", weight=2, evidence="observed")
@pytest.mark.parametrize("flags", [(1,), (0, 1), (1, 0), (1, 1), (0, 0), (0, 0, 1)])
@pytest.mark.parametrize("recording", [1, 0])
def test_a_result(student, reference, draw, expect, flags, recording):
    """A result holds its numbers; it requires gradients and remembers inputs, vjp and saved versions just when it
    should. (Two of the saved tensors are no inputs. The versions are raised after the result was made.)
    """
    rows = [draw.normal((2,)) for _ in flags]
    data = {"data": rows, "gradient": draw.normal((2,)), "flags": list(flags), "recording": recording}
    got, wanted = student.run(facts_of_a_result, **data), reference.run(facts_of_a_result, **data)
    names = ("data", "what vjp gives", "the data of inputs", "the data of saved tensors")
    expect.close(got[:4], wanted[:4], names=names)
    what = "requires_grad, version, the saved numbers, and whether grad is None and inputs a tuple (1)"
    expect.close(got[4], wanted[4], what)


# --- 2. backward ----------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_backward")
def test_gradients_of_graphs(student, reference, draw, expect):
    """The gradients of the leaves are right for hundreds of random graphs, with and without shared tensors."""
    operations = ("add", "sub", "mul", "neg", "tanh")
    programs = some_programs(draw, operations, 200, most=9, shapes=[(2,)])
    data = [[p.code(calls=True), np.array(list(p.leaves.values())), p.gradient] for p in programs]
    # The first programs one by one: the first that fails, or raises, is the smallest.
    for k in (*range(12), slice(12, 40), slice(40, None)):
        part = data[k] if isinstance(k, slice) else [data[k]]
        got, wanted = (of.run(run_own_programs, programs=part) for of in (student, reference))
        for program, mine, right in zip(part, got, wanted, strict=True):
            if compare("", mine, right) is not None:
                alone = {"programs": [program]}
                require_arrays_left_alone(student, reference, draw, expect)
                [mine], [right] = student.run(run_own_programs, **alone), reference.run(run_own_programs, **alone)
                expect.close(mine, right, f"y.data and the gradients of the leaves of `{program[0]}`")


def require_arrays_left_alone(student, reference, draw, expect):
    """Sums whose vjp hands one array to both inputs have the gradients of those whose vjp hands out copies.

    Only what adds to the shared array itself is named: with copies all is right, and the arrays have grown. Where
    gradients are right, an array that has grown does no harm.
    """
    data = {name: 1 + np.abs(draw.normal((2,))) for name in ("x", "w", "gradient")}
    (shared, grown), (apart, _) = (student.run(gradients_of_sums, **data, copies=copies) for copies in (0, 1))
    wanted, _ = reference.run(gradients_of_sums, **data, copies=1)
    right, wrong = compare("", apart, wanted) is None, compare("", shared, wanted) is not None
    sentence = "the gradients in sums such as (w + x) + x are wrong, and an array that a vjp returned has grown."
    expect.true(not (right and wrong and grown[0]), sentence, kind="changed", fault="summed-in-place")


@pytest.mark.cell("test_backward")
@pytest.mark.parametrize("shape", [(2,), (2, 1), (1,), ()])
def test_leaves_collect(student, reference, draw, expect, shape):
    """The gradients of leaves add up over two backward passes, each in an array of its own, and nothing else has a
    gradient. The graph is (x + y) * c.
    """
    data = {name: draw.away_from_zero(shape) for name in ("x", "y", "c", "gradient")}
    got, wanted = student.run(gradients_of_two_passes, **data), reference.run(gradients_of_two_passes, **data)
    expect.close(got[0], wanted[0], names=("x.grad after one pass", "y.grad after one pass"))
    expect.close(got[1], wanted[1], names=("x.grad after two passes", "y.grad after two passes"))
    others = "c or a result has a .grad afterwards; only leaves that require gradients get one."
    expect.true(got[2] == wanted[2], others, kind="others")
    names = ["y.grad after a change of x.grad", "the gradient that was passed after a change of x.grad"]
    names += [f"{what} after a change of x.grad (a vjp gave both one array)" for what in ("y.grad", "this array")]
    expect.close(got[3], wanted[3], names=names)


@pytest.mark.cell("test_backward", search="single")
def test_each_operation_once(student, reference, draw, expect):
    """Every vjp is called once, with the sum of all its gradients; and a chain of 50,000 operations works. (In the
    ladder each vjp multiplies by the number of times that it was called.)
    """
    for depth in (1, 4, 8):
        data = {"x": draw.away_from_zero((2,)), "gradient": draw.away_from_zero((2,)), "depth": depth}
        got, wanted = student.run(gradients_of_counted_calls, **data), reference.run(gradients_of_counted_calls, **data)
        expect.close(got, wanted, names=("y.data", "x.grad"))
    data = {"x": draw.away_from_zero((1,)), "factor": 1 + 1e-5 * float(draw.uniform((), 0.5, 1.0)), "length": 50_000}
    got, wanted = student.run(gradient_of_a_chain, **data), reference.run(gradient_of_a_chain, **data)
    expect.close(got, wanted, names=("y.data", "x.grad"))


@pytest.mark.cell("test_backward", evidence="observed")
def test_what_is_refused_and_forgotten(student, reference, draw, expect):
    """A used graph, numbers that were changed, and several numbers without a gradient are refused; a graph that is
    kept can be used again, and one that is not is forgotten.
    """
    data = {"x": draw.away_from_zero((2,)), "gradient": draw.away_from_zero((2,))}
    cases = (
        "a second use of a graph",
        "a second use of a part",
        "two uses of a kept graph",
        "a change of saved numbers",
        "a change of a saved constant",
    )
    names = [f"x.grad after {case}" for case in (*cases, "a change of numbers that were not saved")]
    names.append(
        "which uses were refused (1): the second of each, the third of the kept graph, those of changed numbers"
    )
    (*got, mine), (*wanted, right) = (of.run(gradients_after_refusals, **data) for of in (student, reference))
    expect.close(got, wanted, names=names)
    called = "backward refused numbers that were changed, but had called the vjp that reads them."
    expect.true(mine[0] == right[0], called, kind="called", fault="vjp-called-before-the-comparison")
    expect.true(mine[1] == right[1], "backward returned something.", kind="returned", fault="backward-returns")
    x = {"x": data["x"]}
    names = [f"x.grad for y of shape {shape} without a gradient" for shape in ((), (1,), (1, 1), (2,))]
    expect.close(
        student.run(gradients_without_a_gradient, **x), reference.run(gradients_without_a_gradient, **x), names=names
    )
    got, wanted = student.run(memory_after_backward, **data), reference.run(memory_after_backward, **data)
    expect.close(got[0], wanted[0], "x.grad after two passes")
    expect.close(got[1], wanted[1], "how many functions, saved tensors and inputs are still held")


# --- 3. arithmetic --------------------------------------------------------------------------------------------------


STRETCHED = [
    ((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((2, 3), (1, 1)), ((4, 2, 3), (2, 1)), ((4, 2, 3), (4, 1, 3)),
    ((2, 2, 2), (1, 2, 1)), ((3, 3), (3,)), ((2, 3, 2), (1, 1, 1)),
]  # fmt: skip
"""the shape of a gradient, and of the tensor that was stretched to it"""
NOT_STRETCHED = [((2, 3), (2, 3)), ((1, 3), (3,)), ((1, 1), (1,))]
"""the same, where every entry was used once"""


@pytest.mark.cell("test_arithmetic")
@pytest.mark.parametrize("shapes", [STRETCHED, NOT_STRETCHED], ids=["stretched", "as it is"])
def test_stretching_undone(student, reference, draw, expect, shapes):
    """`unbroadcast` sums over the places that each entry was stretched to."""
    # All are asked before one is compared: two mistakes may give the same for the first shape.
    asked = [(draw.normal(whole), shape) for whole, shape in shapes]
    got = [student.unbroadcast(*arguments) for arguments in asked]
    for mine, arguments in zip(got, asked, strict=True):
        name = f"unbroadcast(gradient, {arguments[1]}) for a gradient of shape {arguments[0].shape}"
        expect.close(mine, reference.unbroadcast(*arguments), name)


@pytest.mark.cell("test_arithmetic")
def test_arithmetic_of_one_shape(student, reference, draw, expect):
    """Values and gradients are right for random programs of + - * / ** over arrays of one shape."""
    require_programs(student, reference, expect, some_programs(draw, ELEMENTWISE, 200, shapes=[(2,)]))
    for exponent in (2, 1, 3, 0, 1.0, 2.0, 0.0, 1.5):
        special = {"x0": np.array([0.0, -2.0 if exponent % 1 == 0 else 2.0])}
        data = {"code": f"y = x0 ** {exponent}", "leaves": special, "gradient": draw.away_from_zero((2,))}
        names = ("y.data", "x0.grad")
        expect.close(student.run(run_program, **data), reference.run(run_program, **data), names=names)


@pytest.mark.cell("test_arithmetic")
def test_arithmetic_with_broadcasting(student, reference, draw, expect):
    """Values and gradients are right for random programs over arrays of different shapes, numbers and constants."""
    require_programs(student, reference, expect, some_programs(draw, ELEMENTWISE, 300, numbers=True))
    for data in with_arrays(draw):
        names = ("y.data", "x0.grad")
        expect.close(student.run(run_program, **data), reference.run(run_program, **data), names=names)


@pytest.mark.cell("test_arithmetic")
def test_arithmetic_after_a_change(student, reference, draw, expect):
    """If numbers are changed in place before the backward pass, it refuses or gives the gradients for the old ones."""
    codes = ["y = x0 * x1", "y = x0 / x1", "y = x0 ** 3", "y = x0 + x1", "y = x0 - x1", "y = -x0"]
    codes += ["y = x0 * c0", "y = c0 * x0", "y = x0 / c0", "y = c0 / x0"]
    require_protection(student, reference, draw, expect, codes)


# --- 4. functions ---------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_functions", weight=2)
def test_functions(student, reference, draw, expect):
    """Values and gradients are right for random programs of exp, log, relu and tanh."""
    require_programs(student, reference, expect, some_programs(draw, UNARY, 200, most=4))


@pytest.mark.cell("test_functions")
def test_functions_after_a_change(student, reference, draw, expect):
    """If numbers are changed in place before the backward pass, it refuses or gives the gradients for the old ones."""
    codes = [f"y = x0.{name}()" for name in UNARY]
    require_protection(student, reference, draw, expect, codes)


# --- 5. shapes ------------------------------------------------------------------------------------------------------

STACKS = [(2,), (2, 3), (3, 2), (1, 3), (2, 1), (1,), (), (2, 3, 2), (2, 1, 3)]


@pytest.mark.cell("test_shapes")
def test_sums(student, reference, draw, expect):
    """Values and gradients are right for random programs with sum and mean, over any axes."""
    require_programs(student, reference, expect, some_programs(draw, ("sum", "mean"), 200, most=3, shapes=STACKS))
    axes = {(2, 2, 3): [(-2, -1)], (2, 3, 4): [(-1, 0), (-2,), (1, -1), (-2, -1), (1, -3)]}
    for shape, some in axes.items():
        codes = [f"y = x0.{name}(axis={axis})" for name in ("sum", "mean") for axis in some]
        require_codes(student, reference, draw, expect, codes, shape)


@pytest.mark.cell("test_shapes")
def test_reshaping(student, reference, draw, expect):
    """Values and gradients are right for random programs with reshape and transpose."""
    more = [*STACKS, (2, 3, 4)]
    require_programs(
        student, reference, expect, some_programs(draw, ("reshape", "transpose"), 200, most=4, shapes=more)
    )
    require_codes(student, reference, draw, expect, ["y = x0.transpose(2, 1, 0)"], (2, 3, 4))
    require_codes(student, reference, draw, expect, ["y = x0.reshape(())"], (1,))


@pytest.mark.cell("test_shapes")
def test_indexing(student, reference, draw, expect):
    """Values and gradients are right for random programs with indices, also where an entry is picked twice."""
    require_programs(student, reference, expect, some_programs(draw, ("getitem",), 200, most=3, shapes=STACKS))
    indices = [
        "np.array([0, 2, 2])",
        "np.array([True, False, True])",
        "np.array([2, 2]), 1",
        "np.array([[0, 1], [1, 0]])",
    ]
    indices += ["np.array([1, 1, 0]), np.array([0, 0, 1])", "[True, False, True], 0", "::-1", ":2, -1", "1:2, ::-1"]
    codes = [f"import numpy as np; y = x0[{index}]" for index in indices]
    require_codes(student, reference, draw, expect, codes, (3, 2))


@pytest.mark.cell("test_shapes")
def test_views_after_a_change(student, reference, draw, expect):
    """If numbers are changed in place before the backward pass, it refuses or gives the gradients for the old ones."""
    codes = [f"v = x0{view}; y = v * v" for view in (".reshape(2)", ".transpose()", "[:]")]
    require_protection(student, reference, draw, expect, codes)
    for view, shape in ((".reshape(4)", (4,)), (".transpose(1, 0)", (2, 2)), ("[0]", (2,)), ("[:, 1]", (2,))):
        require_protection(student, reference, draw, expect, [f"v = x0{view}; y = v * v"], (2, 2), shape)


# --- 6. matmul ------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_matmul")
def test_products_of_matrices(student, reference, draw, expect):
    """Values and gradients are right for random programs with products of matrices, also of a tensor with an array."""
    # Square ones first: there a wrong product has the right shape, and its values tell which it is.
    require_programs(student, reference, expect, some_programs(draw, MATRIX, 20, most=3, shapes=[(2, 2)]))
    shapes = [(2, 2), (2, 3), (3, 2), (1, 3), (2, 1), (1, 1)]
    require_programs(student, reference, expect, some_programs(draw, MATRIX, 150, most=3, shapes=shapes))
    array = "np.array([[2.0, -4.0], [1.0, 3.0]])"
    codes = [f"import numpy as np; y = {product}" for product in (f"x0 @ {array}", f"{array} @ x0")]
    require_codes(student, reference, draw, expect, codes, (2, 2))


@pytest.mark.cell("test_matmul")
def test_products_of_stacks(student, reference, draw, expect):
    """Values and gradients are right for random programs with products of stacks, also where one is broadcast."""
    shapes = [(2, 2, 2), (2, 2), (3, 2, 2), (1, 2, 3), (3, 2), (2, 1, 2, 3), (3, 3, 2)]
    require_programs(student, reference, expect, some_programs(draw, MATRIX, 150, most=3, shapes=shapes))
    array = "np.array([[[2.0, -4.0], [1.0, 3.0]], [[-1.0, 1.0], [0.5, 2.0]]])"
    codes = [f"import numpy as np; y = {product}" for product in (f"x0 @ {array}", f"{array} @ x0")]
    require_codes(student, reference, draw, expect, codes, (2, 2))


@pytest.mark.cell("test_matmul")
def test_products_after_a_change(student, reference, draw, expect):
    """If numbers are changed in place before the backward pass, it refuses or gives the gradients for the old ones."""
    require_protection(student, reference, draw, expect, ["y = x0 @ x1", "y = x0 @ c0", "y = c0 @ x0"], shape=(2, 2))


@pytest.mark.cell("test_matmul")
def test_all_operations(student, reference, draw, expect):
    """Values and gradients are right for hundreds of random programs of all operations."""
    operations = (*ELEMENTWISE, *UNARY, *SHAPES, *MATRIX, *MATRIX)
    require_programs(student, reference, expect, some_programs(draw, operations, 500, most=14, numbers=True))


# --- 7. modes -------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_modes")
def test_no_grad(student, reference, draw, expect):
    """What is computed under no_grad() is a constant, what is computed after it is not, also when blocks are nested."""
    data = {"x": draw.away_from_zero((2,)), "gradient": draw.away_from_zero((2,))}
    places = ("inside a block", "after a block", "in a block, after an inner one", "after a block, recording off")
    names = [f"the gradient of x * a for a = 3 * x computed {place}" for place in places]
    expect.close(
        student.run(gradients_around_no_grad, **data), reference.run(gradients_around_no_grad, **data), names=names
    )
    got, wanted = (of.run(gradients_after_an_exception, **data) for of in (student, reference))
    expect.close(got[0], wanted[0], "how often the exception in the block came through")
    expect.close(got[1], wanted[1], "x.grad after a block that ended with an exception")


@pytest.mark.cell("test_modes")
def test_detach(student, reference, draw, expect):
    """A detached tensor is a constant that shares numbers and version with its origin, which stays as it is."""
    data = {"x": draw.away_from_zero((2,)), "gradient": draw.away_from_zero((2,))}
    names = ["the gradient of x * detach(x)", "the gradient of x through a = 3 * x, which was detached"]
    names += ["x.data after a change of detach(x)", "x.grad of x * x after a change of detach(x)"]
    names += ["the data of a result after a change of the detached one", "the gradient of x * x, with x detached"]
    names += [f"the gradient of detach({a}), which requires gradients from then on," for a in ("x", "a")]
    names += ["the gradient of the origin of a"]
    expect.close(student.run(detached, **data), reference.run(detached, **data), names=names)


@pytest.mark.cell("test_modes", evidence="observed")
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((2, 3), (3,)), ((2, 2), ()), ((), ())])
def test_add_in_place(student, reference, draw, expect, shapes):
    """`add_` adds in place, raises the version, and refuses what requires gradients while recording is on."""
    data = {"x": draw.away_from_zero(shapes[0]), "value": draw.away_from_zero(shapes[1])}
    data["gradient"] = draw.away_from_zero(shapes[0])
    got, wanted = student.run(added_in_place, **data), reference.run(added_in_place, **data)
    cases = ("a constant, after two calls", "a leaf, with recording off")
    cases += ("a leaf, with recording on", "a result, with recording on")
    expect.close(got[0], wanted[0], names=[f"the numbers of {case}" for case in cases])
    expect.close(got[1], wanted[1], "the versions of these four")
    expect.close(got[2], wanted[2], "x.grad of x * x after a change of x")
    expect.close(got[3], wanted[3], "how often add_ raised RuntimeError, of two times with recording on")


# --- 8. training ----------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_training", weight=0.75)
@pytest.mark.parametrize("sizes", [(2, 3), (3, 3, 3), (2, 4, 3, 2)])
def test_layers(student, reference, draw, expect, sizes):
    """Layers and networks give the right results and gradients."""
    parameters, x, gradient = network(draw, sizes), draw.normal((3, sizes[0])), draw.normal((3, sizes[-1]))
    data = {"weight": parameters[0], "bias": parameters[1], "x": x, "gradient": draw.normal((3, sizes[1]))}
    names = ("Linear(x)", "the gradient of weight", "the gradient of bias")
    expect.close(student.run(gradients_of_a_layer, **data), reference.run(gradients_of_a_layer, **data), names=names)
    data = {"sizes": list(sizes), "parameters": parameters, "x": x, "gradient": gradient}
    names = ("MLP(x)", "the gradients of parameters()", "the gradient of x")
    expect.close(student.run(gradients_of_layers, **data), reference.run(gradients_of_layers, **data), names=names)


@pytest.mark.cell("test_training")
@pytest.mark.parametrize("table", [(2, 3), (3, 2), (1, 2), (4, 4), (7, 10)])
def test_loss(student, reference, draw, expect, table):
    """The loss and its gradient are right, also for logits of 1000 and -1000."""
    labels = draw.labels(*table)
    certain = np.full(table, -1000.0)
    certain[np.arange(table[0]), labels] = 1000.0
    mixed = draw.normal(table)
    mixed[-1] -= 1000
    for logits in (draw.normal(table, 2.0), 1000 + mixed, mixed, certain, -certain):
        data = {"logits": logits, "labels": labels}
        got, wanted = student.run(loss_and_gradient, **data), reference.run(loss_and_gradient, **data)
        expect.close(got, wanted, names=("cross_entropy", "the gradient of logits"), batch=table[0])


@pytest.mark.cell("test_training")
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_steps(student, reference, draw, expect, steps):
    """Parameters and losses are right after one, two and three steps. (The last step is a second call of fit; with
    more than one, old numbers lie in .grad at the start.)
    """
    sizes = (3, 4, 3)
    batches = [draw.choice(6, 3), draw.choice(6, 2), draw.choice(6, 4)]
    # A row that stands in a batch twice counts twice.
    batches[0] = np.append(batches[0], batches[0][:1])
    batches = batches[:steps]
    parameters = network(draw, sizes)
    # Of one step alone, gradients that are never cleared and gradients that are cleared late could not be told apart.
    before = [draw.normal(p.shape) * (steps > 1) for p in parameters]
    data = {"sizes": list(sizes), "parameters": parameters, "before": before}
    data |= {"x": draw.normal((6, 3)), "labels": draw.labels(6, 3), "lr": 0.5, "batches": batches}
    got, wanted = student.run(fitted, **data), reference.run(fitted, **data)
    start = {f"parameter {k}": value for k, value in enumerate(parameters)}
    expect.trajectory(got[0], wanted[0], start, steps=steps)
    expect.close(got[1], wanted[1], "the losses")
    sentence = "fit returns the right numbers, but not as Python floats."
    expect.true(got[2], sentence, kind="type", fault="fit-losses-not-floats")


@pytest.mark.cell("test_training", weight=0.25, evidence="observed")
def test_versions(student, reference, draw, expect):
    """`fit` raises the versions of the parameters, and changes their arrays; what should be a list is one."""
    data = {"sizes": [3, 4, 3], "x": draw.normal((6, 3)), "labels": draw.labels(6, 3)}
    data["batches"] = [draw.choice(6, 3), draw.choice(6, 4)]
    got, wanted = student.run(versions_raised, **data), reference.run(versions_raised, **data)
    for mine, name, fault in zip(
        got[1],
        ("Linear.parameters()", "MLP.parameters()", "fit(...)"),
        ("parameters-no-list", "parameters-no-list", "fit-losses-no-list"),
        strict=True,
    ):
        expect.true(mine, f"{name} returns no list.", kind="type", fault=fault)
    what = "which parameters have a higher version after fit (1), other numbers (1), and those in the same array (1)"
    expect.close(got[0], wanted[0], what)


@pytest.mark.cell("test_training", search="single")
def test_start_and_digits(student, reference, draw, expect):
    """New parameters are drawn as they should be, and a network trained from them reads handwritten digits."""
    data = {"sizes": [64, 100, 10], "seed": int(draw.integers(0, 1000, ()))}
    got, wanted = student.run(drawn_parameters, **data), reference.run(drawn_parameters, **data)
    expect.form(got, wanted, "the parameters of two new networks")
    for k, name in enumerate(("the first weight", "the first bias", "the second weight", "the second bias")):
        mine, right = np.concatenate([n[k].ravel() for n in got]), np.concatenate([n[k].ravel() for n in wanted])
        spread = np.sqrt(2 / wanted[0][k - k % 2].shape[0]) if k % 2 == 0 else 0.0
        # 2,000 numbers or more: their deviation is within 8% of that of the distribution, five times its own.
        expect.close(float(np.std(mine)), float(spread), f"the standard deviation of {name}", rtol=0.08, atol=1e-12)
        expect.close(float(np.mean(mine)), 0.0, f"the mean of {name}", atol=0.12 * spread + 1e-12)
        repeated = len(np.unique(mine)) < len(np.unique(right))
        expect.true(not repeated, f"among the numbers of {name} in two new networks some are equal.", kind="equal")
    expect.true(
        normal_like(got[0][0]), "the first weight is not drawn from a normal distribution.", kind="distribution"
    )
    digits = load_digits()
    x = digits.x_train.reshape(-1, 64).astype(np.float64)
    start = got[0]
    batches = [draw.choice(len(x), 32) for _ in range(60)]
    data = {"sizes": [64, 100, 10], "parameters": start, "before": [np.zeros(p.shape) for p in start]}
    data |= {"x": x, "labels": digits.y_train, "lr": 0.2, "batches": batches}
    after = student.run(fitted, **data)[0]
    wrong = compare_form("the parameters", list(after.values()), start)
    expect.true(wrong is None, wrong.sentence if wrong else "", kind=wrong.kind if wrong else "")
    w1, b1, w2, b2 = after.values()
    scores = np.maximum(digits.x_test.reshape(-1, 64) @ w1 + b1, 0) @ w2 + b2
    right = float(np.mean(np.argmax(scores, axis=1) == digits.y_test))
    expect.at_least("the share of held-out digits read right", right, 0.7)


# --- shared ---------------------------------------------------------------------------------------------------------


def some_programs(draw, operations, count, most=7, **options):
    """Random programs of 1 to `most` steps, the smallest first."""
    decimals = 1 if draw.demonstration else None
    sizes = 1 + np.arange(count) * most // count
    programs = [draw_program(draw.generator, operations, int(n), decimals=decimals, **options) for n in sizes]
    return sorted(programs, key=lambda p: (len(p.steps), sum(leaf.size for leaf in p.leaves.values())))


def as_data(program):
    return {"code": program.code(), "leaves": dict(program.leaves), "gradient": program.gradient}


def require_programs(student, reference, expect, programs):
    """Programs give the right values and gradients; of one that does not, the smallest part that does not is named."""
    for part in filter(None, (programs[:40], programs[40:])):
        data = in_a_row(part)
        got, wanted = student.run(run_programs, **data), reference.run(run_programs, **data)
        if compare("", got, wanted) is None:
            continue
        mine, right = taken_apart(*got, part), taken_apart(*wanted, part)
        for k, program in enumerate(part):
            if compare("", mine[k], right[k]) is not None:
                for simple in simpler_ones(program):
                    alone = as_data(simple)
                    answers = student.run(run_program, **alone), reference.run(run_program, **alone)
                    expect.close(*answers, names=simple.names)
                expect.close(mine[k], right[k], names=program.names)


def require_codes(student, reference, draw, expect, codes, shape):
    """Operations that no random program has, each of one tensor of this shape, give the right values and gradients."""
    for code in codes:
        leaf = draw.normal(shape)
        names = {"x0": leaf}
        exec(code, names)
        data = {"code": code, "leaves": {"x0": leaf}, "gradient": draw.normal(np.shape(names["y"]))}
        got, wanted = student.run(run_program, **data), reference.run(run_program, **data)
        expect.close(
            got,
            wanted,
            names=[f"{name} of `{code.removeprefix('import numpy as np; ')}`" for name in ("y.data", "x0.grad")],
        )


def in_a_row(programs):
    """Programs as data with few arrays: all numbers in one."""
    texts, numbers = [], []
    for program in programs:
        arrays = [*program.leaves.values(), program.gradient]
        texts.append([program.code(), {name: leaf.shape for name, leaf in program.leaves.items()}, arrays[-1].shape])
        numbers += [array.ravel() for array in arrays]
    return {"programs": texts, "numbers": np.concatenate(numbers)}


def taken_apart(numbers, shapes, programs):
    """The answers to programs, each a list of arrays; None for those after the last."""
    at, place, answers = 0, 0, []
    for program in programs:
        own = []
        for _ in program.names:
            if at < len(shapes):
                shape = tuple(int(n) for n in shapes[at + 1 : at + 1 + int(shapes[at])])
                own.append(numbers[place : place + int(np.prod(shape))].reshape(shape))
                at, place = at + 1 + len(shape), place + own[-1].size
        answers.append(own or None)
    return answers


def require_protection(student, reference, draw, expect, codes, shape=(2,), shape_of_y=None):
    """A backward pass after a change in place raises RuntimeError, or gives the gradients for the old numbers. (In the
    first case run_changed answers with the gradients of an unchanged program.)
    """
    # All are asked before one is compared: only the last operation may be the unprotected one.
    asked = []
    for code in codes:
        # No two entries are the same: a matrix that is its own transpose would hide a mistake.
        leaves = {x: 0.5 + np.abs(draw.normal(shape)) for x in ("x0", "x1", "c0") if x in code}
        data = {"code": code, "leaves": leaves, "gradient": np.abs(draw.away_from_zero(shape_of_y or shape))}
        asked += [(data, changed) for changed in (*leaves, "y")]
    got = [student.run(run_changed, **data, changed=changed) for data, changed in asked]
    for mine, (data, changed) in zip(got, asked, strict=True):
        names = [
            f"{x}.grad of `{data['code']}`, with {changed} changed in place before,"
            for x in data["leaves"]
            if x[0] == "x"
        ]
        expect.close(mine, reference.run(run_program, **data)[1:], names=names)


def with_arrays(draw):
    """Single operations of a tensor with a NumPy array, on either side, and with numbers."""
    array = "[2.0, -4.0]"
    codes = [f"y = x0 {sign} np.array({array})" for sign in "+-*/"]
    codes += [f"y = np.array({array}) {sign} x0" for sign in "+-*/"]
    codes += [f"y = {number} {sign} x0" for sign in "+-*/" for number in (2, 0.5)]
    for code in codes:
        leaves = {"x0": draw.away_from_zero((2,), 0.5)}
        yield {"code": f"import numpy as np; {code}", "leaves": leaves, "gradient": draw.away_from_zero((2,))}
    column = "[[2.0], [-4.0]]"
    for code in (f"{x} {sign} {y}" for sign in "+-*/" for x, y in (("x0", "c"), ("c", "x0"))):
        leaves = {"x0": draw.away_from_zero((2,), 0.5)}
        code = f"import numpy as np; c = np.array({column}); y = {code}"
        yield {"code": code, "leaves": leaves, "gradient": draw.away_from_zero((2, 2))}


def network(draw, sizes):
    """Parameters of a network: weights and biases in turn."""
    found = []
    for n_in, n_out in itertools.pairwise(sizes):
        found += [draw.normal((n_in, n_out)), draw.normal((n_out,), 0.5)]
    return found


def normal_like(values):
    """Whether about 68% of the values are within one standard deviation, as for a normal distribution."""
    return abs(np.mean(np.abs(values) < np.std(values)) - 0.683) < 0.04
