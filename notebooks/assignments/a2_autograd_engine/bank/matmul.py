"""Wrong answers to `matmul`."""

from autograder.bank import Wrong

BASES = {
    "einsum": """
def matmul(a, b):
    a, b = as_tensor(a), as_tensor(b)

    def vjp(g):
        ga = np.einsum("...nm,...km->...nk", g, b.data)
        gb = np.einsum("...nk,...nm->...km", a.data, g)
        return unbroadcast(ga, a.shape), unbroadcast(gb, b.shape)

    return Tensor.from_op(np.matmul(a.data, b.data), (a, b), vjp, (a, b))
""",
    "copies": """
def matmul(a, b):
    a, b = as_tensor(a), as_tensor(b)
    left = np.moveaxis(a.data, -1, -2).copy()
    right = np.moveaxis(b.data, -1, -2).copy()
    return Tensor.from_op(
        np.matmul(a.data, b.data),
        (a, b),
        lambda g: (unbroadcast(np.matmul(g, right), a.shape), unbroadcast(np.matmul(left, g), b.shape)),
    )
""",
}
WRONG = [
    Wrong("wrong_matmul_order", "The factors of both gradients in the wrong order.")
    .expect(test_matmul="failed:matmul-order")
    .base("copies")
    .edit("np.matmul(g, right)", "np.matmul(right, g)")
    .edit("np.matmul(left, g)", "np.matmul(g, left)"),
    Wrong("wrong_matmul_not_transposed", "The factors are used as they are.")
    .expect(test_matmul="failed:matmul-not-transposed")
    .base("copies")
    .edit("np.moveaxis(a.data, -1, -2).copy()", "a.data.copy()")
    .edit("np.moveaxis(b.data, -1, -2).copy()", "b.data.copy()"),
    Wrong("wrong_matmul_all_axes", ".T on stacks.")
    .expect(test_matmul="partial:matmul-all-axes-reversed")
    .breaks("with two or more axes each")
    .base("copies")
    .edit("np.moveaxis(a.data, -1, -2).copy()", "a.data.T.copy()")
    .edit("np.moveaxis(b.data, -1, -2).copy()", "b.data.T.copy()"),
    Wrong("wrong_matmul_broadcast", "The broadcasting of stacks is not undone.")
    .expect(test_matmul="partial:matmul-not-unbroadcast")
    .breaks("The axes before the last two may differ")
    .edit("unbroadcast(ga, a.shape), unbroadcast(gb, b.shape)", "ga, gb"),
    Wrong("wrong_matmul_unprotected", "Nothing is saved.")
    .expect(test_matmul="partial:matmul-not-protected")
    .breaks("is refused or does no harm")
    .edit("(a, b), vjp, (a, b))", "(a, b), vjp)"),
    Wrong("wrong_matmul_elementwise", "Multiplies element by element.")
    .expect(test_matmul="partial")
    .breaks("It computes `a @ b`")
    .edit("np.matmul(a.data, b.data)", "a.data * b.data"),
    Wrong("wrong_matmul_missing_axes_only", "Stack axes of size 1 that were stretched are not summed over.")
    .expect(test_matmul="partial:matmul-stretched-axes-not-summed")
    .breaks("The axes before the last two may differ")
    .edit(
        "        return unbroadcast(ga, a.shape), unbroadcast(gb, b.shape)",
        "        while ga.ndim > a.data.ndim:\n            ga = ga.sum(0)\n"
        "        while gb.ndim > b.data.ndim:\n            gb = gb.sum(0)\n        return ga, gb",
    ),
    Wrong("wrong_matmul_left_broadcast", "The broadcasting of the left matrix is not undone.")
    .expect(test_matmul="partial:matmul-left-not-unbroadcast")
    .edit("unbroadcast(ga, a.shape)", "ga"),
    Wrong("wrong_matmul_right_broadcast", "The broadcasting of the right matrix is not undone.")
    .expect(test_matmul="partial:matmul-right-not-unbroadcast")
    .base("copies")
    .edit("unbroadcast(np.matmul(left, g), b.shape)", "np.matmul(left, g)"),
    Wrong("wrong_matmul_constants_unsaved", "Only factors that require gradients are noted.")
    .expect(test_matmul="partial:matmul-constant-not-saved")
    .breaks("is refused or does no harm")
    .edit("vjp, (a, b))", "vjp, [t for t in (a, b) if t.requires_grad])"),
    Wrong("wrong_matmul_order_for_a", "The factors of one gradient in the wrong order.")
    .expect(test_matmul="failed:matmul-order-for-a")
    .base("copies")
    .edit("np.matmul(g, right)", "np.matmul(right, g)"),
    Wrong("wrong_matmul_order_for_b", "The factors of one gradient in the wrong order.")
    .expect(test_matmul="failed:matmul-order-for-b")
    .base("copies")
    .edit("np.matmul(left, g)", "np.matmul(g, left)"),
    Wrong("wrong_matmul_not_transposed_for_a", "One factor is used as it is.")
    .expect(test_matmul="failed:matmul-not-transposed-for-a")
    .base("copies")
    .edit("np.moveaxis(b.data, -1, -2).copy()", "b.data.copy()"),
    Wrong("wrong_matmul_not_transposed_for_b", "One factor is used as it is.")
    .expect(test_matmul="failed:matmul-not-transposed-for-b")
    .base("copies")
    .edit("np.moveaxis(a.data, -1, -2).copy()", "a.data.copy()"),
    Wrong("wrong_matmul_all_axes_for_a", ".T of one factor.")
    .expect(test_matmul="partial:matmul-all-axes-reversed-for-a")
    .base("copies")
    .edit("np.moveaxis(b.data, -1, -2).copy()", "b.data.T.copy()"),
    Wrong("wrong_matmul_all_axes_for_b", ".T of one factor.")
    .expect(test_matmul="partial:matmul-all-axes-reversed-for-b")
    .base("copies")
    .edit("np.moveaxis(a.data, -1, -2).copy()", "a.data.T.copy()"),
    Wrong("wrong_matmul_array_first", "Makes a tensor of b alone.")
    .expect(test_matmul="partial:matmul-array-on-the-left")
    .breaks("or one is a tensor and the other an array")
    .edit("a, b = as_tensor(a), as_tensor(b)", "b = as_tensor(b)"),
    Wrong("wrong_matmul_array_last", "Makes a tensor of a alone.")
    .expect(test_matmul="partial:matmul-array-on-the-right-not-saved")
    .breaks("or one is a tensor and the other an array")
    .base("copies")
    .edit("a, b = as_tensor(a), as_tensor(b)", "a = as_tensor(a)"),
    Wrong("wrong_matmul_tensors_alone", "Takes two tensors.")
    .expect(test_matmul="partial:matmul-array-on-the-right")
    .edit("    a, b = as_tensor(a), as_tensor(b)\n", ""),
]
