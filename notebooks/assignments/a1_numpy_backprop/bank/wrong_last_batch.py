"""The step stands after the loop, so only the last batch counts."""

EXPECTED = {
    "test_train": "failed:only-last-batch-used",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for b in batches:
        xb, yb = x[b], labels[b]
    s, cache = two_layer_forward(xb, p)
    L, ds = softmax_cross_entropy(s, yb)
    losses.append(L)
    for k, v in two_layer_backward(ds, cache).items():
        p[k] -= learning_rate * v
    return p, losses
""",
}
