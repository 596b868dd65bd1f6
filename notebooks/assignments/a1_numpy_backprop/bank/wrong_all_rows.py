"""Every step uses all rows."""

EXPECTED = {
    "test_train": "failed:batches-ignored",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for _ in range(len(batches)):
        s, cache = two_layer_forward(x, p)
        L, ds = softmax_cross_entropy(s, labels)
        losses.append(L)
        for k, v in two_layer_backward(ds, cache).items():
            p[k] -= learning_rate * v
    return p, losses
""",
}
