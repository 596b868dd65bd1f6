"""Adds h to the whole array."""

EXPECTED = {
    "test_numerical_gradient": "failed:difference-all-entries-move",
}
KIND = "fault"
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    slope = (f(x + h) - f(x - h)) / (2 * h)
    return np.full(x.shape, slope)
""",
}
