"""c is a mean; the numerical gradient looks upwards only."""

EXPECTED = {
    "test_small_graph": "partial:graph-mean-instead-of-sum",
    "test_numerical_gradient": "partial:difference-one-sided",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    a = x * y
    b = a + z
    return b.mean(), y, x, np.ones(b.shape)
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    base = f(x)
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        moved = np.array(x)
        moved[i] += h
        g[i] = (f(moved) - base) / h
    return g
""",
}
