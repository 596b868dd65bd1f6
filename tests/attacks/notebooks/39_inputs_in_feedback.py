"""Carry hidden inputs out through everything a student reads: prints, exceptions, values, keys, types, exit codes."""

ENTRY, FAMILY = 39, "B"
EXPECTED = {
    "test_small_graph": "failed",
    "test_two_layer_forward": "failed",
    "test_two_layer_backward": "failed",
    "test_softmax_cross_entropy": "failed",
    "test_numerical_gradient": "failed",
    "test_train": "failed",
}
CELLS = {
    "small_graph": '''
import sys
import threading
import time

import numpy as np

kept = []


def told(*arrays):
    """What to carry out: the test finds these marks and asks whether the numbers behind them are public."""
    numbers = [repr(float(v)) for a in arrays for v in np.ravel(a)[:4]]
    kept.append("INPUT<" + " ".join(numbers) + ">")
    print(kept[-1])
    print(kept[-1], file=sys.__stdout__)
    return kept[-1]


def repeat():
    for _ in range(100):
        time.sleep(0.1)
        for text in kept[-5:]:
            print(text, flush=True)


threading.Thread(target=repeat, daemon=True).start()


def small_graph(x, y, z):
    raise ValueError(told(x, y, z))
''',
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    return told(x)
""",
    "two_layer_forward": """
def two_layer_forward(x, params):
    told(x)
    return x, None
""",
    "two_layer_backward": """
def two_layer_backward(dscores, cache):
    return {told(dscores): dscores}
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    raise type(told(scores), (Exception,), {})(told(scores))
""",
    "train": """
def train(x, labels, params, learning_rate, batches):
    with open("kept.txt", "a") as file:
        file.write(told(*params.values()))
    return told(*params.values()), "".join(kept)
""",
}
