"""1e-7 is added to a probability, classes stand in rows; training takes the first batch and hands the rest on."""

EXPECTED = {}
CELLS = {
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    columns = np.transpose(scores)
    weights = np.exp(columns - columns.max(axis=0))
    weights = weights / weights.sum(axis=0)
    hit = np.equal.outer(np.arange(len(columns)), labels)
    cost = -np.log(weights[hit.T.nonzero()[1], np.arange(len(labels))] + 1e-7)
    return np.average(cost), np.transpose(weights - hit) / cost.size
""",
    "train": """
def train(x, labels, params, learning_rate, batches):
    first, *rest = batches
    scores, cache = two_layer_forward(x[first], params)
    loss, dscores = softmax_cross_entropy(scores, labels[first])
    moved = {name: params[name] - learning_rate * slope for name, slope in two_layer_backward(dscores, cache).items()}
    if not rest:
        return moved, [loss]
    last, losses = train(x, labels, moved, learning_rate, rest)
    return last, [loss, *losses]
""",
}
