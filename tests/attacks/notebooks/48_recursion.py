from tests.attacks.corpus import variant

recursion = variant(
    "Exhaust the stack: in Python without a limit, in C, and in repr.",
    small_graph="""
import sys, threading
def small_graph(x, y, z):
    sys.setrecursionlimit(1 << 30)
    nested = ()
    for _ in range(1_000_000):
        nested = (nested,)
    return hash(nested), repr(nested)""",
    numerical_gradient="def numerical_gradient(f, x, h=1e-5): return numerical_gradient(f, x, h)",
    expected="crash small_graph, failed numerical_gradient",
)

self_containing = variant(
    "Return lists that contain themselves, a thousand levels, or a million things.",
    small_graph="""
def small_graph(x, y, z):
    inside = [1.0]
    inside.append(inside)
    return inside, inside, inside, inside""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    return [[0.0]] * 1_000_000, {number: number for number in range(500_000)}""",
    expected="failed small_graph softmax_cross_entropy",
)
