"""Answers that compare by accident: NaN, infinities, empty arrays, arrays that broadcast, complex, bool and objects."""

ENTRY, FAMILY = 28, "A"
EXPECTED = {
    "test_small_graph": "failed",
    "test_numerical_gradient": "failed",
    "test_two_layer_forward": "failed",
    "test_two_layer_backward": "failed",
    "test_softmax_cross_entropy": "failed",
    "test_train": "failed",
}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return np.nan, np.full(x.shape, np.nan), np.full(x.shape, np.inf), np.full(x.shape, -np.inf)
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    return np.zeros((0, *x.shape))
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    scores = hidden @ params["W2"] + params["b2"]
    return scores[..., None] * np.ones(scores.shape[0]), (x, hidden, params["W2"])
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    return {name: np.array(0.0) for name in ("W1", "b1", "W2", "b2")}
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    return complex(np.nan, 0), np.array([None] * len(labels), dtype=object)
""",
    "train": """
def train(x, labels, params, learning_rate, batches):
    return {name: np.broadcast_to(np.inf, value.shape) for name, value in params.items()}, [np.nan] * len(batches)
""",
}
