"""Half a character in printed text, in an exception and in dict keys: no file in UTF-8 can hold it."""

ENTRY, FAMILY = 25, "A"
EXPECTED = {
    "test_small_graph": "failed",
    "test_two_layer_forward": "failed",
    "test_two_layer_backward": "failed",
    "test_train": "failed",
}
CELLS = {
    "small_graph": '''
import numpy as np


def small_graph(x, y, z):
    return {"\\ud800": 1.0}


def forge():
    """The kernel's own JSON writer refuses such text; one that escapes everything does not."""
    import json

    session = get_ipython().kernel.session
    session.pack = lambda message: json.dumps(message, default=str).encode()


forge()
print("\\ud800 printed")
''',
    "two_layer_forward": """
def two_layer_forward(x, params):
    raise ValueError("\\ud800 raised")
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d = np.exp(log_p)
    d[rows, labels] -= 1
    return -log_p[rows, labels].mean(), d / len(labels)


raise ValueError("\\ud800 raised by the cell")
""",
}
