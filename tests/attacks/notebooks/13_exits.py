from tests.attacks.corpus import variant

exit_in_call = variant(
    "Leave by SystemExit: in a cell and in the middle of a call.",
    small_graph="import sys\ndef small_graph(x, y, z): sys.exit(0)",
    numerical_gradient="""
def numerical_gradient(f, x, h=1e-5):
    raise KeyboardInterrupt if h is None else SystemExit(0)
sys.exit(0)""",
    after_test_two_layer_backward="raise SystemExit",
)

quit = variant(
    "quit() and exit in added cells: they end the session of a notebook, and here no more than their own cell.",
    after_test_two_layer_forward=["quit()", "exit"],
    after_test_train="quit",
    expected="passed",
)
