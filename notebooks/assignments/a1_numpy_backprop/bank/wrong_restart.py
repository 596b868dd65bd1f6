"""Each step starts from the params that were given."""

EXPECTED = {
    "test_train": "failed:restart-at-every-batch",
}
KIND = "fault"
CELLS = {
    "train": """
def train(x, labels, params, learning_rate, batches):
    losses, new = [], {}
    for b in batches:
        s, cache = two_layer_forward(x[b], params)
        L, ds = softmax_cross_entropy(s, labels[b])
        losses.append(L)
        g = two_layer_backward(ds, cache)
        for k in params:
            new[k] = params[k] - learning_rate * g[k]
    return new, losses
""",
}
