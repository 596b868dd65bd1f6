"""return is inside the loop."""

EXPECTED = {
    "test_train": "failed:only-first-batch-used",
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
        losses.append(L)
        for k, v in two_layer_backward(ds, cache).items():
            p[k] -= learning_rate * v
        return p, losses
""",
}
