"""Numerical gradient on a flat copy, put into shape at the end; f always gets a fresh array."""

EXPECTED = {}
CELLS = {
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    flat = x.flatten()
    def at(position, distance):
        moved = flat.copy()
        moved[position] += distance
        return f(moved.reshape(x.shape))
    values = [(at(i, h) - at(i, -h)) / h / 2 for i in range(flat.size)]
    return np.array(values).reshape(x.shape)
""",
}
