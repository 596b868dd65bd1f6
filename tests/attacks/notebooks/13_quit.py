"""quit() and exit in added cells: they end the session of a notebook, and here no more than their own cell."""

ENTRY, FAMILY = 13, "A"
EXPECTED = {}
NBGRADER = "the kernel dies, not graded"
EXTRA = [("test_two_layer_forward", "quit()"), ("test_two_layer_forward", "exit"), ("test_train", "quit")]
