"""Leave by SystemExit: in a cell and in the middle of a call."""

ENTRY, FAMILY = 13, "A"
EXPECTED = {"test_small_graph": "failed", "test_numerical_gradient": "failed"}
CELLS = {
    "small_graph": """
import sys


def small_graph(x, y, z):
    sys.exit(0)
""",
    "numerical_gradient": """
def numerical_gradient(f, x, h=1e-5):
    raise KeyboardInterrupt if h is None else SystemExit(0)


sys.exit(0)
""",
}
EXTRA = [("test_two_layer_backward", "raise SystemExit")]
