"""The loop runs over len(x), so a row moves as one."""

EXPECTED = {
    "test_numerical_gradient": "failed:difference-first-axis-only",
}
KIND = "fault"
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    for i in range(x.shape[0]):
        plus, minus = x.copy(), x.copy()
        plus[i] += h
        minus[i] -= h
        g[i] = (f(plus) - f(minus)) / (2 * h)
    return g
""",
}
