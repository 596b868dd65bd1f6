"""A reply whose dict keys all have one hash: rebuilding it takes the judge time that grows with the square."""

ENTRY, FAMILY = 25, "A"
EXPECTED = {"test_small_graph": "failed"}
AT_MOST_S = 30.0
CELLS = {
    "small_graph": '''
import numpy as np


def small_graph(x, y, z):
    return 0.0, x, y, z


def forge():
    """hash(k * (2**61 - 1)) is 0 for every k; the tree is written by hand, so this process never builds the dict."""
    from autograder.inside.agent import Agent

    honest, prime = Agent.answer, 2**61 - 1
    pairs = [[{"int": hex(k * prime)}, None] for k in range(1, 90_000)]

    def answer(self, request, buffers):
        if request.get("data", {}).get("dict", [[0, ""]])[0][1] != "small_graph":
            return honest(self, request, buffers)
        return {"status": "ok", "value": {"dict": pairs}, "after": {"dict": []}, "printed": "", "seconds": 0.0}, []

    Agent.answer = answer


forge()
''',
}
