"""Open widgets without end, and send raw messages that no budget counts."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {"test_small_graph": "output"}
UNSAFE_FOR_NBGRADER = True
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return 0.0


kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
while True:
    kernel.session.send(kernel.iopub_socket, "comm_msg", {"comm_id": "x", "data": {"state": "y" * 1000}}, parent=parent)
""",
}
