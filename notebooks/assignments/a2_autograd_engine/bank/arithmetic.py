"""Wrong answers to the arithmetic."""

from autograder.bank import Wrong

BASES = {
    "pairs": """
def unbroadcast(gradient, shape):
    while len(gradient.shape) > len(shape):
        gradient = gradient.sum(0)
    for k in range(len(shape)):
        if shape[k] == 1 != gradient.shape[k]:
            gradient = gradient.sum(k, keepdims=True)
    return gradient


def back_to(a, b, ga, gb):
    return unbroadcast(ga, a.data.shape), unbroadcast(gb, b.data.shape)


def add(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return Tensor.from_op(a.data + b.data, (a, b), lambda g: back_to(a, b, g, g))


def sub(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return Tensor.from_op(a.data - b.data, (a, b), lambda g: back_to(a, b, g, -g))


def mul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return Tensor.from_op(a.data * b.data, (a, b), lambda g: back_to(a, b, b.data * g, a.data * g), [a, b])


def div(a, b):
    a, b = as_tensor(a), as_tensor(b)
    q = a.data / b.data
    return Tensor.from_op(q.copy(), (a, b), lambda g: back_to(a, b, g / b.data, -g * q / b.data), [b])


def neg(a):
    return Tensor.from_op(0 - a.data, (a,), lambda g: (0 - g,))


def power(a, exponent):
    if exponent == 0:
        slope = np.zeros(a.shape)
    else:
        slope = exponent * np.power(a.data, exponent - 1)
    return Tensor.from_op(np.power(a.data, exponent), (a,), lambda g: (slope * g,))
""",
}

WRONG = [
    Wrong(
        "wrong_mul_constants_unsaved",
        "Only factors that require gradients are noted, though each is read for the other.",
    )
    .expect(test_arithmetic="partial:mul-constant-not-saved")
    .breaks("are changed in place before the backward pass")
    .edit("a.data * g), [a, b])", "a.data * g), [t for t in (a, b) if t.requires_grad])"),
    Wrong("wrong_unbroadcast_nothing", "Broadcasting is not undone.")
    .expect(test_arithmetic="partial:broadcasting-not-undone", test_matmul="passed")
    .breaks("It undoes the stretching")
    .edit(
        "    while len(gradient.shape) > len(shape):",
        "    return gradient\n    while len(gradient.shape) > len(shape):",
    ),
    Wrong("wrong_unbroadcast_added_axes_only", "Stretched axes are forgotten.")
    .expect(test_arithmetic="partial:stretched-axes-not-summed")
    .breaks("It undoes the stretching")
    .edit("if shape[k] == 1 != gradient.shape[k]:", "if False:"),
    Wrong("wrong_unbroadcast_drops", "The stretched axis is dropped.")
    .expect(test_arithmetic="partial:stretched-axes-dropped")
    .whole("""
def unbroadcast(gradient, shape):
    lead = gradient.ndim - len(shape)
    axes = (*range(lead), *(lead + k for k, n in enumerate(shape) if n == 1))
    return gradient.sum(axis=axes)


def add(a, b):
    a, b = as_tensor(a), as_tensor(b)
    return Tensor.from_op(a.data + b.data, (a, b), lambda g: (unbroadcast(g, a.shape), unbroadcast(g, b.shape)))


def neg(a):
    return Tensor.from_op(-a.data, (a,), lambda g: (-g,))


def sub(a, b):
    return add(a, neg(as_tensor(b)))


def mul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    vjp = lambda g: (unbroadcast(g * b.data, a.shape), unbroadcast(g * a.data, b.shape))
    return Tensor.from_op(a.data * b.data, (a, b), vjp, (a, b))


def power(a, exponent):
    vjp = lambda g: (g * (exponent * a.data ** (exponent - 1) if exponent else 0),)
    return Tensor.from_op(a.data**exponent, (a,), vjp, (a,))


def div(a, b):
    return mul(a, power(as_tensor(b), -1))
"""),
    Wrong("wrong_unbroadcast_mean", "Averages over the uses.")
    .expect(test_arithmetic="partial:broadcasting-averaged")
    .edit("gradient.sum(0)", "gradient.mean(0)")
    .edit("gradient.sum(k, keepdims=True)", "gradient.mean(k, keepdims=True)"),
    Wrong("wrong_unbroadcast_last_axes", "Sums over the last axes.")
    .expect(test_arithmetic="partial:wrong-axes-summed")
    .edit("gradient.sum(0)", "gradient.sum(-1)"),
    Wrong("wrong_add_not_unbroadcast", "add hands the gradient on in the shape of the sum.")
    .expect(test_arithmetic="partial:add-not-unbroadcast")
    .breaks("Their shapes may differ")
    .edit("lambda g: back_to(a, b, g, g)", "lambda g: (g, g)"),
    Wrong("wrong_mul_not_unbroadcast", "mul hands the gradients on in the shape of the product.")
    .expect(test_arithmetic="partial:mul-not-unbroadcast")
    .breaks("Their shapes may differ")
    .edit("back_to(a, b, b.data * g, a.data * g)", "(b.data * g, a.data * g)"),
    Wrong("wrong_sub_sign", "The gradient of the second operand lacks its sign.")
    .expect(test_arithmetic="partial:sub-sign")
    .edit("back_to(a, b, g, -g)", "back_to(a, b, g, g)"),
    Wrong("wrong_sub_swapped", "Computes b - a, with gradients of a - b.")
    .expect(test_arithmetic="partial:sub-swapped")
    .breaks("They compute `a + b`, `a - b`")
    .edit("a.data - b.data", "b.data - a.data"),
    Wrong("wrong_mul_swapped", "Each factor gets itself.")
    .expect(test_arithmetic="partial:mul-factors-swapped")
    .edit("b.data * g, a.data * g", "a.data * g, b.data * g"),
    Wrong("wrong_div_sign", "The sign of the denominator's gradient.")
    .expect(test_arithmetic="partial:div-sign")
    .edit("-g * q / b.data", "g * q / b.data"),
    Wrong("wrong_div_square", "One b too few.")
    .expect(test_arithmetic="partial:div-square-missing")
    .edit("-g * q / b.data", "-g * q"),
    Wrong("wrong_div_numerator", "The gradient of 1 / b.")
    .expect(test_arithmetic="partial:div-numerator-missing")
    .edit("-g * q / b.data", "-g / (b.data * b.data)"),
    Wrong("wrong_neg", "The gradient of -a has no sign.")
    .expect(test_arithmetic="partial:neg-sign")
    .edit("lambda g: (0 - g,)", "lambda g: (g,)"),
    Wrong("wrong_power_factor", "The factor is missing.")
    .expect(test_arithmetic="partial:power-factor-missing")
    .edit("exponent * np.power(a.data, exponent - 1)", "np.power(a.data, exponent - 1)"),
    Wrong("wrong_power_exponent", "The exponent is not lowered.")
    .expect(test_arithmetic="partial:power-exponent-not-lowered")
    .edit("exponent * np.power(a.data, exponent - 1)", "exponent * np.power(a.data, exponent)"),
    Wrong("wrong_power_exponential", "The slope of an exponential.")
    .expect(test_arithmetic="partial:power-as-exponential")
    .edit("exponent * np.power(a.data, exponent - 1)", "np.power(a.data, exponent) * np.log(a.data)"),
    Wrong("wrong_power_zero_at_zero", "Zero times infinity.")
    .expect(test_arithmetic="partial:power-zero-at-zero")
    .breaks("wherever `a ** exponent` has a finite slope")
    .edit("if exponent == 0:", "if exponent is None:"),
    Wrong("wrong_power_at_zero", "Divides by a.")
    .expect(test_arithmetic="partial:power-divides-by-zero")
    .breaks("Values and gradients are right wherever")
    .edit("exponent * np.power(a.data, exponent - 1)", "exponent * np.power(a.data, exponent) / a.data"),
    Wrong("wrong_arithmetic_unprotected", "Nothing is saved.")
    .expect(test_arithmetic="partial:arithmetic-not-protected")
    .breaks("are changed in place before the backward pass")
    .base("plain")
    .edit("vjp, (a, b))  # mul", "vjp)")
    .edit("vjp, (a, b))  # div", "vjp)")
    .edit("vjp, (a,))", "vjp)"),
    Wrong("wrong_div_unprotected", "div saves nothing.")
    .expect(test_arithmetic="partial:div-not-protected")
    .breaks("are changed in place before the backward pass")
    .base("plain")
    .edit("vjp, (a, b))  # div", "vjp)"),
    Wrong("wrong_power_unprotected", "power saves nothing.")
    .expect(test_arithmetic="partial:power-not-protected")
    .breaks("are changed in place before the backward pass")
    .base("plain")
    .edit("vjp, (a,))", "vjp)"),
    Wrong("wrong_numbers", "Numbers and arrays are not made tensors.")
    .expect(test_arithmetic="partial")
    .breaks("or one is a tensor and the other a number or an array")
    .base("plain")
    .edit(
        "    a, b = as_tensor(a), as_tensor(b)\n    vjp = lambda g: (unbroadcast(g * b.data",
        "    vjp = lambda g: (unbroadcast(g * b.data",
    ),
    Wrong("wrong_exponent_tensor", "Returns an array.")
    .expect(test_arithmetic="partial")
    .breaks("and return a tensor")
    .edit("Tensor.from_op(np.power(a.data, exponent), (a,), lambda g: (slope * g,))", "np.power(a.data, exponent)"),
    Wrong("wrong_unbroadcast_break", "The loop ends at the first stretched axis.")
    .expect(test_arithmetic="partial:one-stretched-axis-summed")
    .breaks("holds, for each entry, the sum over all places")
    .edit("sum(k, keepdims=True)", "sum(k, keepdims=True)\n            break"),
    Wrong("wrong_unbroadcast_first_one", "The place of the first 1 in the shape.")
    .expect(test_arithmetic="partial:one-stretched-axis-summed")
    .edit(
        "    for k in range(len(shape)):\n        if shape[k] == 1 != gradient.shape[k]:\n"
        "            gradient = gradient.sum(k, keepdims=True)",
        "    if 1 in shape:\n        gradient = gradient.sum(tuple(shape).index(1), keepdims=True)",
    ),
    Wrong("wrong_div_constants_unsaved", "The same for div.")
    .expect(test_arithmetic="partial:div-constant-not-saved")
    .base("plain")
    .edit("vjp, (a, b))  # div", "vjp, [t for t in (a, b) if t.requires_grad])"),
    Wrong("wrong_constants_unsaved", "The same for both.")
    .expect(test_arithmetic="partial:mul-constant-not-saved+div-constant-not-saved")
    .base("plain")
    .edit("vjp, (a, b))  # mul", "vjp, filter(lambda t: t.requires_grad, (a, b)))")
    .edit("vjp, (a, b))  # div", "vjp, filter(lambda t: t.requires_grad, (a, b)))"),
    Wrong("wrong_mul_unprotected", "mul saves nothing.")
    .expect(test_arithmetic="partial:mul-not-protected")
    .breaks("are changed in place before the backward pass")
    .base("plain")
    .edit("vjp, (a, b))  # mul", "vjp)"),
    Wrong("wrong_div_reads_its_result", "The gradient of the denominator reads the result.")
    .expect(test_arithmetic="partial:div-result-not-protected")
    .breaks("are changed in place before the backward pass")
    .edit(
        "    return Tensor.from_op(q.copy(), (a, b), lambda g: back_to(a, b, g / b.data, -g * q / b.data), [b])",
        "    y = Tensor.from_op(q, (a, b), lambda g: back_to(a, b, g / b.data, -g * y.data / b.data), [b])\n"
        "    return y",
    ),
    Wrong("wrong_div_keeps_its_result", "The same with the array alone, which from_op does not copy.")
    .expect(test_arithmetic="partial:div-result-not-protected")
    .edit("q.copy()", "q")
    .base("early_return", cell="tensor")
    .edit("out = cls(data)", "out = cls(0)\n        out.data = np.asarray(data, dtype=float)"),
    Wrong("wrong_sub_not_unbroadcast", "sub hands the gradients on in the shape of the difference.")
    .expect(test_arithmetic="partial:sub-not-unbroadcast")
    .edit("lambda g: back_to(a, b, g, -g)", "lambda g: (g, -g)"),
    Wrong("wrong_div_not_unbroadcast", "div hands the gradients on in the shape of the quotient.")
    .expect(test_arithmetic="partial:div-not-unbroadcast")
    .edit("back_to(a, b, g / b.data, -g * q / b.data)", "(g / b.data, -g * q / b.data)"),
    Wrong("wrong_unbroadcast_stretched_axes_only", "Axes that were put in front are forgotten.")
    .expect(test_arithmetic="partial:missing-axes-not-summed")
    .breaks("It undoes the stretching")
    .edit("while len(gradient.shape) > len(shape):\n        gradient = gradient.sum(0)\n    ", ""),
    Wrong("wrong_unbroadcast_ones_at_the_end", "The same, with the axes counted from the end.")
    .expect(test_arithmetic="partial:missing-axes-not-summed-lined-up")
    .edit("while len(gradient.shape) > len(shape):\n        gradient = gradient.sum(0)\n    ", "")
    .edit("range(len(shape))", "range(-len(shape), 0)"),
    Wrong("wrong_unbroadcast_one_missing_axis", "One axis in front is summed over, however many there are.")
    .expect(test_arithmetic="partial:one-missing-axis-summed")
    .edit("while len(gradient", "if len(gradient"),
    Wrong("wrong_mul_saves_the_first", "mul saves its first factor alone.")
    .expect(test_arithmetic="partial:mul-saves-a-alone")
    .edit("a.data * g), [a, b])", "a.data * g), [a])"),
    Wrong("wrong_mul_saves_the_second", "mul saves its second factor alone.")
    .expect(test_arithmetic="partial:mul-saves-b-alone")
    .base("plain")
    .edit("vjp, (a, b))  # mul", "vjp, (b,))"),
    Wrong("wrong_div_reads_its_result_and_saves_nothing", "div reads its result, and saves nothing.")
    .expect(test_arithmetic="partial:div-result-and-operands-not-protected")
    .edit(
        "    return Tensor.from_op(q.copy(), (a, b), lambda g: back_to(a, b, g / b.data, -g * q / b.data), [b])",
        "    y = Tensor.from_op(q, (a, b), lambda g: back_to(a, b, g / b.data, -g * y.data / b.data))\n    return y",
    ),
    Wrong("wrong_power_of_float_zero", "The exponent 0 is known as a whole number alone.")
    .expect(test_arithmetic="partial:power-of-float-zero")
    .breaks("Values and gradients are right wherever")
    .edit("    if exponent == 0:", "    if exponent == 0 and isinstance(exponent, int):"),
    Wrong("wrong_power_of_whole_exponents", "Exponents are cut to whole numbers.")
    .expect(test_arithmetic="partial")
    .breaks("`exponent` is a Python number")
    .edit("def power(a, exponent):\n", "def power(a, exponent):\n    exponent = int(exponent)\n"),
    Wrong("wrong_unbroadcast_first_axis_of_one", "Of several axes of size 1 the first is summed over.")
    .expect(test_arithmetic="partial:one-stretched-axis-summed")
    .breaks("the sum over all places")
    .edit("gradient = gradient.sum(k, keepdims=True)", "return gradient.sum(k, keepdims=True)"),
]
BASES["plain"] = """
def unbroadcast(gradient, shape):
    padded = (1,) * (np.ndim(gradient) - len(shape)) + tuple(shape)
    axes = tuple(k for k in range(len(padded)) if padded[k] == 1)
    return np.sum(gradient, axis=axes).reshape(shape)


def add(a, b):
    a, b = as_tensor(a), as_tensor(b)
    vjp = lambda g: (unbroadcast(g, a.shape), unbroadcast(g, b.shape))
    return Tensor.from_op(a.data + b.data, (a, b), vjp)


def sub(a, b):
    a, b = as_tensor(a), as_tensor(b)
    vjp = lambda g: (unbroadcast(g, a.shape), -unbroadcast(g, b.shape))
    return Tensor.from_op(a.data - b.data, (a, b), vjp)


def mul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    vjp = lambda g: (unbroadcast(g * b.data, a.shape), unbroadcast(g * a.data, b.shape))
    return Tensor.from_op(a.data * b.data, (a, b), vjp, (a, b))  # mul


def div(a, b):
    a, b = as_tensor(a), as_tensor(b)
    vjp = lambda g: (unbroadcast(g / b.data, a.shape), unbroadcast(-g * a.data / (b.data * b.data), b.shape))
    return Tensor.from_op(a.data / b.data, (a, b), vjp, (a, b))  # div


def neg(a):
    return Tensor.from_op(-1.0 * a.data, (a,), lambda g: (-1.0 * g,))


def power(a, exponent):
    vjp = lambda g: (g * exponent * np.power(a.data, exponent - 1) if exponent != 0 else 0.0 * g,)
    return Tensor.from_op(np.power(a.data, exponent), (a,), vjp, (a,))
"""
