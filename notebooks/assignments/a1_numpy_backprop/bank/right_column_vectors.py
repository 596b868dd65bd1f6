"""Works on transposed arrays inside: examples as columns."""

EXPECTED = {}
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    X = x.T
    Z = params["W1"].T @ X + params["b1"].reshape(-1, 1)
    A = np.fmax(Z, 0)
    S = params["W2"].T @ A + params["b2"].reshape(-1, 1)
    return S.T, {"X": X, "Z": Z, "A": A, "W2": params["W2"]}
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    dS = dscores.T
    dZ = cache["W2"] @ dS
    dZ[cache["Z"] <= 0] = 0
    grads = {}
    grads["W2"] = (dS @ cache["A"].T).T
    grads["b2"] = dS.sum(axis=1)
    grads["W1"] = (dZ @ cache["X"].T).T
    grads["b1"] = dZ.sum(axis=1)
    return grads
""",
}
