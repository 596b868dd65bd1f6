"""The channel to the judge: descriptors, and replies that harm who reads them."""

from tests.attacks.corpus import variant

FORGED_SEND = """
import numpy as np
def small_graph(x, y, z):
    return 0.0, x, y, z
import struct
import autograder.student_side.kernel as side
read, honest, asked = side.receive, side.pack, [""]
def receive(judge):
    message, buffers = read(judge)
    asked[0] = (message["request"].get("data") or {}).get("dict", [[0, ""]])[0][1]
    return message, buffers
def pack(message, blobs=()):
    if asked[0] != "small_graph":
        return honest(message, blobs)
...
side.receive, side.pack = receive, pack
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
        """    deep = b'{"content": {"status": "ok", "value": ' + b'{"list": [' * 300_000 + b"]}" * 300_000
    deep += b', "after": null}, "blobs": [], "number": ' + str(message["number"]).encode() + b"}"
    return struct.pack(">Q", len(deep)) + deep""",
    ),
    expected="crash small_graph",
)

wire_giant_frames = variant(
    "Hundreds of replies to nothing before the right one, each as large as is allowed.",
    small_graph=FORGED_SEND.replace(
        "...",
        """    return honest({"number": 0}, (bytes(7 << 20),)) * 150""",
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
