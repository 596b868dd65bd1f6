"""x is left at x + h."""

EXPECTED = {
    "test_numerical_gradient": "partial:difference-x-left-above",
}
KIND = "fault"
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    values = []
    for i in np.ndindex(x.shape):
        x[i] -= h
        low = f(x)
        x[i] += 2 * h
        high = f(x)
        values.append((high - low) / (2 * h))
    return np.reshape(values, x.shape)
""",
}
