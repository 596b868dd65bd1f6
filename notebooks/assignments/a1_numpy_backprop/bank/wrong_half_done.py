"""Three exercises are as they were handed out, and one function returns nothing."""

EXPECTED = {
    "test_small_graph": "failed",
    "test_softmax_cross_entropy": "not attempted",
    "test_two_layer_backward": "not attempted",
    "test_train": "not attempted",
}
KIND = "fault"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    c = np.sum(x * y + z)
    print(c, y, x, np.ones_like(z))
""",
    "two_layer_backward": '''
def two_layer_backward(dscores, cache):
    """Gradients of the parameters of two_layer_forward.

    dscores: (N, C), gradient of the loss with respect to the scores.
    cache: what two_layer_forward returned.
    Returns a dict of W1 (D, H), b1 (H,), W2 (H, C), b2 (C,).
    """
    # YOUR CODE HERE
    raise NotImplementedError()
''',
    "softmax_cross_entropy": '''
def softmax_cross_entropy(scores, labels):
    """Mean cross-entropy of softmax(scores), and its gradient.

    scores: (N, C). labels: (N,), integers in 0 .. C - 1.
    Returns (loss, dscores): a number, and an array (N, C).
    """
    # YOUR CODE HERE
    raise NotImplementedError()
''',
    "train": '''
def train(x, labels, params, learning_rate, batches):
    """Stochastic gradient descent over the given batches.

    x: (M, D). labels: (M,). params: dict as for two_layer_forward; left as it was.
    batches: list of integer arrays, the rows of each step.
    Returns (params, losses): the new dict, and the loss of each batch before its step.
    """
    # YOUR CODE HERE
    raise NotImplementedError()
''',
}
