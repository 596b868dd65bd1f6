"""Subclasses of dict, tuple and array; lists for tuples; numbers without axes; float32 and Fortran order."""

CELLS = {
    "small_graph": """
from collections import OrderedDict, defaultdict, namedtuple

Graph = namedtuple("Graph", "c grad_x grad_y grad_z")


def small_graph(x, y, z):
    return Graph(np.asarray((x * y + z).sum()), np.asfortranarray(y), x + 0.0, np.ones_like(z))
""",
    "numerical_gradient": """
class Slopes(np.ndarray):
    pass


def numerical_gradient(f, x, h=1e-5):
    slopes = np.empty(x.shape, np.float32).view(Slopes)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i], down[i] = x[i] + h, x[i] - h
        slopes[i] = (f(up) - f(down)) / (2 * h)
    return slopes
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    cache = defaultdict(list, x=x, W2=params["W2"])
    cache["hidden"] = np.where(x @ params["W1"] + params["b1"] > 0, x @ params["W1"] + params["b1"], 0)
    return [np.asfortranarray(cache["hidden"] @ cache["W2"] + params["b2"]), cache]
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    grads = OrderedDict(b2=dscores.sum(0), W2=np.asfortranarray(cache["hidden"].T @ dscores))
    back = np.where(cache["hidden"] > 0, dscores @ cache["W2"].T, 0)
    grads.update(W1=cache["x"].T @ back, b1=back.sum(0))
    return grads
""",
    "softmax_cross_entropy": """
class Pair(tuple):
    pass


def softmax_cross_entropy(scores, labels):
    moved = scores - scores.max(1)[:, None]
    total = np.exp(moved).sum(1)
    hit = labels[:, None] == np.arange(scores.shape[1])
    loss = np.asarray((np.log(total) - (moved * hit).sum(1)).mean())
    return Pair((loss, np.asfortranarray((np.exp(moved) / total[:, None] - hit) / len(scores))))
""",
    "train": """
def train(x, labels, params, learning_rate, batches):
    now = defaultdict(float, params)
    losses = ()
    for rows in batches:
        scores, cache = two_layer_forward(x[rows], now)
        loss, dscores = softmax_cross_entropy(scores, labels[rows])
        losses += (np.float32(loss),)
        for name, slope in two_layer_backward(dscores, cache).items():
            now[name] = now[name] - learning_rate * slope
    return [now, losses]
""",
}
