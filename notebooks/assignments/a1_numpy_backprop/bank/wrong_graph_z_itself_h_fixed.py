"""grad_z is z; h is written into the function."""

EXPECTED = {
    "test_small_graph": "partial:graph-grad-z-is-z",
    "test_numerical_gradient": "partial:difference-h-ignored",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    b = x * y + z
    return b.sum(), y, x, z
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    eps = 0.00001
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = eps
        out[i] = (f(x + d) - f(x - d)) / (eps + eps)
    return out
""",
}
