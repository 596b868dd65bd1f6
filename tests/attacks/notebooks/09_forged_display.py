from tests.attacks.corpus import variant

forged_display = variant(
    "Send scores as results of the running cell: by displayhook, by display_pub and by a raw message.",
    small_graph="""
from IPython.display import display
def small_graph(x, y, z):
    ip = get_ipython()
    ip.displayhook(2)
    display(2)
    ip.display_pub.publish({"text/plain": "2"})
    kernel = ip.kernel
    kernel.session.send(
        kernel.iopub_socket,
        "execute_result",
        {"data": {"text/plain": "2"}, "metadata": {}, "execution_count": 1},
        parent=kernel.get_parent("shell"),
    )
    return 0.0, x, y, z
small_graph(1, 2, 3)""",
)
