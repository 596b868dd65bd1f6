"""Values and exceptions whose text is a ten megabytes, and one whose text never ends."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {
    "test_small_graph": "failed",
    "test_numerical_gradient": "output|time",
    "test_two_layer_forward": "failed",
    "test_two_layer_backward": "failed",
    "test_train": "failed",
}
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
class Giant(Exception):
    def __str__(self):
        return "x" * 10_000_000

    __repr__ = __str__


def small_graph(x, y, z):
    raise Giant


Giant()
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    return "x" * 10_000_000


raise Giant
""",
    "two_layer_forward": """
class Raising(Exception):
    def __str__(self):
        raise self

    __repr__ = __str__


def two_layer_forward(x, params):
    raise type("N" * 1_000_000, (Raising,), {})
""",
}
