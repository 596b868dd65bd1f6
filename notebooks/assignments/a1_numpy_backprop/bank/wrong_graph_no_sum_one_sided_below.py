"""c is an array; the numerical gradient looks downwards only."""

EXPECTED = {
    "test_small_graph": "partial:graph-not-summed",
    "test_numerical_gradient": "partial:difference-one-sided-below",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    c = np.multiply(x, y) + z
    return c, y, x, z * 0 + 1
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    def slope(i):
        below = x.copy()
        below[i] = below[i] - h
        return (f(x) - f(below)) / h
    return np.array([slope(i) for i in np.ndindex(x.shape)]).reshape(x.shape)
""",
}
