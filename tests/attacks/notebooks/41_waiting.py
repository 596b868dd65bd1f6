from tests.attacks.corpus import variant

endless_loop = variant(
    "Loop for ever in a cell and in a call.",
    with_wrong="while True:\n    pass",
    numerical_gradient="def numerical_gradient(f, x, h=1e-5):\n    while True: pass",
    expected="time small_graph numerical_gradient",
)

# What answers at once still counts; the sleeping ends when the notebook's time is over.
many_sleeps = variant(
    "Many cells that each sleep a little less than a cell may: no single one is too slow.",
    first=["import time\n\ntime.sleep(5)"] * 8,
    expected="passed",
    limits={"cell_s": 2.0, "notebook_s": 3.0},
    at_most_s=25.0,
)

slow_calls = variant(
    "Every call sleeps a little less than a call may; there are many calls.",
    after_train="""
import time
def slowly(function):
    def slow(*args, **kwargs):
        time.sleep(3)
        return function(*args, **kwargs)
    return slow
small_graph, numerical_gradient, two_layer_forward, softmax_cross_entropy, train = map(
    slowly, (small_graph, numerical_gradient, two_layer_forward, softmax_cross_entropy, train)
)""",
    expected="time",
    limits={"cell_s": 2.0, "notebook_s": 3.0},
    at_most_s=25.0,
)

waiting = variant(
    "Wait for input, for a lock and for sleep: no computing time, only the clock.",
    small_graph="""
import threading
def small_graph(x, y, z):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()""",
    numerical_gradient='def numerical_gradient(f, x, h=1e-5): return float(input("gradient? "))',
    expected="time small_graph, failed numerical_gradient",
)
