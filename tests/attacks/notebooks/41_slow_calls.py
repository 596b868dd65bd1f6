"""Every call sleeps a little less than a call may; there are many calls."""

ENTRY, FAMILY = 41, "C"
EXPECTED = {}
DEFAULT = "time"
AT_MOST_S = 25.0
LIMITS = {"cell_s": 2.0, "notebook_s": 3.0}
EXTRA = [
    (
        "train",
        """
import time


def slowly(function):
    def slow(*args, **kwargs):
        time.sleep(3)
        return function(*args, **kwargs)

    return slow


small_graph, numerical_gradient, two_layer_forward, softmax_cross_entropy, train = map(
    slowly, (small_graph, numerical_gradient, two_layer_forward, softmax_cross_entropy, train)
)
""",
    )
]
