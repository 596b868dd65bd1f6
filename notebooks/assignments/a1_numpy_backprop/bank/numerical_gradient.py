"""Wrong answers to `numerical_gradient`."""

from autograder.bank import Wrong

BASES = {
    "step_array": """
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / (2 * h)
    return g
""",
}

WRONG = [
    Wrong("wrong_difference_all_move", "Adds h to the whole array.")
    .expect(test_numerical_gradient="failed:difference-all-entries-move")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    slope = (f(x + h) - f(x - h)) / (2 * h)
    return np.full(x.shape, slope)
"""),
    Wrong("wrong_difference_integers", "The slopes are stored in an array of integers.")
    .expect(test_numerical_gradient="failed:difference-integer-buffer")
    .edit("g = np.zeros(x.shape)", "g = np.full(x.shape, 0)")
    .edit("e[i] = h", "e[i] += h"),
    Wrong("wrong_difference_left_above", "x is left at x + h.")
    .expect(test_numerical_gradient="partial:difference-x-left-above")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    values = []
    for i in np.ndindex(x.shape):
        x[i] -= h
        low = f(x)
        x[i] += 2 * h
        high = f(x)
        values.append((high - low) / (2 * h))
    return np.reshape(values, x.shape)
"""),
    Wrong("wrong_difference_last_entry", "Each entry is put back when the next one moves: the last one stays at x - h.")
    .expect(test_numerical_gradient="partial")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    before, old = (0,) * x.ndim, x[(0,) * x.ndim]
    for i in np.ndindex(x.shape):
        x[before] = old
        before, old = i, x[i]
        x[i] = old + h
        above = f(x)
        x[i] = old - h
        g[i] = (above - f(x)) / (2 * h)
    return g
"""),
    Wrong("wrong_difference_piles_up", "One step array for all entries, never cleared.")
    .expect(test_numerical_gradient="failed:difference-steps-pile-up")
    .edit("g = np.zeros(x.shape)", "g, e = np.zeros(x.shape), np.zeros(x.shape)")
    .edit("        e = np.zeros(x.shape)\n        e[i]", "        e[i]"),
    Wrong("wrong_difference_rows", "The loop runs over len(x), so a row moves as one.")
    .expect(test_numerical_gradient="failed:difference-first-axis-only")
    .edit("for i in np.ndindex(x.shape):", "for i in range(x.shape[0]):"),
]
