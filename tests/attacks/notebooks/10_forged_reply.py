"""Answer the running request as a success before the code has failed, and any later one in advance."""

ENTRY, FAMILY = 10, "A"
# The forged success of the cell is believed and buys nothing: its function was never defined.
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
content = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
stem, _, count = parent["header"]["msg_id"].rpartition("_")
stream = getattr(kernel, "shell_stream", None)
ident = kernel.get_parent_ident("shell") if hasattr(kernel, "get_parent_ident") else kernel._parent_ident["shell"]
for number in range(int(count), int(count) + 200):
    header = {**parent["header"], "msg_id": f"{stem}_{number}"}
    for kind, body in (
        ("execute_reply", content),
        ("autograder_reply", {"status": "ok", "value": 1.0, "after": None, "printed": "", "seconds": 0.0}),
    ):
        kernel.session.send(stream, kind, body, parent={"header": header}, ident=ident)
raise RuntimeError("after the forgery")
""",
}
