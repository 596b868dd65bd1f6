"""try and except everywhere, asserts, global counters, names of builtins reused, a cell that raises on purpose."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "small_graph": """
import numpy as np

CALLS = 0
list = [1, 2, 3]
max = 7
data = call = ns = None


def small_graph(x, y, z):
    global CALLS
    CALLS += 1
    try:
        assert x.shape == y.shape == z.shape, "shapes differ"
        return np.sum(x * y + z), y + 0, x + 0, np.ones_like(z)
    except Exception as error:
        print("went wrong:", error)
        raise
    finally:
        CALLS += 0
""",
    "train": """
del list, max


def train(x, labels, params, learning_rate, batches):
    new = {key: np.copy(value) for key, value in params.items()}
    history = []
    try:
        for rows in batches:
            out, memory = two_layer_forward(x[rows], new)
            value, slope = softmax_cross_entropy(out, labels[rows])
            history.append(value)
            for key, gradient in two_layer_backward(slope, memory).items():
                new[key] -= learning_rate * gradient
    except KeyboardInterrupt:
        print("stopped")
    return new, np.array(history)


if __name__ == "__main__":
    print("run as a notebook")
""",
}
EXTRA = [
    ("test_small_graph", "1 / 0"),
    ("test_small_graph", "assert False, 'my own test fails'"),
    ("test_train", "undefined_name"),
]
