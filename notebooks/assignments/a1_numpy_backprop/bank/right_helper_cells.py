"""Helper functions in cells of their own, used by the solution cells."""

EXPECTED = {}
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    pre, cache1 = linear(x, params["W1"], params["b1"])
    act, cache2 = rectify(pre)
    scores, cache3 = linear(act, params["W2"], params["b2"])
    return scores, (cache1, cache2, cache3)
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    cache1, cache2, cache3 = cache
    dact, dW2, db2 = linear_back(dscores, cache3)
    _, dW1, db1 = linear_back(rectify_back(dact, cache2), cache1)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}
""",
}
EXTRA = [
    (
        "test_numerical_gradient",
        """
def linear(x, W, b):
    return x @ W + b, (x, W)


def linear_back(dout, cache):
    x, W = cache
    return dout @ W.T, x.T @ dout, dout.sum(0)


def rectify(x):
    return x * (x > 0), x > 0


def rectify_back(dout, cache):
    return dout * cache
""",
    ),
]
