"""Forged replies to what the judge asks."""

from tests.attacks.corpus import variant

forged_after = variant(
    "Tell the judge what it wants to hear about everything but the values: status, arguments, times, printed text.",
    with_wrong="""
from autograder.protocol import wire
from autograder.student_side.agent import Agent
honest = Agent.answer
def answer(self, request, buffers):
    content, out = honest(self, request, buffers)
    verdict = {"verdict": "passed", "passed": True, "score": 2, "points": 2, "grade": 2, "failure": None}
    return {**content, **verdict, "seconds": float("nan"), "printed": "passed " * 20000}, out
Agent.answer = answer
wire.BadReply = Exception""",
)

# The forged success of the cell is believed and buys nothing: its function was never defined.
forged_reply = variant(
    "Answer the running request as a success before the code has failed, and any later one in advance.",
    small_graph="""
kernel = get_ipython().kernel
parent = kernel.get_parent("shell")
content = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
stem, _, count = parent["header"]["msg_id"].rpartition("_")
stream = getattr(kernel, "shell_stream", None)
ident = kernel.get_parent_ident("shell") if hasattr(kernel, "get_parent_ident") else kernel._parent_ident["shell"]
for number in range(int(count), int(count) + 200):
    header = {**parent["header"], "msg_id": f"{stem}_{number}"}
    kernel.session.send(stream, "execute_reply", content, parent={"header": header}, ident=ident)
import contextlib, os, socket
from autograder.protocol.frames import CALLS, pack
reply = {"status": "ok", "value": 1.0, "after": None, "printed": "", "seconds": 0.0}
for descriptor in range(3, 200):
    with contextlib.suppress(OSError):
        judge = socket.socket(fileno=os.dup(descriptor))
        if judge.getsockname().endswith(CALLS):
            judge.sendall(b"".join(pack({"number": n, "content": reply}) for n in range(200)))
raise RuntimeError("after the forgery")""",
)

replayed_replies = variant(
    "Record the agent's first good answer and give it again for every later call.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    return np.sum(x * y + z), y, x, np.ones_like(z)

from autograder.student_side.agent import Agent
honest, kept = Agent.answer, {}
def answer(self, request, buffers):
    name = request.get("data", {}).get("dict", [[0, ""]])[0][1]
    if name != "small_graph":
        return honest(self, request, buffers)
    return kept.setdefault(name, honest(self, request, buffers))
Agent.answer = answer""",
)
