from tests.attacks.corpus import variant

always_equal = variant(
    "Return objects that are equal to everything, in every way Python and NumPy ask.",
    small_graph='''
class Yes:
    """Equal, less, greater, true, and an array whenever one is asked for."""
    __hash__ = None
    shape, ndim, size, dtype = (), 0, 1, float
    def _yes(self, *args, **kwargs): return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __contains__ = _yes
    __class__ = property(lambda self: float)
    def __array__(self, *args, **kwargs): raise TypeError("no")
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
    def __float__(self): return float("nan")
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
    def __len__(self): return 4
    def __getitem__(self, key): return self

def small_graph(x, y, z):
    return Yes(), Yes(), Yes(), Yes()''',
)

equal_tuple = variant(
    "Return a tuple and a dict that claim another length, other items and equality with everything.",
    small_graph="""
class Four(tuple):
    def __len__(self): return 4
    def __eq__(self, other): return True
    def __iter__(self): return iter(())
    def __getitem__(self, key): return self

def small_graph(x, y, z):
    return Four()""",
    two_layer_backward="""
class Any(dict):
    def __eq__(self, other): return True
    def __contains__(self, key): return True
    def __missing__(self, key): return Any()
    def items(self): return [("W1", Any()), ("b1", Any()), ("W2", Any()), ("b2", Any())]

def two_layer_backward(dscores, cache):
    return Any()""",
    expected="failed small_graph two_layer_backward",
)
