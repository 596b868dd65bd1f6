"""Numerical gradient by += h, -= 2h, += h: x comes back but for the last digit."""

EXPECTED = {}
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros_like(x)
    for idx, _ in np.ndenumerate(x):
        x[idx] += h
        up = f(x)
        x[idx] -= 2 * h
        down = f(x)
        x[idx] += h
        g[idx] = 0.5 * (up - down) / h
    return g
""",
}
