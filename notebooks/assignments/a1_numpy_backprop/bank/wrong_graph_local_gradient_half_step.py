"""The product hands its gradient on unchanged; points at half the distance."""

EXPECTED = {
    "test_small_graph": "partial:graph-local-gradient-missing",
    "test_numerical_gradient": "partial:difference-half-step",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    c = np.sum(x * y) + np.sum(z)
    ones = np.ones(x.shape)
    return c, ones, ones, ones
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    half = 0.5 * h
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = 1
        g[i] = (f(x + half * e) - f(x - half * e)) / h
    return g
""",
}
