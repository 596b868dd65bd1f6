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
]
