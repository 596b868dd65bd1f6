"""Crash the interpreter through ctypes in a call."""

ENTRY, FAMILY = 14, "C"
EXPECTED = {"test_softmax_cross_entropy": "crash", "test_train": "crash"}
CELLS = {
    "softmax_cross_entropy": """
import ctypes


def softmax_cross_entropy(scores, labels):
    return ctypes.string_at(1)
""",
}
