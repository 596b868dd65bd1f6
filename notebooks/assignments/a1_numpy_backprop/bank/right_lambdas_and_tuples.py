"""Functions as lambdas and partials, results as lists, ReLU with slope 1 at 0."""

EXPECTED = {}
CELLS = {
    "small_graph": """
small_graph = lambda x, y, z: [float(np.sum(x * y) + np.sum(z)), +y, +x, z * 0 + 1]
""",
    "two_layer_forward": """
relu = lambda t: np.maximum(t, 0)
two_layer_forward = lambda x, params: [
    relu(x @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"],
    {"x": x, "t": x @ params["W1"] + params["b1"], "W2": params["W2"]},
]
""",
    "two_layer_backward": """
from functools import partial


def _gradients(scale, dscores, cache):
    t = cache["t"]
    dt = (dscores @ cache["W2"].T) * np.where(t >= 0, 1, 0) * scale
    last = {"b2": scale * np.sum(dscores, 0), "W2": scale * relu(t).T @ dscores}
    return last | {"b1": np.sum(dt, 0), "W1": cache["x"].T @ dt}


two_layer_backward = partial(_gradients, 1)
""",
}
