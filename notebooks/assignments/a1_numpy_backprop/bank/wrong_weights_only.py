"""The biases are not updated."""

EXPECTED = {
    "test_train": "failed:biases-not-updated",
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
            if p[k].ndim == 2:
                p[k] -= learning_rate * g[k]
        losses.append(L)
    return p, losses
""",
}
