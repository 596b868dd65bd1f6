"""One step array for all entries, never cleared."""

EXPECTED = {
    "test_numerical_gradient": "failed:difference-steps-pile-up",
}
KIND = "fault"
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    e = np.zeros(x.shape)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e[i] = 1.0
        g[i] = (f(x + h * e) - f(x - h * e)) / (2 * h)
    return g
""",
}
