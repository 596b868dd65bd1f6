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
    Wrong("wrong_difference_flat_copy", "Moves entries of x.reshape(-1), which of a transpose is a copy.")
    .breaks("it may be a transpose")
    .expect(test_numerical_gradient="partial:difference-flat-copy")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    flat, g = x.reshape(-1), np.zeros(x.size)
    for i in range(x.size):
        kept = flat[i]
        flat[i] = kept + h
        high = f(x)
        flat[i] = kept - h
        g[i] = (high - f(x)) / (2 * h)
        flat[i] = kept
    return g.reshape(x.shape)
"""),
    Wrong("wrong_difference_contiguous_copy", "Moves entries of np.ascontiguousarray(x), and passes x.")
    .expect(test_numerical_gradient="partial:difference-flat-copy")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    rows = np.ascontiguousarray(x)

    def moved(i, step):
        rows[i] += step
        value = f(x)
        rows[i] -= step
        return value

    slopes = [(moved(i, h) - moved(i, -h)) / (2 * h) for i in np.ndindex(x.shape)]
    return np.array(slopes).reshape(x.shape)
"""),
    Wrong("wrong_difference_relative_step", "The step grows with the entry, from 1 on.")
    .breaks("whose entries are the $g_i$ for that `h`")
    .expect(test_numerical_gradient="partial:difference-another-step")
    .edit("e[i] = h", "e[i] = h * max(1.0, abs(x[i]))")
    .edit("(2 * h)", "(2 * e[i])"),
    Wrong("wrong_difference_step_of_the_size", "The step grows with the entry, on a copy.")
    .expect(test_numerical_gradient="partial:difference-another-step")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    v, g = x.copy(), np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        step = h * (abs(x[i]) + 1)
        v[i] = x[i] + step
        up = f(v)
        v[i] = x[i] - step
        g[i] = (up - f(v)) / (2 * step)
        v[i] = x[i]
    return g
"""),
    Wrong("wrong_difference_double_step", "Points at twice the distance.")
    .expect(test_numerical_gradient="partial:difference-another-step")
    .edit("e[i] = h", "e[i] = 2 * h")
    .edit("(2 * h)", "(4 * h)"),
    Wrong("wrong_difference_all_move", "Adds h to the whole array.")
    .expect(test_numerical_gradient="failed:difference-all-entries-move")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    slope = (f(x + h) - f(x - h)) / (2 * h)
    return np.full(x.shape, slope)
"""),
    Wrong("wrong_difference_returns_early", "The return stands inside the loop.")
    .expect(test_numerical_gradient="failed:difference-first-entry-only")
    .edit("    return g", "        return g"),
    Wrong("wrong_difference_integers", "The slopes are stored in an array of integers.")
    .breaks("of either precision")
    .expect(test_numerical_gradient="failed:difference-integer-buffer")
    .edit("g = np.zeros(x.shape)", "g = np.full(x.shape, 0)")
    .edit("e[i] = h", "e[i] += h"),
    Wrong("wrong_difference_left_above", "x is left at x + h.")
    .breaks("`x` holds the numbers that it held before")
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
    .breaks("with one or more axes")
    .expect(test_numerical_gradient="failed:difference-first-axis-only")
    .edit("for i in np.ndindex(x.shape):", "for i in range(x.shape[0]):"),
    Wrong("wrong_difference_two_names", "`up` and `down` are two names of one array.")
    .expect(test_numerical_gradient="failed:difference-is-zero")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up = x
        down = x
        up[i] += h
        down[i] -= h
        g[i] = (f(up) - f(down)) / (2 * h)
    return g
"""),
    Wrong("wrong_difference_half_over_2h", "Points at half the distance, divided by the whole.")
    .expect(test_numerical_gradient="failed:difference-half-step-divided-by-2h")
    .edit("e[i] = h", "e[i] = h * 0.5"),
    Wrong("wrong_difference_copy_stays", "On a copy, whose entries stay at x - h.")
    .expect(test_numerical_gradient="partial")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    v, g = x.copy(), np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        v[i] += h
        up = f(v)
        v[i] -= h + h
        g[i] = (up - f(v)) / (2 * h)
    return g
"""),
    Wrong("wrong_difference_back_at_x", "Raised by h, then lowered by h: the second point is x itself.")
    .breaks("whose entries are the $g_i$ for that `h`")
    .expect(test_numerical_gradient="failed:difference-one-sided-over-2h")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    v, g = x.copy(), np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        v[i] += h
        up = f(v)
        v[i] -= h
        g[i] = (up - f(v)) / (2 * h)
    return g
"""),
    Wrong("wrong_difference_up_to_x", "Lowered by h, then raised by h: the second point is x itself.")
    .expect(test_numerical_gradient="failed:difference-one-sided-below-over-2h")
    .edit("f(x + e) - f(x - e)", "f(x) - f(x - e)"),
    Wrong("wrong_difference_flat_points", "f gets all entries in one row.")
    .breaks("`f` gets an array with the shape of `x`")
    .expect(test_numerical_gradient="failed")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    flat, g = x.ravel().copy(), []
    for k in range(flat.size):
        flat[k] += h
        up = f(flat)
        flat[k] -= 2 * h
        g.append((up - f(flat)) / (2 * h))
        flat[k] += h
    return np.reshape(g, x.shape)
"""),
    Wrong("wrong_difference_others_zero", "Takes f for a sum over the entries, so the others may be 0.")
    .breaks("You know nothing else about `f`")
    .expect(test_numerical_gradient="failed")
    .whole("""
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = np.zeros(x.shape), np.zeros(x.shape)
        up[i], down[i] = x[i] + h, x[i] - h
        g[i] = (f(up) - f(down)) / (2 * h)
    return g
"""),
]
