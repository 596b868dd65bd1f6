"""W = W - ... on a local name."""

EXPECTED = {
    "test_train": "failed:update-lost",
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
        W1, b1, W2, b2 = p["W1"], p["b1"], p["W2"], p["b2"]
        W1 = W1 - learning_rate * g["W1"]
        b1 = b1 - learning_rate * g["b1"]
        W2 = W2 - learning_rate * g["W2"]
        b2 = b2 - learning_rate * g["b2"]
        losses.append(L)
    return p, losses
""",
}
