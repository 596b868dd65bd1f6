"""A forged reply that names one buffer many times: a small message grows to gigabytes in the judge."""

ENTRY, FAMILY = 25, "A"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": '''
import numpy as np


def small_graph(x, y, z):
    return 0.0, x, y, z


def forge():
    """Each array of the reply is the same four MiB; the judge would copy them for each."""
    from autograder.inside.agent import Agent

    honest = Agent.answer

    def answer(self, request, buffers):
        if request.get("data", {}).get("dict", [[0, ""]])[0][1] != "small_graph":
            return honest(self, request, buffers)
        blob = bytes(4 << 20)
        node = {"array": {"dtype": "uint8", "shape": [len(blob)], "data": 0}}
        return {"status": "ok", "value": {"list": [node] * 150}, "after": {"dict": []}, "printed": "", "seconds": 0.0}, [blob]

    Agent.answer = answer


forge()
''',
}
