"""A process that ends in the middle."""

from tests.attacks.corpus import variant

killed_in_call = variant(
    "SIGKILL oneself in a call: other checks keep their results.",
    small_graph="""
import os, signal
def small_graph(x, y, z):
    os.kill(os.getpid(), signal.SIGKILL)  # the first process of a namespace is deaf to its own
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(9)""",
    expected="crash small_graph",
)

os_exit_in_cell = variant(
    "os._exit(0) in a cell: the answers before and after it count.",
    two_layer_forward="""
import os
def two_layer_forward(x, params):
    return x @ params["W1"], None
os._exit(0)""",
    expected="crash two_layer_forward",
)

segfault = variant(
    "Crash the interpreter through ctypes in a call.",
    softmax_cross_entropy="import ctypes\ndef softmax_cross_entropy(scores, labels): return ctypes.string_at(1)",
    expected="crash softmax_cross_entropy",
)
