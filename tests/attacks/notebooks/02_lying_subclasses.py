from tests.attacks.corpus import variant

lying_subclasses = variant(
    "Return subclasses of float, int and ndarray that compare equal and convert to nothing in particular.",
    small_graph="""
import numpy as np
def equal(self, other):
    return True

class Number(float):
    __eq__ = __le__ = __ge__ = equal
    __hash__ = float.__hash__
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__

class Array(np.ndarray):
    __eq__ = equal
    def __array_finalize__(self, other): pass
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return True if ufunc in (np.equal, np.isfinite, np.less_equal) else np.zeros(self.shape)
    def __array_function__(self, function, types, args, kwargs): return True
    def __sub__(self, other): return np.zeros(self.shape)

def small_graph(x, y, z):
    return Number(0), *(np.full(x.shape, 7.0).view(Array) for _ in range(3))""",
    softmax_cross_entropy="""
class Whole(int):
    def __eq__(self, other): return True
    def __float__(self): return 0.5
    def __index__(self): return 1
    __hash__ = int.__hash__

def softmax_cross_entropy(scores, labels):
    return Whole(1), np.zeros(scores.shape).view(Array)""",
    expected="failed small_graph softmax_cross_entropy",
)
