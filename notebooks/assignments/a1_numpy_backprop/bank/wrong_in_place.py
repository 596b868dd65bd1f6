"""-= on the caller's arrays."""

EXPECTED = {
    "test_train": "partial:params-changed-in-place",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    losses = []
    for b in batches:
        s, cache = two_layer_forward(x[b], params)
        L, ds = softmax_cross_entropy(s, labels[b])
        losses.append(L)
        for k, v in two_layer_backward(ds, cache).items():
            params[k] -= learning_rate * v
    return params, losses
""",
}
