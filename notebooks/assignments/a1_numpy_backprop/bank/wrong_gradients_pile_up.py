"""Adds each batch's gradients to those before."""

EXPECTED = {
    "test_train": "failed:gradients-pile-up",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    g = {k: np.zeros(v.shape) for k, v in params.items()}
    losses = []
    for b in batches:
        s, cache = two_layer_forward(x[b], p)
        L, ds = softmax_cross_entropy(s, labels[b])
        losses.append(L)
        new = two_layer_backward(ds, cache)
        for k in p:
            g[k] += new[k]
            p[k] -= learning_rate * g[k]
    return p, losses
""",
}
