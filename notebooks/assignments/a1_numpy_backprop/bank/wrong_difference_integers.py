"""The slopes are stored in an array of integers."""

EXPECTED = {
    "test_numerical_gradient": "failed:difference-integer-buffer",
}
KIND = "fault"
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.full(x.shape, 0)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] += h
        g[i] = (f(x + e) - f(x - e)) / (2 * h)
    return g
""",
}
