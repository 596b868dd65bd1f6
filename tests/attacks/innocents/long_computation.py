"""A long and legal computation: several seconds in a cell, and a gradient by loops over loops."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    hidden = [[0.0] * len(params["b1"]) for _ in x]
    for i in range(len(x)):
        for j in range(len(params["b1"])):
            total = params["b1"][j]
            for k in range(x.shape[1]):
                total = total + x[i, k] * params["W1"][k, j]
            hidden[i][j] = total if total > 0 else 0.0
    hidden = np.array(hidden)
    return hidden @ params["W2"] + params["b2"], {"x": x, "hidden": hidden, "W2": params["W2"]}
""",
}
EXTRA = [
    (
        "test_train",
        """
import time

total, until = 0, time.process_time() + 4
while time.process_time() < until:
    total += sum(range(1000))
time.sleep(2)
""",
    )
]
