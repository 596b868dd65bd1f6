"""grad_z is the other term of the sum; x is not put back."""

EXPECTED = {
    "test_small_graph": "partial:graph-grad-z-of-a-product",
    "test_numerical_gradient": "partial:difference-x-not-restored",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    a = x * y
    return (a + z).sum(), y, x, a
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        x[i] = x[i] + h
        f_plus = f(x)
        x[i] = x[i] - 2 * h
        f_minus = f(x)
        grad[i] = (f_plus - f_minus) / (2 * h)
    return grad
""",
}
