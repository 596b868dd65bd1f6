"""x and y mixed up; divides by the distance to x instead of that of the two points."""

EXPECTED = {
    "test_small_graph": "partial:graph-x-and-y-swapped",
    "test_numerical_gradient": "failed:difference-divided-by-h",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    dx, dy, dz = x, y, np.ones_like(x)
    return (x * y + z).sum(), dx, dy, dz
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + h
        plus = f(x)
        x[i] = old - h
        minus = f(x)
        x[i] = old
        g[i] = (plus - minus) / h
    return g
""",
}
