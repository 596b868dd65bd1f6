"""Steps along the gradient."""

EXPECTED = {
    "test_train": "failed:step-uphill",
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
        for k, v in g.items():
            p[k] += learning_rate * v
        losses.append(L)
    return p, losses
""",
}
