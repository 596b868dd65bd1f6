"""A reply nested 300,000 levels deep, written as raw JSON below the encoder."""

ENTRY, FAMILY = 25, "A"
# No reader takes it: to the judge this process gave no answer.
EXPECTED = {"test_small_graph": "crash"}
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
        if kind != "autograder_reply" or asked[0][1] != "small_graph":
            return honest(stream, kind, content, parent, ident=ident, buffers=buffers, **more)
        header = session.msg(kind, {}, parent=parent)["header"]
        deep = b'{"status": "ok", "value": ' + b'{"list": [' * 300_000 + b"]}" * 300_000 + b', "after": null}'
        parts = [session.pack(header), session.pack(parent["header"]), b"{}", deep]
        idents = [ident] if isinstance(ident, bytes) else list(ident or [])
        stream.send_multipart([*idents, b"<IDS|MSG>", session.sign(parts), *parts])

    session.send = send


forge()
""",
}
