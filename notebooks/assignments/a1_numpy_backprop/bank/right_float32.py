"""Computes in float32 where the exercise leaves the choice."""

EXPECTED = {}
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    x, y, z = (np.asarray(a, dtype=np.float32) for a in (x, y, z))
    return np.float32((x * y + z).sum()), y, x, np.ones(x.shape, dtype=np.float32)
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    p = {k: v.astype(np.float32) for k, v in params.items()}
    x = x.astype(np.float32)
    pre = x @ p["W1"] + p["b1"]
    act = pre.clip(min=0)
    return act @ p["W2"] + p["b2"], (x, pre, act, p["W2"])
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    x, pre, act, W2 = cache
    dscores = dscores.astype(np.float32)
    dpre = np.where(pre > 0, dscores @ W2.T, np.float32(0))
    return {"W1": x.T @ dpre, "b1": dpre.sum(0), "W2": act.T @ dscores, "b2": dscores.sum(0)}
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    s = scores.astype(np.float32)
    s = s - s.max(1)[:, None]
    p = np.exp(s)
    p /= p.sum(1)[:, None]
    n = np.arange(len(s))
    loss = np.mean(np.log(np.exp(s).sum(1)) - s[n, labels])
    d = p.copy()
    d[n, labels] -= 1
    return loss, d / np.float32(len(s))
""",
    "train": """
def train(x, labels, params, learning_rate, batches):
    params = {k: v.astype(np.float32) for k, v in params.items()}
    history = np.zeros(len(batches), dtype=np.float32)
    for k, rows in enumerate(batches):
        out, cache = two_layer_forward(x[rows], params)
        history[k], d = softmax_cross_entropy(out, labels[rows])
        g = two_layer_backward(d, cache)
        for key in g:
            params[key] -= np.float32(learning_rate) * g[key]
    return params, history
""",
}
