"""Wrong answers to `small_graph`."""

from autograder.bank import Wrong

BASES = {
    "named_sum": """
def small_graph(x, y, z):
    b = x * y + z
    return b.sum(), y, x, np.ones(b.shape)
""",
}

WRONG = [
    Wrong("wrong_graph_averaged_precedence", "Gradients of a mean; `/ 2 * h` where `/ (2 * h)` is meant.")
    .expect(test_small_graph="partial:graph-averaged", test_numerical_gradient="failed:difference-wrong-precedence")
    .edit("y, x, np.ones(b.shape)", "y / b.size, x / b.size, np.ones(b.shape) / b.size")
    .edit("g[i] = (f(x + e) - f(x - e)) / (2 * h)", "g[i] = (f(x + e) - f(x - e)) / 2 * h", cell="numerical_gradient"),
    Wrong(
        "wrong_graph_local_gradient_half_step",
        "The product hands its gradient on unchanged; points at half the distance.",
    )
    .expect(
        test_small_graph="partial:graph-local-gradient-missing", test_numerical_gradient="partial:difference-half-step"
    )
    .edit("y, x, np.ones(b.shape)", "np.ones(b.shape), np.ones(b.shape), np.ones(b.shape)")
    .edit("e[i] = h", "e[i] = 0.5 * h", cell="numerical_gradient")
    .edit("(2 * h)", "h"),
    Wrong("wrong_graph_mean_one_sided", "c is a mean; the numerical gradient looks upwards only.")
    .expect(
        test_small_graph="partial:graph-mean-instead-of-sum", test_numerical_gradient="partial:difference-one-sided"
    )
    .edit("b.sum()", "b.mean()")
    .edit("(f(x + e) - f(x - e)) / (2 * h)", "(f(x + e) - f(x)) / h", cell="numerical_gradient"),
    Wrong("wrong_graph_no_sum_one_sided_below", "c is an array; the numerical gradient looks downwards only.")
    .expect(test_small_graph="partial:graph-not-summed", test_numerical_gradient="partial:difference-one-sided-below")
    .edit("b.sum()", "b")
    .edit("(f(x + e) - f(x - e)) / (2 * h)", "(f(x) - f(x - e)) / h", cell="numerical_gradient"),
    Wrong("wrong_graph_len", "As many ones as z has rows.")
    .expect(test_small_graph="partial:graph-grad-z-has-one-axis")
    .breaks("three arrays with the shape of `x`")
    .edit("np.ones(b.shape)", "np.ones(len(z))"),
    Wrong("wrong_graph_as_many_rows", "The same, by a shape of which only the first number is taken.")
    .expect(test_small_graph="partial:graph-grad-z-has-one-axis")
    .edit("np.ones(b.shape)", "np.ones(b.shape[:1])"),
    Wrong("wrong_graph_starts_with_c", "The way back starts with the value of c.")
    .expect(test_small_graph="partial:graph-starts-with-c")
    .edit("y, x, np.ones(b.shape)", "b.sum() * y, b.sum() * x, np.full(b.shape, b.sum())"),
    Wrong("wrong_graph_builtin_sum", "Python's sum, which adds up the first axis alone.")
    .expect(test_small_graph="partial:graph-first-axis-summed")
    .edit("b.sum()", "sum(b)"),
    Wrong("wrong_graph_builtin_sum_of_rows", "A loop that adds up rows.")
    .expect(test_small_graph="partial:graph-first-axis-summed")
    .edit("return b.sum()", "c = 0\n    for row in b:\n        c = c + row\n    return c"),
    Wrong("wrong_graph_scalar_z_sign", "grad_z is the number 1; the difference is taken the wrong way round.")
    .expect(test_small_graph="partial:graph-grad-z-is-one-number", test_numerical_gradient="failed:difference-sign")
    .edit("np.ones(b.shape)", "1")
    .edit("f(x + e) - f(x - e)", "f(x - e) - f(x + e)", cell="numerical_gradient"),
    Wrong(
        "wrong_graph_swapped_divided_by_h",
        "x and y mixed up; divides by the distance to x instead of that of the two points.",
    )
    .expect(test_small_graph="partial:graph-x-and-y-swapped", test_numerical_gradient="failed:difference-divided-by-h")
    .edit("b.sum(), y, x", "b.sum(), x, y")
    .base("right_loops", cell="numerical_gradient")
    .edit("(above - below) / (2.0 * h)", "(above - below) / h"),
    Wrong("wrong_graph_z_itself_h_fixed", "grad_z is z; h is written into the function.")
    .expect(test_small_graph="partial:graph-grad-z-is-z", test_numerical_gradient="partial:difference-h-ignored")
    .edit("np.ones(b.shape)", "z")
    .edit("e[i] = h", "e[i] = 0.00001", cell="numerical_gradient")
    .edit("(2 * h)", "0.00002"),
    Wrong("wrong_graph_z_product_not_restored", "grad_z is the other term of the sum; x is not put back.")
    .expect(
        test_small_graph="partial:graph-grad-z-of-a-product",
        test_numerical_gradient="partial:difference-x-not-restored",
    )
    .edit("np.ones(b.shape)", "x * y")
    .base("right_add_and_take_back", cell="numerical_gradient")
    .edit("        x[idx] += h\n        g[idx]", "        g[idx]"),
    Wrong("wrong_graph_one_axis", "The gradient of b has a 1 for each row.")
    .breaks("three arrays with the shape of `x`")
    .expect(test_small_graph="failed:graph-gradient-has-one-axis")
    .whole("""
def small_graph(x, y, z):
    total = (x * y + z).sum()
    up = np.ones(x.shape[0])
    return total, up * y, up * x, up
"""),
    Wrong("wrong_half_done", "Three exercises are as they were handed out, and one function returns nothing.")
    .expect(
        test_small_graph="failed",
        test_softmax_cross_entropy="not attempted",
        test_two_layer_backward="not attempted",
        test_train="not attempted",
    )
    .edit("b = x * y + z", "c = np.sum(x * y + z)")
    .edit("return b.sum(), y, x, np.ones(b.shape)", "print(c, y, x, np.ones_like(z))")
    .base("stub", cell="two_layer_backward")
    .base("stub", cell="softmax_cross_entropy")
    .base("stub", cell="train"),
    Wrong("wrong_graph_c_alone", "Returns c alone; the difference is not divided.")
    .breaks("the tuple `(c, grad_x, grad_y, grad_z)`", "whose entries are the $g_i$")
    .expect(test_small_graph="failed", test_numerical_gradient="failed:difference-not-divided")
    .edit("return b.sum(), y, x, np.ones(b.shape)", "return b.sum()")
    .edit(" / (2 * h)", "", cell="numerical_gradient"),
]
