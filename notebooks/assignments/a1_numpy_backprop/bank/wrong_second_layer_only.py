"""Only W2 and b2 are updated."""

EXPECTED = {
    "test_train": "failed:only-second-layer-updated",
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
        p["W2"] -= learning_rate * g["W2"]
        p["b2"] -= learning_rate * g["b2"]
        losses.append(L)
    return p, losses
""",
}
