"""grad_z is the number 1; the difference is taken the wrong way round."""

EXPECTED = {
    "test_small_graph": "partial:graph-grad-z-is-one-number",
    "test_numerical_gradient": "failed:difference-sign",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return float(np.sum(x * y + z)), y, x, 1
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        low, high = x.copy(), x.copy()
        low[i] -= h
        high[i] += h
        g[i] = (f(low) - f(high)) / (2 * h)
    return g
""",
}
