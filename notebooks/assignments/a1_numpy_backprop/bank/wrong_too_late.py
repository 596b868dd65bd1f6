"""Updates W2, then goes back through the new W2."""

EXPECTED = {
    "test_train": "failed:first-layer-gradient-too-late",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    W1, b1, W2, b2 = (params[k].copy() for k in ("W1", "b1", "W2", "b2"))
    losses = []
    for rows in batches:
        a = x[rows] @ W1 + b1
        h = np.maximum(a, 0)
        loss, ds = softmax_cross_entropy(h @ W2 + b2, labels[rows])
        losses.append(loss)
        W2 -= learning_rate * h.T @ ds
        b2 -= learning_rate * ds.sum(0)
        da = ds @ W2.T
        da[a <= 0] = 0
        W1 -= learning_rate * x[rows].T @ da
        b1 -= learning_rate * da.sum(0)
    return dict(W1=W1, b1=b1, W2=W2, b2=b2), losses
""",
}
