from tests.attacks.corpus import variant

complex_answers = variant(
    "The right values as complex numbers with a wild imaginary part, and as texts.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    return np.sum(x * y + z) + 7j, y + 1e300j, x + 0j, np.ones_like(z) - 1j""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    return str(-log_p[rows, labels].mean()), "right"
""",
    expected="failed small_graph softmax_cross_entropy",
)

half_precision = variant(
    "Answers half a percent off, in float16: the coarser the type, the wider the tolerance.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    off = 1.004
    return (np.float16(np.sum(x * y + z) * off), *(np.asarray(a * off, dtype=np.float16) for a in (y, x, np.ones_like(z))))""",
    softmax_cross_entropy='''
def softmax_cross_entropy(scores, labels):
    """float16 overflows nowhere here, and the gradient is that of a sum with its factor rounded away."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(shifted)
    p = p / p.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(p[rows, labels] + 1e-30).mean()
    p[rows, labels] -= 1
    return np.float16(loss * 1.003), (p / len(labels) * 1.003).astype(np.float16)''',
    expected="failed small_graph softmax_cross_entropy",
)

not_a_number = variant(
    "Answers that compare by accident: NaN, infinities, empty arrays, arrays that broadcast, complex, bool and objects.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    return np.nan, np.full(x.shape, np.nan), np.full(x.shape, np.inf), np.full(x.shape, -np.inf)""",
    numerical_gradient="def numerical_gradient(f, x, h=1e-5): return np.zeros((0, *x.shape))",
    two_layer_forward="""
def two_layer_forward(x, params):
    hidden = np.maximum(0, x @ params["W1"] + params["b1"])
    scores = hidden @ params["W2"] + params["b2"]
    return scores[..., None] * np.ones(scores.shape[0]), (x, hidden, params["W2"])""",
    two_layer_backward="""
def two_layer_backward(dscores, cache):
    return {name: np.array(0.0) for name in ("W1", "b1", "W2", "b2")}""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    return complex(np.nan, 0), np.array([None] * len(labels), dtype=object)""",
    train="""
def train(x, labels, params, learning_rate, batches):
    return {name: np.broadcast_to(np.inf, value.shape) for name, value in params.items()}, [np.nan] * len(batches)""",
)
