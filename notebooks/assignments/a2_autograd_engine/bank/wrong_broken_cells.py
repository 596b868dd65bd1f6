"""Two cells do not parse, and a name is misspelt in a third."""

EXPECTED = {"test_functions": "failed", "test_shapes": "failed", "test_modes": "failed"}
CELLS = {
    "functions": """
def exp(a)
    return Tensor.from_op(np.exp(a.data), (a,), lambda g: (g * np.exp(a.data),))
""",
    "shapes": """
def summation(a, axis=None, keepdims=False):
    return Tensor.from_op(a.data.sum(axis, keepdims=keepdims), (a,), lambda g: (g * np.ones(a.shape),)
""",
    "modes": """
class no_grad:
    def __enter__(self):
        Tensor.recording = false

    def __exit__(self, *error):
        Tensor.recording = True


def detach(a):
    return Tensor(a.dat)


def add_(a, value):
    a += valu
""",
}
