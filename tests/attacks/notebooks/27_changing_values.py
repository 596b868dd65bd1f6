from tests.attacks.corpus import variant

changing_values = variant(
    "Return things whose value changes: the input itself, views altered later, generators, lazy properties.",
    small_graph="""
import itertools, threading, time
import numpy as np
class Lazy(np.ndarray):
    turn = itertools.count()
    def __array__(self, dtype=None, copy=None): return np.full(self.shape, float(next(Lazy.turn)))
    @property
    def shape(self): return (next(Lazy.turn),)

def small_graph(x, y, z):
    later = np.zeros_like(x)
    def fill():
        for _ in range(200):
            later[...] = y
            later[...] = x
            time.sleep(0.001)
    threading.Thread(target=fill, daemon=True).start()
    return 0.0, later, x.view(Lazy), z""",
    softmax_cross_entropy="def softmax_cross_entropy(scores, labels): return (value for value in (0.0, scores))",
    expected="failed small_graph softmax_cross_entropy",
)
