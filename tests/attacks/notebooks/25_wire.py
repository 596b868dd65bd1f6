"""The channel to the judge: descriptors, and replies that harm who reads them."""

from tests.attacks.corpus import variant

FORGED_SEND = """
import numpy as np
def small_graph(x, y, z):
    return 0.0, x, y, z
kernel = get_ipython().kernel
session, honest = kernel.session, kernel.session.send
def send(stream, kind, content=None, parent=None, ident=None, buffers=None, **more):
    asked = ((parent or {}).get("content", {}).get("data") or {}).get("dict", [[0, ""]])
...
session.send = send
"""

# What the descriptors lead to is this kernel's own: it may end by it.
descriptors = variant(
    "Write forged results into every open descriptor, now and later from a thread.",
    with_wrong="""
import contextlib, json, os, threading, time
LINES = b"".join(json.dumps(line).encode() + b"\\n" for line in ({"ready": True}, {"exited": {"code": 0}}, {"score": 20, "report": {}}))
def write():
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            link = os.readlink(f"/proc/self/fd/{name}")
            if link.startswith(("pipe:", "/tmp", "/var")) or link == "/dev/null":
                os.write(int(name), LINES)
            if link.startswith(("/tmp/agz", "/var/tmp/agz")) or "journal" in link:
                print("STOLEN descriptor", link)
write()
threading.Thread(target=lambda: [(time.sleep(0.1), write()) for _ in range(20)], daemon=True).start()""",
)

wire_colliding_keys = variant(
    "A reply whose dict keys all have one hash: rebuilding it takes the judge time that grows with the square.",
    with_wrong="""
# hash(k * (2**61 - 1)) is 0 for every k; the tree is written by hand, so this process never builds the dict.
from autograder.student_side.agent import Agent
honest, prime = Agent.answer, 2**61 - 1
pairs = [[{"int": hex(k * prime)}, None] for k in range(1, 90_000)]
def answer(self, request, buffers):
    if request.get("data", {}).get("dict", [[0, ""]])[0][1] != "small_graph":
        return honest(self, request, buffers)
    return {"status": "ok", "value": {"dict": pairs}, "after": {"dict": []}, "printed": "", "seconds": 0.0}, []
Agent.answer = answer""",
    at_most_s=30.0,
)

# No reader takes it: to the judge this process gave no answer.
wire_deep_reply = variant(
    "A reply nested 300,000 levels deep, written as raw JSON below the encoder.",
    small_graph=FORGED_SEND.replace(
        "...",
        """    if kind != "autograder_reply" or asked[0][1] != "small_graph":
        return honest(stream, kind, content, parent, ident=ident, buffers=buffers, **more)
    header = session.msg(kind, {}, parent=parent)["header"]
    deep = b'{"status": "ok", "value": ' + b'{"list": [' * 300_000 + b"]}" * 300_000 + b', "after": null}'
    parts = [session.pack(header), session.pack(parent["header"]), b"{}", deep]
    idents = [ident] if isinstance(ident, bytes) else list(ident or [])
    stream.send_multipart([*idents, b"<IDS|MSG>", session.sign(parts), *parts])""",
    ),
    expected="crash small_graph",
)

wire_giant_frames = variant(
    "A reply of hundreds of frames, each as large as is allowed: zmq gathers them all before the judge can say no.",
    small_graph=FORGED_SEND.replace(
        "...",
        """    if kind == "autograder_reply" and asked[0][1] == "small_graph":
        buffers = [bytes(7 << 20)] * 300
    return honest(stream, kind, content, parent, ident=ident, buffers=buffers, **more)""",
    ),
    expected="memory|output small_graph",
)

wire_lone_surrogates = variant(
    "Half a character in printed text, in an exception and in dict keys: no file in UTF-8 can hold it.",
    small_graph="""
import json
import numpy as np
def small_graph(x, y, z):
    return {"\\ud800": 1.0}
# The kernel's own JSON writer refuses such text; one that escapes everything does not.
get_ipython().kernel.session.pack = lambda message: json.dumps(message, default=str).encode()
print("\\ud800 printed")""",
    two_layer_forward="""
def two_layer_forward(x, params):
    raise ValueError("\\ud800 raised")""",
    softmax_cross_entropy="""
def softmax_cross_entropy(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(labels))
    d = np.exp(log_p)
    d[rows, labels] -= 1
    return -log_p[rows, labels].mean(), d / len(labels)
raise ValueError("\\ud800 raised by the cell")""",
    expected="failed small_graph two_layer_forward",
)

wire_shared_buffer = variant(
    "A forged reply that names one buffer many times: a small message grows to gigabytes in the judge.",
    with_wrong="""
# Each array of the reply is the same four MiB; the judge would copy them for each.
from autograder.student_side.agent import Agent
honest = Agent.answer
def answer(self, request, buffers):
    if request.get("data", {}).get("dict", [[0, ""]])[0][1] != "small_graph":
        return honest(self, request, buffers)
    blob = bytes(4 << 20)
    node = {"array": {"dtype": "uint8", "shape": [len(blob)], "data": 0}}
    return {"status": "ok", "value": {"list": [node] * 150}, "after": {"dict": []}, "printed": "", "seconds": 0.0}, [blob]
Agent.answer = answer""",
)

wire_too_large = variant(
    "An honest reply that is larger than one answer may be.",
    small_graph="import numpy as np\ndef small_graph(x, y, z): return np.zeros(3_000_000), y, x, np.ones_like(z)",
)
