"""The learning rate is not used."""

EXPECTED = {
    "test_train": "failed:learning-rate-missing",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for b in batches:
        s, cache = two_layer_forward(x[b], p)
        L, ds = softmax_cross_entropy(s, labels[b])
        g = two_layer_backward(ds, cache)
        for k in p:
            p[k] = p[k] - g[k]
        losses.append(L)
    return p, losses
""",
}
