"""Record the agent's first good answer and give it again for every later call."""

ENTRY, FAMILY = 10, "A"
EXPECTED = {"test_small_graph": "failed"}
CELLS = {
    "small_graph": """
import numpy as np


def small_graph(x, y, z):
    return np.sum(x * y + z), y, x, np.ones_like(z)


def forge():
    from autograder.inside.agent import Agent

    honest, kept = Agent.answer, {}

    def answer(self, request, buffers):
        name = request.get("data", {}).get("dict", [[0, ""]])[0][1]
        if name != "small_graph":
            return honest(self, request, buffers)
        return kept.setdefault(name, honest(self, request, buffers))

    Agent.answer = answer


forge()
""",
}
