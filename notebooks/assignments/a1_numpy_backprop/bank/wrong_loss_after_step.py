"""Stores the loss after the step."""

EXPECTED = {
    "test_train": "partial:losses-after-the-step",
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
            p[k] -= learning_rate * g[k]
        L = softmax_cross_entropy(two_layer_forward(x[b], p)[0], labels[b])[0]
        losses.append(L)
    return p, losses
""",
}
