"""Debugging prints everywhere, on both streams, and an extra cell that shows things."""

EXPECTED = {}
CELLS = {
    "small_graph": """
import sys


def small_graph(x, y, z):
    print("x", x.shape)
    c = (x * y).sum() + z.sum()
    print("c =", c, file=sys.stderr)
    return c, y * 1.0, x * 1.0, np.ones(np.shape(z))
""",
    "train": r"""
def train(x, labels, params, learning_rate, batches):
    new = {k: np.array(v) for k, v in params.items()}
    losses = []
    for step, b in enumerate(batches):
        s, cache = two_layer_forward(x[b], new)
        loss, ds = softmax_cross_entropy(s, labels[b])
        losses += [float(loss)]
        if step % 10 == 0:
            print(f"step {step}: {loss:.3f}")
        grads = two_layer_backward(ds, cache)
        for k in new:
            new[k] -= learning_rate * grads[k]
    sys.stderr.write("done\n")
    return new, losses
""",
}
EXTRA = [
    (
        "small_graph",
        """
small_graph(np.ones(2), np.ones(2), np.ones(2))
""",
    ),
    (
        "train",
        """
print("all written")
""",
    ),
]
