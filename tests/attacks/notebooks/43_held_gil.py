"""Hang in C while holding the interpreter's lock: a hopeless regular expression and a huge power."""

ENTRY, FAMILY = 43, "C"
EXPECTED = {"test_small_graph": "time", "test_softmax_cross_entropy": "time", "test_train": "time"}
CELLS = {
    "small_graph": """
import re


def small_graph(x, y, z):
    return re.match(r"(a+)+$", "a" * 60 + "b")
""",
    "softmax_cross_entropy": """
def softmax_cross_entropy(scores, labels):
    return 7 ** (7 ** 10) % 2, scores
""",
}
