"""Right answers in odd clothes: Fortran order, views, read-only, negative strides, 0-d arrays, float32."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    frozen = np.ones(z.shape)
    frozen.flags.writeable = False
    return np.array(np.sum(x * y + z)), np.asfortranarray(y), np.repeat(x, 2, axis=-1)[..., ::2], frozen
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        kept = x[index]
        x[index] = kept + h
        above = f(x)
        x[index] = kept - h
        below = f(x)
        x[index] = kept
        gradient[index] = (above - below) / (2 * h)
    return gradient[::-1][::-1]
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    shifted = (scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d = np.exp(log_p)
    d[rows, labels] -= 1
    return float(-log_p[rows, labels].mean()), np.ascontiguousarray(d.T / len(labels)).T
""",
}
