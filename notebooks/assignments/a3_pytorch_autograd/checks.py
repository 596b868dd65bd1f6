"""The hidden checks of a3: the sentences of the notebook, on inputs that nobody has seen.

Each docstring is what the student reads. First derivatives of the student's own operations are held against central
differences that the judge takes of the formula, everything else against the reference. Cases go from small to large;
square ones come where a swapped axis has the right shape and only its values tell.
"""

from __future__ import annotations

import numpy as np
import pytest
from probes import (
    all_derivatives,
    by_hand,
    gradients_of,
    optimizers_at_work,
    penalty_and_gradients,
    power_scale_after_change,
    power_scale_gradients,
    power_scale_second,
    power_scale_value,
    products,
    routes_by_hand,
    squareplus_after_change,
    squareplus_gradient,
    squareplus_on_meta,
    squareplus_second,
    squareplus_value,
    trained,
)

from autograder.judge import Tensor
from course_lib.checks.oracles import slopes

DTYPES = pytest.mark.parametrize("dtype", ["float64", "float32"])
NEAR = {
    "float64": {"rtol": 1e-8, "atol": 1e-8},
    "float32": {"rtol": 2e-4, "atol": 1e-4},
}
"""how near a gradient must be to a central difference of moderate size, by the dtype that it was computed in"""

# --- 1. manual_gradients --------------------------------------------------------------------------------------------

BY_HAND = ("loss", "grad_x", "grad_w", "grad_b")
TABLES = [(2, 3), (3, 2), (3, 3), (1, 4), (4, 1), (5, 4)]


@pytest.mark.cell("test_manual_gradients")
@DTYPES
@pytest.mark.parametrize("table", TABLES)
def test_loss_by_hand(student, reference, draw, expect, table, dtype):
    """Inside inference mode the loss is right for any N and D."""
    data = neuron(draw, table, dtype)
    (loss, *_), _ = gradients_by_hand(student, expect, data)
    expect.close(loss, reference.run(by_hand, **data)[0][0], "loss")
    if isinstance(loss, Tensor):
        fault = "manual-loss-in-float32" if loss.dtype == "float32" else stays_wide({"loss": loss}, dtype)
        of_dtype(expect, {"loss": loss}, dtype, fault=fault)


@pytest.mark.cell("test_manual_gradients", weight=2)
@DTYPES
@pytest.mark.parametrize("table", TABLES)
def test_gradients_by_hand(student, reference, draw, expect, flag, table, dtype):
    """Inside inference mode the three gradients are right, with the shapes of x, w and b and with their dtype."""
    data = neuron(draw, table, dtype)
    (_, *got), _ = gradients_by_hand(student, expect, data)
    expect.close(got, reference.run(by_hand, **data)[0][1:], names=BY_HAND[1:])
    named = dict(zip(BY_HAND[1:], got, strict=True))
    of_dtype(expect, named, dtype, fault=stays_wide(named, dtype))
    if table == TABLES[0]:
        seen = student.run(routes_by_hand, **{name: data[name] for name in ("x", "w", "b")})
        expect.close(seen["returned"][1:], reference.run(by_hand, **data)[0][1:], "the gradients", names=BY_HAND[1:])
        if used := seen["used"]:
            flag(f"manual_gradients should be done by hand; {', '.join(map(str, used))} worked while it ran (observed)")


@pytest.mark.cell("test_manual_gradients", weight=1.5)
@DTYPES
@pytest.mark.parametrize("z", [8.0, 20.0, (20.0, 0.5)])
def test_gradients_of_saturated_entries_by_hand(student, reference, draw, expect, z, dtype):
    """Inside inference mode the three gradients are right to three digits where |z| is large, in one row or both."""
    # z has the sign of x: what is summed for w does not cancel.
    data = neuron(draw, (2, 1), dtype)
    sizes = np.reshape(z, (-1, 1))
    data["b"] = (np.sign(data["x"]) * sizes - data["x"] * data["w"]).astype(dtype)
    (_, *got), _ = gradients_by_hand(student, expect, data)
    wanted = reference.run(by_hand, **data)[0][1:]
    expect.form(got, wanted, names=BY_HAND[1:])
    # The cases with the smaller z have passed, in both dtypes.
    zero = z == 20.0 and dtype == "float64" and all(isinstance(v, Tensor) and not np.any(v.array) for v in got)
    found = "All three gradients are zero everywhere."
    expect.true(not zero, found, kind="zero", fault="manual-slope-rounded-in-float64-too")
    sizes = [[np.abs(getattr(value, "array", value)) for value in values] for values in (got, wanted)]
    large = z == 20.0 and all(np.all(mine > 50 * right) for mine, right in zip(*sizes, strict=True))
    found = "All three gradients are more than 50 times too large."
    expect.true(not large, found, kind="large", fault="manual-slope-bounded")
    expect.close(got, wanted, names=BY_HAND[1:], rtol=1e-3, atol=0)


@pytest.mark.cell("test_manual_gradients", weight=1.5)
@pytest.mark.parametrize("layout", ["plain", "transposed", "strided"])
def test_non_contiguous_by_hand(student, reference, draw, expect, layout):
    """Loss and gradients are right for contiguous and non-contiguous tensors, also in a second call with them."""
    data = neuron(draw, (3, 4), layout=layout)
    got, again = gradients_by_hand(student, expect, data)
    wanted = reference.run(by_hand, **data)[0]
    expect.close(got, wanted, names=BY_HAND)
    expect.close(again, wanted, names=[f"{name} of a second call with the same tensors" for name in BY_HAND])


def stays_wide(named, dtype):
    """The mistake, if some of the values are float64 where float32 came and all others are as they should be."""
    found = {value.dtype if isinstance(value, Tensor) else "no tensor" for value in named.values()}
    return "manual-stays-in-float64" if dtype == "float32" and found <= {"float32", "float64"} else ""


def neuron(draw, table, dtype="float64", layout="plain"):
    n, d = table
    x, w, b = draw.away_from_zero((n, d), dtype=dtype), draw.away_from_zero((d,), dtype=dtype), draw.normal((n, 1))
    return {"x": x, "w": w, "b": b.astype(dtype), "layout": layout}


def gradients_by_hand(student, expect, data):
    """What `manual_gradients` returned, and what a second call returned."""
    first, second = student.run(by_hand, **data)
    return tuple(parts(expect, "manual_gradients", returned, BY_HAND) for returned in (first, second))


# --- 2. gradients ---------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_gradients", weight=2)
@DTYPES
@pytest.mark.parametrize(
    ("kinds", "layout"),
    [
        (("plain",), "plain"),
        (("leaf", "plain"), "plain"),
        (("filled", "leaf"), "plain"),
        (("result", "plain", "result"), "plain"),
        (("leaf", "plain", "plain"), "transposed"),
        (("plain", "plain", "leaf"), "strided"),
        (("plain", "leaf", "plain", "plain"), "plain"),
    ],
)
def test_gradients_of_any_tensor(student, reference, draw, expect, kinds, layout, dtype):
    """The gradients are right for leaves, results of other operations and non-contiguous tensors. Here f
    is a product of sums of sines, plus the sum of the squares of the first tensor.
    """
    data = tensors_for_gradients(draw, kinds, layout, dtype)
    got = student.run(gradients_of, **data)
    wanted = reference.run(gradients_of, **data)["gradients"]
    expect.close(got["gradients"], wanted, "the gradients", names=[f"gradient {i}" for i in range(len(wanted))])
    of_dtype(expect, {f"gradient {i}": value for i, value in enumerate(got["gradients"])}, dtype)


@pytest.mark.cell("test_gradients")
@DTYPES
@pytest.mark.parametrize("uses", [[1], [0], [2, 0]])
def test_zeros_for_what_is_not_used(student, reference, draw, expect, uses, dtype):
    """A tensor that f does not use has a gradient of zeros, of its dtype; the others are right."""
    data = tensors_for_gradients(draw, ("plain", "leaf", "plain"), dtype=dtype, uses=uses)
    got = student.run(gradients_of, **data)
    wanted = reference.run(gradients_of, **data)["gradients"]
    expect.close(got["gradients"], wanted, "the gradients", names=[f"gradient {i}" for i in range(len(wanted))])
    dtypes = [value.dtype if isinstance(value, Tensor) else "" for value in got["gradients"]]
    others = {i: found for i, found in enumerate(dtypes) if found != dtype}
    of_zeros = not set(uses) & set(others) and set(others.values()) == {"float32"}
    fault = "gradients-zeros-in-float32" if of_zeros else ""
    of_dtype(expect, {f"gradient {i}": value for i, value in enumerate(got["gradients"])}, dtype, fault=fault)


@pytest.mark.cell("test_gradients")
@pytest.mark.parametrize(
    ("kinds", "uses"),
    [
        (("plain", "leaf"), None),
        (("filled", "plain"), None),
        (("filled", "leaf", "result"), None),
        (("plain", "filled", "leaf"), [0]),
    ],
)
def test_gradients_leave_no_trace(student, reference, draw, expect, kinds, uses):
    """The gradients are right and carry no graph; requires_grad and .grad of all tensors are as before."""
    data = tensors_for_gradients(draw, kinds, uses=uses) | {"traces": True}
    got = student.run(gradients_of, **data)
    wanted = reference.run(gradients_of, **data)
    expect.close(got["gradients"], wanted["gradients"], "the gradients")
    marked = "requires_grad of the given tensors"
    expect.equal(got["requires_grad"], [kind != "plain" for kind in kinds], marked)
    filled = [np.ones(a.shape) if k == "filled" else None for a, k in zip(data["arrays"], kinds, strict=True)]
    for place, (grad, before) in enumerate(zip(got["grad"], filled, strict=True)):
        as_before(expect, grad, before, f"`.grad` of the given tensor number {place + 1}")
    as_before(expect, got["grad of another tensor"], None, "`.grad` of a tensor that f uses without being given it")
    expect.equal(got["with a graph"], [False] * len(kinds), "requires_grad of the gradients")
    expect.equal(got["values"], data["arrays"], "the given tensors")


def tensors_for_gradients(draw, kinds, layout="plain", dtype="float64", uses=None):
    """Columns fit the scale, which has two entries or one."""
    shapes = [(2,), (3, 2), (2, 1, 2), ()][: len(kinds)]
    arrays = [draw.away_from_zero(shape, dtype=dtype) for shape in shapes]
    scale = draw.away_from_zero((2,), 0.5, dtype=dtype)
    uses = list(range(len(kinds))) if uses is None else uses
    return {"arrays": arrays, "scale": scale, "kinds": list(kinds), "layout": layout, "uses": uses}


def as_before(expect, got, before, name):
    """Nothing was filled in, or what was filled in already is untouched."""
    changed = f"{name} was {'None' if before is None else 'filled with ones'} and is different after the call."
    if before is None:
        expect.true(got is None, changed, kind="changed")
    else:
        same = isinstance(got, Tensor) and np.array_equal(got.array, before)
        expect.true(same, changed, kind="changed")


# --- 3. vjp and jacobian --------------------------------------------------------------------------------------------

# (shape of x, shape of f(x)); square ones soon, for a transposed matrix has the right shape there
MAPS = [((2,), (3,)), ((3,), (3,)), ((3,), (1,)), ((2, 2), (2, 2)), ((2, 3), (3, 2)), ((1, 3), (2, 1, 2))]


@pytest.mark.cell("test_jacobian")
@DTYPES
@pytest.mark.parametrize("shapes", MAPS)
def test_vector_jacobian_products(student, reference, draw, expect, shapes, dtype):
    """vjp returns f(x) and the gradient of sum(v * f(x)), for any v. Here f is the sine of a matrix times x."""
    data = product(draw, shapes, dtype)
    got, wanted = student.run(products, **data), reference.run(products, **data)
    expect.close([got["y"], got["grad"]], [wanted["y"], wanted["grad"]], names=("y", "grad"))
    of_dtype(expect, {"y": got["y"], "grad": got["grad"]}, dtype)


@pytest.mark.cell("test_jacobian")
@DTYPES
@pytest.mark.parametrize("shapes", MAPS)
def test_jacobians(student, reference, draw, expect, shapes, dtype):
    """jacobian has the shape f(x).shape + x.shape and the right derivatives. Here f is the sine of a matrix times x."""
    data = derivatives(draw, shapes, dtype)
    got, wanted = student.run(all_derivatives, **data), reference.run(all_derivatives, **data)
    expect.close(got["jacobian"], wanted["jacobian"], "jacobian(f, x)")
    narrow = isinstance(got["jacobian"], Tensor) and got["jacobian"].dtype == "float32"
    of_dtype(expect, {"jacobian(f, x)": got["jacobian"]}, dtype, fault="jacobian-in-float32" if narrow else "")


@pytest.mark.cell("test_jacobian")
@pytest.mark.parametrize("layout", ["transposed", "strided"])
@pytest.mark.parametrize("shapes", [((2, 3), (3, 2)), ((3, 2), (4,))])
def test_products_and_jacobians_of_non_contiguous_tensors(student, reference, draw, expect, shapes, layout):
    """vjp and jacobian are right for non-contiguous x and v."""
    data = product(draw, shapes, layout=layout)
    got, wanted = student.run(products, **data), reference.run(products, **data)
    expect.close([got["y"], got["grad"]], [wanted["y"], wanted["grad"]], names=("y", "grad"))
    data = derivatives(draw, shapes, layout=layout)
    got, wanted = student.run(all_derivatives, **data), reference.run(all_derivatives, **data)
    expect.close(got["jacobian"], wanted["jacobian"], "jacobian(f, x)")


@pytest.mark.cell("test_jacobian")
@pytest.mark.parametrize("kind", ["plain", "leaf", "filled", "weight"])
def test_jacobians_leave_no_trace(student, reference, draw, expect, kind):
    """Both results are right and carry no graph, whatever requires gradients; x and its .grad are as before."""
    shapes = (3,), (2,)
    data = product(draw, shapes, kind=kind) | {"traces": True}
    got, wanted = student.run(products, **data), reference.run(products, **data)
    expect.close([got["y"], got["grad"]], [wanted["y"], wanted["grad"]], names=("y", "grad"))
    without_graphs(expect, got["with a graph"], [False, False], "(y, grad)", kind)
    untouched(expect, got, data)
    data = derivatives(draw, shapes, kind=kind) | {"traces": True}
    got, wanted = student.run(all_derivatives, **data), reference.run(all_derivatives, **data)
    expect.close(got["jacobian"], wanted["jacobian"], "jacobian(f, x)")
    without_graphs(expect, got["with a graph"], False, "jacobian(f, x)", kind)
    untouched(expect, got, data)


def without_graphs(expect, got, wanted, of, kind):
    if kind == "weight":
        sentence = f"Where f uses a tensor that requires gradients, requires_grad of {of} is {got}; "
        sentence += f"it should be {wanted}."
        expect.true(got == wanted, sentence)
    if kind != "plain":
        sentence = f"With an x that requires gradients, requires_grad of {of} is {got}; it should be {wanted}."
        expect.true(got == wanted, sentence, fault="vjp-and-jacobian-carry-graphs")
    expect.equal(got, wanted, f"requires_grad of {of}")


def untouched(expect, got, data):
    kind, x = data["kind"], data["x"]
    before, after = kind in ("leaf", "filled"), got["requires_grad of x"]
    sentence = "An x that requires gradients does not require them any more after the call."
    expect.true(after or not before, sentence, kind="changed", fault="x-left-unmarked")
    expect.equal(after, before, "requires_grad of x after the call")
    as_before(expect, got["grad of x"], np.ones(x.shape) if kind == "filled" else None, "`.grad` of x")
    expect.equal(got["x"], x, "x after the call")
    if "v" in data:
        expect.equal(got["v"], data["v"], "v after the call")


def product(draw, shapes, dtype="float64", layout="plain", kind="plain"):
    v = draw.away_from_zero(shapes[1], 0.5, dtype=dtype)
    return derivatives(draw, shapes, dtype, layout, kind, with_shape=False) | {"v": v}


def derivatives(draw, shapes, dtype="float64", layout="plain", kind="plain", *, with_shape=True):
    x, y = shapes
    mixing = draw.away_from_zero((int(np.prod(y)), int(np.prod(x))), 0.3, dtype=dtype)
    data = {"x": draw.away_from_zero(x, 0.3, dtype=dtype), "mixing": mixing, "layout": layout, "kind": kind}
    return data | ({"shape": list(y)} if with_shape else {})


# --- 4. Squareplus --------------------------------------------------------------------------------------------------

LAYOUTS = [("plain", (3,)), ("plain", (2, 3)), ("transposed", (3, 2)), ("strided", (2, 1, 3)), ("plain", ())]


@pytest.mark.cell("test_squareplus")
@DTYPES
@pytest.mark.parametrize(("layout", "shape"), LAYOUTS)
def test_squareplus(student, draw, expect, layout, shape, dtype):
    """Squareplus.apply(x) is right for x of any shape, has the dtype of x, and is right again for the same x."""
    x = draw.normal(shape, 2.0, dtype)
    y, again = student.run(squareplus_value, x=x, layout=layout)
    expect.close(y, squareplus(x).astype(dtype), "y")
    of_dtype(expect, {"y": y}, dtype, fault="squareplus-in-float32" if y.dtype == "float32" else "")
    expect.close(again, squareplus(x).astype(dtype), "y of a second call with the same x")


@pytest.mark.cell("test_squareplus")
@DTYPES
@pytest.mark.parametrize(("layout", "shape"), LAYOUTS)
def test_squareplus_gradient(student, draw, expect, layout, shape, dtype):
    """y is right, and whatever gradient v comes in, the one that goes out agrees with central differences of
    sum(v * y), also in a second call with the same v.
    """
    x, v = draw.normal(shape, 2.0, dtype), draw.away_from_zero(shape, 0.3, dtype=dtype)
    other = draw.normal(shape, 2.0, dtype)
    y, got, again = student.run(squareplus_gradient, x=x, other=other, v=v, layout=layout)
    expect.close(y, squareplus(x).astype(dtype), "y")
    wanted = slopes(lambda moved: np.sum(v * squareplus(moved)), x, 1e-3)
    expect.close(got, wanted, "the gradient", **NEAR[dtype])
    expect.close(again, wanted, "the gradient of a second call with the same v", **NEAR[dtype])
    of_dtype(expect, {"the gradient": got}, dtype)


@pytest.mark.cell("test_squareplus", weight=2)
@pytest.mark.parametrize(("layout", "shape"), LAYOUTS[:3])
def test_squareplus_twice(student, reference, draw, expect, layout, shape):
    """The gradient can be differentiated again: with respect to x and to the gradient v that came in."""
    data = {"x": draw.normal(shape, 1.0), "v": draw.away_from_zero(shape, 0.3), "u": draw.away_from_zero(shape, 0.3)}
    data["layout"] = layout
    got, wanted = student.run(squareplus_second, **data), reference.run(squareplus_second, **data)
    names = ("the gradient", "its derivative with respect to x", "its derivative with respect to v")
    expect.close(got, wanted, names=names)


@pytest.mark.cell("test_squareplus", weight=2)
@pytest.mark.parametrize("which", ["x", "y"])
def test_squareplus_notices_changes(student, draw, expect, which):
    """The gradient is right; if x or y is changed before the backward pass, that raises or uses the old values."""
    x, v = draw.away_from_zero((3,), 0.5), draw.away_from_zero((3,), 0.3)
    wanted = slopes(lambda moved: np.sum(v * squareplus(moved)), x, 1e-3)
    _, got, _ = student.run(squareplus_gradient, x=x, other=x, v=v, layout="plain")
    expect.close(got, wanted, "the gradient", **NEAR["float64"])
    got = student.run(squareplus_after_change, x=x, v=v, which=which)
    if got != "raised":
        expect.close(got, wanted, "the gradient", **NEAR["float64"])


@pytest.mark.cell("test_squareplus", weight=2)
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_squareplus_on_meta(student, draw, expect, shape):
    """On the device "meta" both passes run, and y and the gradient have the shape of x."""
    y, gradient, device = student.run(squareplus_on_meta, shape=list(shape))
    expect.equal([list(y), list(gradient), device], [list(shape), list(shape), "meta"], "the shapes")


def squareplus(x):
    x = np.asarray(x, dtype=np.float64)
    return (x + np.sqrt(x**2 + 4)) / 2


# --- 5. PowerScale --------------------------------------------------------------------------------------------------

# shape of a, shape of b, power
SCALES = [
    ((2, 3), (2, 3), 2),
    ((2, 3), (3,), 3),
    ((3, 3), (3, 1), 2),
    ((3, 2), (3, 1), 1.5),
    ((4,), (3, 4), -1),
    ((2, 1), (1, 3), 0.5),
    ((2, 3), (), 2),
    ((2, 1, 3), (2, 1), 1),
    ((3, 3), (3, 3), 3),
]


@pytest.mark.cell("test_power_scale")
@DTYPES
@pytest.mark.parametrize("scale", SCALES)
def test_power_scale(student, draw, expect, scale, dtype):
    """PowerScale.apply(a, b, power) is right for shapes that are broadcast, and right again for the same a and b."""
    data = scaled(draw, scale, dtype)
    y, again = student.run(power_scale_value, **data, layout="plain")
    expect.close(y, power_scale(**data).astype(dtype), "y")
    of_dtype(expect, {"y": y}, dtype)
    expect.close(again, power_scale(**data).astype(dtype), "y of a second call with the same a and b")


@pytest.mark.cell("test_power_scale")
@pytest.mark.parametrize(
    ("scale", "layout"),
    [(scale, "plain") for scale in SCALES]
    + [(SCALES[k], layout) for k in (1, 3) for layout in ("transposed", "strided")],
)
def test_power_scale_gradients(student, draw, expect, scale, layout):
    """y is right, and both gradients agree with central differences of sum(v * y), for contiguous and non-contiguous
    a and b, also in a second call with the same v.
    """
    data = scaled(draw, scale)
    if data["a"].ndim > 1:
        data["a"].flat[0] = 0.0  # only b is promised to be positive
    data["v"] = draw.away_from_zero(np.broadcast_shapes(*scale[:2]), 0.3)
    y, got, again = student.run(power_scale_gradients, **data, wanted=["a", "b"], layout=layout)
    expect.close(y, power_scale(data["a"], data["b"], data["power"]), "y")
    wanted = measured(data, ("a", "b"))
    expect.close(got, wanted, "the gradient", **NEAR["float64"])
    expect.close(again, wanted, "the gradient of a second call with the same v", **NEAR["float64"])


@pytest.mark.cell("test_power_scale", weight=2)
@DTYPES
@pytest.mark.parametrize("wanted", ["a", "b"])
@pytest.mark.parametrize("scale", SCALES[:4])
def test_power_scale_for_one_input(student, draw, expect, scale, wanted, dtype):
    """Where only a or only b requires gradients, that gradient is right and has its dtype."""
    data = scaled(draw, scale, dtype)
    data["a"].flat[0] = 0.0
    data["v"] = draw.away_from_zero(np.broadcast_shapes(*scale[:2]), 0.3, dtype=dtype)
    _, got, _ = student.run(power_scale_gradients, **data, wanted=[wanted], layout="plain")
    expect.close(got, measured(data, (wanted,)), "the gradient", **NEAR[dtype])
    of_dtype(expect, got, dtype)


@pytest.mark.cell("test_power_scale", weight=2)
@pytest.mark.parametrize(
    ("scale", "layout"),
    [
        (((3,), (3,), 3), "plain"),
        (((2, 3), (3,), 2), "plain"),
        (((3, 1), (1, 2), 3), "plain"),
        (((2, 3), (3,), 3), "strided"),
    ],
)
def test_power_scale_twice(student, reference, draw, expect, scale, layout):
    """The gradients can be differentiated again: with respect to a, b and the gradient v that came in, also where a
    or b alone requires gradients.
    """
    data = scaled(draw, scale)
    data["v"] = draw.away_from_zero(np.broadcast_shapes(*scale[:2]), 0.3)
    data |= {"us": [draw.away_from_zero(shape, 0.3) for shape in scale[:2]], "layout": layout}
    got, wanted = student.run(power_scale_second, **data), reference.run(power_scale_second, **data)
    expect.close(got[0], wanted[0], names=("the gradient for a", "the gradient for b"))
    expect.close(got[1], wanted[1], names=[f"the second derivative with respect to {name}" for name in "abv"])
    for alone in "ba":
        got, wanted = (of.run(power_scale_second, **data, alone=alone) for of in (student, reference))
        names = [
            f"the second derivative with respect to {name}, where {alone} alone requires gradients,"
            for name in (alone, "v")
        ]
        expect.close(got[1], wanted[1], names=names)


@pytest.mark.cell("test_power_scale", weight=2)
@pytest.mark.parametrize("which", ["a", "b"])
def test_power_scale_notices_changes(student, draw, expect, which):
    """Both gradients are right; if a or b is changed before the backward pass, that raises or uses the old values."""
    data = scaled(draw, ((2, 3), (3,), 2))
    data["v"] = draw.away_from_zero((2, 3), 0.3)
    wanted = measured(data, ("a", "b"))
    _, got, _ = student.run(power_scale_gradients, **data, wanted=["a", "b"], layout="plain")
    expect.close(got, wanted, "the gradient", **NEAR["float64"])
    got = student.run(power_scale_after_change, **data, which=which)
    if got != "raised":
        names = ("the gradient for a", "the gradient for b")
        expect.close(got, list(wanted.values()), names=names, **NEAR["float64"])


def scaled(draw, scale, dtype="float64"):
    a, b, power = scale
    return {"a": draw.away_from_zero(a, 0.3, dtype=dtype), "b": draw.uniform(b, 0.6, 2.0, dtype), "power": power}


def power_scale(a, b, power):
    return np.asarray(a, dtype=np.float64) * np.asarray(b, dtype=np.float64) ** power


def measured(data, names):
    """Central differences of sum(v * y) with respect to the inputs of these names."""

    def along(name):
        return lambda moved: np.sum(data["v"] * power_scale(**{**inputs, name: moved}))

    inputs = {name: data[name] for name in ("a", "b", "power")}
    return {name: slopes(along(name), data[name], 1e-3) for name in names}


# --- 6. penalized_loss ----------------------------------------------------------------------------------------------

# N, D, H
# The first is such that a factor 1/N, 1/D or 1/2 is no other one.
MODELS = [(4, 3, 2), (3, 2, 4), (1, 3, 2), (5, 1, 3)]


@pytest.mark.cell("test_penalized_loss")
@DTYPES
@pytest.mark.parametrize(("sizes", "strength"), [(MODELS[0], 0.3), (MODELS[1], 1.7), (MODELS[2], 2), (MODELS[0], 0)])
def test_penalized_loss(student, reference, draw, expect, sizes, strength, dtype):
    """The loss is right for any N and D and for any strength: a tensor of shape () and of the dtype of x."""
    data = penalized(draw, sizes, strength, dtype)
    got, wanted = student.run(penalty_and_gradients, **data), reference.run(penalty_and_gradients, **data)
    expect.close(got["loss"], wanted["loss"], "the loss", batch=sizes[0])
    of_dtype(expect, {"the loss": got["loss"]}, dtype)


@pytest.mark.cell("test_penalized_loss", weight=2)
@DTYPES
@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("sizes", MODELS)
@pytest.mark.parametrize("spread", [1, 0])
def test_gradients_of_the_penalized_loss(student, reference, draw, expect, sizes, layout, dtype, spread):
    """loss.backward() gives the parameters of f the gradient of both terms. Here f(x) = tanh(x @ W + b) @ u."""
    data = penalized(draw, sizes, 0.7, dtype, layout)
    # A network that starts with zeros answers alike everywhere: all slopes are 0.
    data["params"]["W"] *= spread
    got, wanted = student.run(penalty_and_gradients, **data), reference.run(penalty_and_gradients, **data)
    expect.close(got["of the parameters"], wanted["of the parameters"], "the gradient", batch=sizes[0])


@pytest.mark.cell("test_penalized_loss")
@pytest.mark.parametrize("sizes", MODELS[:2])
@pytest.mark.parametrize("strength", [0.7, 0])
@pytest.mark.parametrize("kind", ["function", "module"])
def test_penalized_loss_leaves_no_trace(student, reference, draw, expect, sizes, strength, kind):
    """The loss is right, also in a second call; x and t do not require gradients after it, and no .grad has changed.
    (Where f is a module, the .grad of its parameters is filled.)
    """
    data = penalized(draw, sizes, strength) | {"with_traces": True, "kind": kind}
    got, wanted = student.run(penalty_and_gradients, **data), reference.run(penalty_and_gradients, **data)
    expect.close(got["loss"], wanted["loss"], "the loss", batch=sizes[0])
    expect.close(got["again"], wanted["again"], "the loss of a second call with the same x and t", batch=sizes[0])
    expect.equal(got["requires_grad"], [False, False], "requires_grad of (x, t) after the call")
    for name, grad in zip("xt", got["grad of x and t"], strict=True):
        as_before(expect, grad, None, f"`.grad` of {name}")
    filled = kind == "module"
    for name, grad in sorted(got["grad"].items()):
        gone = filled and (grad is None or (isinstance(grad, Tensor) and not np.any(grad.array)))
        found = f"`.grad` of the parameter {name} of f was filled with ones, which are gone after the call."
        expect.true(not gone, found, kind="cleared", fault="penalty-clears-gradients")
        before = np.ones(data["params"][name].shape) if filled else None
        as_before(expect, grad, before, f"`.grad` of the parameter {name} of f")


def penalized(draw, sizes, strength, dtype="float64", layout="plain"):
    n, d, h = sizes
    params = {
        "W": draw.normal((d, h), 0.7, dtype),
        "b": draw.normal((h,), 0.5, dtype),
        "u": draw.away_from_zero((h,), 0.5, dtype=dtype),
    }
    x, t = draw.normal((n, d), 1.0, dtype), draw.normal((n,), 1.0, dtype)
    return {"x": x, "t": t, "params": params, "strength": strength, "layout": layout}


# --- 7. train -------------------------------------------------------------------------------------------------------


@pytest.mark.cell("test_train")
@DTYPES
@pytest.mark.parametrize(
    ("steps", "sizes", "layout"),
    [
        (1, (3, 3), "plain"),
        (2, (3, 3), "plain"),
        (3, (3, 3), "plain"),
        (2, (1, 3), "plain"),
        (2, (3, 1), "plain"),
        (2, (3, 2), "transposed"),
        (2, (3, 2), "strided"),
    ],
)
def test_parameters_after_steps(student, reference, draw, expect, flag, steps, sizes, layout, dtype):
    """The parameters are right after one, two and three steps with batches of different sizes, for any D and H, and
    for non-contiguous tensors.
    """
    data = training(draw, steps, dtype=dtype, sizes=sizes) | {"layout": layout}
    got, wanted = student.run(trained, **data), reference.run(trained, **data)
    expect.trajectory(got["params"], wanted["params"], data["params"], steps=steps, name="the parameters")
    of_dtype(expect, got["params"], dtype)
    if (steps, sizes, dtype) == (2, (3, 3), "float64"):
        used = student.run(optimizers_at_work, **{name: data[name] for name in data if name not in ("kind", "layout")})
        if used:
            flag(f"train should do without torch.optim; {', '.join(map(str, used))} took steps in a call (observed)")


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("steps", [1, 3])
def test_losses_before_each_step(student, reference, draw, expect, steps):
    """losses holds the loss of each batch before the step that uses it."""
    data = training(draw, steps)
    got, wanted = student.run(trained, **data), reference.run(trained, **data)
    expect.close(got["losses"], wanted["losses"], "losses", names=[f"losses[{k}]" for k in range(steps)])


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("kind", ["plain", "leaf", "filled"])
def test_given_params_stay(student, reference, draw, expect, kind):
    """The result is right, also in a second call with the same params."""
    for again in (False, True):
        data = training(draw, 2, kind=kind) | {"again": again}
        got, wanted = student.run(trained, **data), reference.run(trained, **data)
        name = "the parameters of a second call with the same params" if again else "the parameters"
        expect.trajectory(got["params"], wanted["params"], data["params"], steps=2, name=name)


@pytest.mark.cell("test_train")
@pytest.mark.parametrize("kind", ["plain", "leaf", "filled", "some"])
def test_ready_for_more_training(student, reference, draw, expect, kind):
    """The result is right, the returned parameters are leaves that require gradients, no loss carries a graph, and
    requires_grad and .grad of the params you were given are as before. A loss that is a tensor has their dtype.
    """
    data = training(draw, 2, kind=kind) | {"traces": True}
    got, wanted = student.run(trained, **data), reference.run(trained, **data)
    expect.trajectory(got["params"], wanted["params"], data["params"], steps=2, name="the parameters")
    expect.equal(got["leaves"], [True] * 4, "is_leaf of the returned parameters")
    expect.equal(got["requires_grad"], [True] * 4, "requires_grad of the returned parameters")
    expect.equal(got["losses with a graph"], [False] * 2, "whether the losses carry a graph")
    numbers = [name for name in got["dtypes of losses"] if name not in ("", "torch.float64")]
    sentence = f"the losses are tensors of {', '.join(numbers)}; what you were given is float64."
    expect.true(not numbers, sentence, kind="dtype")
    marked = [kind in ("leaf", "filled") or (kind == "some" and name in ("b1", "W2")) for name in data["params"]]
    expect.equal(got["given requires_grad"], marked, "requires_grad of the given params")
    for name, grad in zip(data["params"], got["given grad"], strict=True):
        before = np.ones(data["params"][name].shape) if kind == "filled" else None
        as_before(expect, grad, before, f"`.grad` of the given {name}")


def training(draw, steps, kind="plain", dtype="float64", sizes=(3, 3)):
    """Five rows, a network with D and H as in `sizes`, a large learning rate; the second batch is one row."""
    m, (d, h) = 5, sizes
    params = {
        "W1": draw.normal((d, h), 0.8, dtype),
        "b1": draw.normal((h,), 0.5, dtype),
        "W2": draw.away_from_zero((h, 1), 0.5, dtype=dtype),
        "b2": draw.normal((1,), 0.5, dtype),
    }
    # Targets far apart and rows out of order: a target that goes with another row shows.
    rows = np.roll(np.arange(m), 1 + int(draw.integers(0, m - 1, ())))
    t = draw.permutation(m).astype(dtype) - 2 + draw.normal((m,), 0.1, dtype)
    picked = draw.choice(m, 3)
    # A row that stands in a batch twice counts twice.
    batches = [rows[:3], rows[3:4], np.append(picked, picked[:1])][:steps]
    x = draw.normal((m, d), 1.0, dtype)
    return {"x": x, "t": t, "params": params, "learning_rate": 0.2, "batches": batches, "kind": kind}


# --- shared ---------------------------------------------------------------------------------------------------------


def parts(expect, function, returned, names):
    """What `function` returned, once it is known to hold one value for each of `names`."""
    form = f"the tuple ({', '.join(names)})"
    several = type(returned) in (tuple, list)
    found = f"{len(returned)} value{'s' * (len(returned) != 1)}" if several else type(returned).__name__
    sentence = f"{function} should return {form}; it returned {found}."
    expect.true(several and len(returned) == len(names), sentence, yours=found, expected=form, kind="length")
    return returned


def of_dtype(expect, named, dtype, fault=""):
    """Each of the values is a tensor of this dtype."""
    for name, value in named.items():
        found = value.dtype if isinstance(value, Tensor) else f"a {type(value).__name__}"
        sentence = f"{name} is {found}; it should be a tensor of {dtype}, the dtype of what you were given."
        expect.true(found == dtype, sentence, yours=found, expected=dtype, kind="dtype", fault=fault)
