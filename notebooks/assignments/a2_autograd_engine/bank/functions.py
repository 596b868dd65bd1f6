"""Wrong answers to the functions."""

from autograder.bank import Wrong

BASES = {
    "slopes": """
def elementwise(a, value, slope):
    return Tensor.from_op(value, (a,), lambda g: (np.multiply(slope, g),))


def exp(a):
    return elementwise(a, np.exp(a.data), np.exp(a.data))


def log(a):
    return elementwise(a, np.log(a.data), 1.0 / a.data)


def relu(a):
    return elementwise(a, np.maximum(a.data, 0), np.heaviside(a.data, 0.5))


def tanh(a):
    t = np.tanh(a.data)
    return elementwise(a, t, 1 - t * t)
""",
    "recomputed": """
def exp(a):
    def vjp(g):
        return [g * np.exp(a.data)]
    return Tensor.from_op(np.exp(a.data), [a], vjp, [a])


def log(a):
    def vjp(g):
        return [g / a.data]
    return Tensor.from_op(np.log(a.data), [a], vjp, [a])


def relu(a):
    def vjp(g):
        return [np.where(a.data > 0, g, 0.0)]
    return Tensor.from_op(np.where(a.data > 0, a.data, 0.0), [a], vjp, [a])


def tanh(a):
    def vjp(g):
        return [g / np.cosh(a.data) ** 2]
    return Tensor.from_op(np.tanh(a.data), [a], vjp, [a])
""",
}
EXP = "    return elementwise(a, np.exp(a.data), np.exp(a.data))"
EXP_LATE = "    y = Tensor.from_op(np.exp(a.data), (a,), lambda g: (g * y.data,))\n    return y"
TANH = "    t = np.tanh(a.data)\n    return elementwise(a, t, 1 - t * t)"
TANH_LATE = "    y = Tensor.from_op(np.tanh(a.data), (a,), lambda g: (g - g * y.data * y.data,))\n    return y"

WRONG = [
    Wrong("wrong_exp_input", "The slope is the input.")
    .expect(test_functions="failed:exp-slope-is-the-input")
    .edit(EXP, "    return elementwise(a, np.exp(a.data), a.data.copy())"),
    Wrong("wrong_exp_slope_missing", "The slope of exp is 1.")
    .expect(test_functions="failed:exp-slope-missing")
    .edit(EXP, "    return elementwise(a, np.exp(a.data), 1.0)"),
    Wrong("wrong_log_slope", "The slope of log is a.")
    .expect(test_functions="failed:log-slope-inverted")
    .edit("1.0 / a.data", "1.0 * a.data"),
    Wrong("wrong_log_ten", "The logarithm to base 10, with the slope of the natural one.")
    .expect(test_functions="partial:log-base-ten")
    .breaks("`log` is the natural logarithm")
    .edit("np.log(a.data)", "np.log(a.data) / np.log(10)"),
    Wrong("wrong_relu_gradient_mask", "The mask is made of the gradient.")
    .expect(test_functions="partial:relu-mask-from-the-gradient")
    .base("recomputed")
    .edit("np.where(a.data > 0, g, 0.0)]", "np.where(g > 0, g, 0.0)]"),
    Wrong("wrong_relu_late_mask", "The mask is made in the backward pass, and nobody is told that it reads a.")
    .expect(test_functions="partial:relu-not-protected")
    .base("recomputed")
    .edit("np.where(a.data > 0, a.data, 0.0), [a], vjp, [a])", "np.where(a.data > 0, a.data, 0.0), [a], vjp)"),
    Wrong("wrong_relu_no_mask", "ReLU lets all gradients pass.")
    .expect(test_functions="partial:relu-mask-missing")
    .edit("np.heaviside(a.data, 0.5)", "np.ones(a.shape)"),
    Wrong("wrong_tanh_input", "1 minus the square of the input.")
    .expect(test_functions="failed:tanh-slope-of-the-input")
    .edit("1 - t * t", "1 - a.data * a.data"),
    Wrong("wrong_tanh_no_square", "1 minus the result.")
    .expect(test_functions="failed:tanh-square-missing")
    .edit("1 - t * t", "1 - t"),
    Wrong("wrong_log_unprotected", "log reads its input late and does not save it.")
    .expect(test_functions="partial:log-not-protected")
    .breaks("is refused or does no harm")
    .base("recomputed")
    .edit("Tensor.from_op(np.log(a.data), [a], vjp, [a])", "Tensor.from_op(np.log(a.data), [a], vjp)"),
    Wrong("wrong_results_unprotected", "exp and tanh read their results late.")
    .expect(test_functions="partial:results-not-protected")
    .breaks("is refused or does no harm")
    .edit(EXP, EXP_LATE)
    .edit(TANH, TANH_LATE),
    Wrong("wrong_exp_unprotected", "exp reads its result late.")
    .expect(test_functions="partial:exp-result-not-protected")
    .breaks("is refused or does no harm")
    .edit(EXP, EXP_LATE),
    Wrong("wrong_tanh_unprotected", "tanh reads its result late.")
    .expect(test_functions="partial:tanh-result-not-protected")
    .breaks("is refused or does no harm")
    .edit(TANH, TANH_LATE),
    Wrong("wrong_functions_of_rows", "exp is applied to the first row alone.")
    .expect(test_functions="failed")
    .breaks("applies the function to every entry")
    .edit(EXP, "    y = a.data.copy()\n    y[:1] = np.exp(y[:1])\n    return elementwise(a, y, y)"),
    Wrong("wrong_relu_compares_late", "The same with a product.")
    .expect(test_functions="partial:relu-not-protected")
    .edit(
        "    return elementwise(a, np.maximum(a.data, 0), np.heaviside(a.data, 0.5))",
        "    return Tensor.from_op(np.maximum(a.data, 0), (a,), lambda g: (g * (a.data > 0),))",
    ),
    Wrong("wrong_exp_of_the_input_late", "exp is computed again from its input, which is not saved.")
    .expect(test_functions="partial:exp-not-protected")
    .base("recomputed")
    .edit("np.exp(a.data), [a], vjp, [a])", "np.exp(a.data), [a], vjp)"),
    Wrong("wrong_tanh_of_the_input_late", "tanh is computed again from its input, which is not saved.")
    .expect(test_functions="partial:tanh-not-protected")
    .base("recomputed")
    .edit("np.tanh(a.data), [a], vjp, [a])", "np.tanh(a.data), [a], vjp)"),
    Wrong("wrong_exp_and_relu_late", "Two of them.")
    .expect(test_functions="partial:exp-not-protected+relu-not-protected")
    .base("recomputed")
    .edit("np.exp(a.data), [a], vjp, [a])", "np.exp(a.data), [a], vjp)")
    .edit("np.where(a.data > 0, a.data, 0.0), [a], vjp, [a])", "np.where(a.data > 0, a.data, 0.0), [a], vjp)"),
    Wrong("wrong_functions_unprotected", "Nothing is saved.")
    .expect(test_functions="partial:functions-not-protected")
    .breaks("is refused or does no harm")
    .base("recomputed")
    .edit("np.exp(a.data), [a], vjp, [a])", "np.exp(a.data), [a], vjp)")
    .edit("np.log(a.data), [a], vjp, [a])", "np.log(a.data), [a], vjp)")
    .edit("np.where(a.data > 0, a.data, 0.0), [a], vjp, [a])", "np.where(a.data > 0, a.data, 0.0), [a], vjp)")
    .edit("np.tanh(a.data), [a], vjp, [a])", "np.tanh(a.data), [a], vjp)"),
    Wrong("wrong_exp_keeps_its_result", "exp keeps the array of its result, which from_op does not copy.")
    .expect(test_functions="partial:exp-result-not-protected")
    .edit(EXP, "    y = np.exp(a.data)\n    return elementwise(a, y, y)")
    .base("early_return", cell="tensor")
    .edit("out = cls(data)", "out = cls(0)\n        out.data = np.asarray(data, dtype=float)"),
    Wrong("wrong_all_but_log_unprotected", "Only log saves its input.")
    .expect(test_functions="partial:functions-not-protected-but-log")
    .base("recomputed")
    .edit("np.exp(a.data), [a], vjp, [a])", "np.exp(a.data), [a], vjp)")
    .edit("np.where(a.data > 0, a.data, 0.0), [a], vjp, [a])", "np.where(a.data > 0, a.data, 0.0), [a], vjp)")
    .edit("np.tanh(a.data), [a], vjp, [a])", "np.tanh(a.data), [a], vjp)"),
]
