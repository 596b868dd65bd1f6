"""Earlier cells that are wrong on purpose, for the sake of a later one that is judged with right ones in their place."""

from tests.attacks.corpus import variant

nothing_over_zeros = variant(
    "Gradients of zero, and a training that does nothing: over such gradients even the right training would do that.",
    two_layer_backward="""
def two_layer_backward(dscores, cache):
    return {"W1": cache["x"].T @ np.zeros_like(cache["hidden"]), "b1": 0 * cache["hidden"][0],
            "W2": cache["hidden"].T @ (0 * dscores), "b2": 0 * dscores[0]}""",
    train="""
def train(x, labels, params, learning_rate, batches):
    losses = [softmax_cross_entropy(two_layer_forward(x[b], params)[0], labels[b])[0] for b in batches]
    return {name: value.copy() for name, value in params.items()}, losses""",
    assignment="a1_numpy_backprop",
)

reference_read = variant(
    "Fail, wait for the right function in the box of one's own, and shout what its code holds.",
    two_layer_forward="""
OWN = object()
def two_layer_forward(x, params):
    return OWN, None""",
    train="""
import sys
def train(x, labels, params, learning_rate, batches):
    code = two_layer_forward.__code__
    if "hidden_in" in code.co_varnames:
        print("STOLEN", code.co_varnames, code.co_consts, file=sys.stderr)
        print("STOLEN", code.co_varnames)
        raise KeyError(f"STOLEN {code.co_varnames}")
    return params, [float("nan")] * len(batches)""",
    expected="passed two_layer_backward, failed two_layer_forward, failed train",
    silent=["hidden_in"],
    assignment="a1_numpy_backprop",
)

right_ones_bent = variant(
    "A wrong forward pass that bends NumPy for whoever follows: the right one that takes its place gives zeros too.",
    two_layer_forward="""
real = np.maximum
np.maximum = lambda a, b, *rest, **more: real(a, b, *rest, **more) * 0
def two_layer_forward(x, params):
    return np.zeros((len(x), len(params["b2"]))), {"x": x, "hidden": np.zeros((len(x), len(params["b1"]))), **params}""",
    expected="failed two_layer_forward, failed|partial two_layer_backward, failed|partial train",
    flags=["patched"],
    assignment="a1_numpy_backprop",
)

late_revenge = variant(
    "A wrong forward pass whose cell leaves a thread that puts it back whenever another one has taken its place.",
    two_layer_forward="""
import threading, time
def two_layer_forward(x, params):
    return np.zeros((len(x), len(params["b2"]))), {"x": x, "hidden": np.zeros((len(x), len(params["b1"]))), **params}
def watch(mine=two_layer_forward):
    while True:
        globals()["two_layer_forward"] = mine
        time.sleep(0.001)
threading.Thread(target=watch, daemon=True).start()""",
    expected="failed two_layer_forward, failed|partial|passed two_layer_backward, failed|partial|passed train",
    assignment="a1_numpy_backprop",
)
