from tests.attacks.corpus import ROOMY, variant

comm_flood = variant(
    "Open widgets without end, and send raw messages that no budget counts.",
    with_wrong="""
kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
while True:
    kernel.session.send(kernel.iopub_socket, "comm_msg", {"comm_id": "x", "data": {"state": "y" * 1000}}, parent=parent)""",
    expected="output small_graph",
    unsafe=True,
)

display_flood = variant(
    "A hundred thousand displays, updates and cleared outputs in one cell.",
    with_wrong="""
from IPython.display import clear_output, display
pub = get_ipython().display_pub
for hook in list(pub._hooks):
    pub.unregister_hook(hook)
for number in range(100_000):
    display(number)
    clear_output()""",
    expected="output small_graph",
    unsafe=True,
)

giant_keys = variant(
    "Answer with a dict whose keys are long texts: the page that quotes them would be megabytes long.",
    two_layer_backward="""
def two_layer_backward(dscores, cache):
    return {"<script>" + str(number) + "x" * 3_000_000: 1.0 for number in range(2)}""",
    expected="failed two_layer_backward",
)

giant_repr = variant(
    "Values and exceptions whose text is a ten megabytes, and one whose text never ends.",
    small_graph="""
class Giant(Exception):
    def __str__(self): return "x" * 10_000_000
    __repr__ = __str__

def small_graph(x, y, z):
    raise Giant
Giant()""",
    numerical_gradient='def numerical_gradient(f, x, h=1e-5):\n    return "x" * 10_000_000\nraise Giant',
    two_layer_forward="""
class Raising(Exception):
    def __str__(self): raise self
    __repr__ = __str__

def two_layer_forward(x, params):
    raise type("N" * 1_000_000, (Raising,), {})""",
    expected="failed small_graph two_layer_forward, output|time numerical_gradient",
    unsafe=True,
)

many_outputs = variant(
    "Hundreds of added cells, each of which prints as much as one may.",
    after_test_train=["print('y' * 400_000)"] * 300,
    expected="passed",
    limits=ROOMY,
)

stdout_flood = variant(
    "Print gigabytes, without one line end. What is cut at the source counts as having run; here it never ends.",
    with_wrong='line = "x" * 1_000_000\nwhile True:\n    print(line, end="")',
    expected="time small_graph",
    at_most_s=60.0,
    unsafe=True,
)

undone_budget = variant(
    "Undo the budget on output inside the process, then print fifty megabytes.",
    with_wrong="""
import autograder.student_side.kernel as inside
inside.BUDGET.take = lambda size: size
for _ in range(50):
    print("x" * 1_000_000, flush=True)""",
    expected="output small_graph",
    unsafe=True,
)
